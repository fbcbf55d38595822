"""Conflicts of submissions: two under one name must have the same panel and cases."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from jury_events.case import Case
from jury_judge.errors import OtherCase, RunRefused

Kind = Literal["evaluation", "run"]


@dataclass(frozen=True, eq=False)
class SubmissionClaim:
    """The name and the content of one submission.

    `cases` maps debate ids to digests of their cases; `size` is the bytes of all cases.
    """

    kind: Kind
    name: str
    panel: str
    cases: Mapping[str, bytes]
    size: int

    def check(self, running: Iterable["SubmissionClaim"]) -> None:
        """Compare it with running submissions, whose debates may not be in the store yet.

        Raises:
            RunRefused: one has the same name, or a debate of this one, and another panel or case.
        """
        for other in running:
            if any(digest != self.cases[debate] for debate, digest in other.cases.items() if debate in self.cases):
                raise self._refused(OtherCase, "with another case")
            if other.panel != self.panel and (
                self._is_named_as(other) or not self.cases.keys().isdisjoint(other.cases)
            ):
                raise self._refused(RunRefused, "with another panel")
            if self._is_named_as(other) and self.cases.keys() != other.cases.keys():
                raise self._refused(OtherCase, "with other cases")

    def _is_named_as(self, other: "SubmissionClaim") -> bool:
        return (self.kind, self.name) == (other.kind, other.name)

    def _refused(self, error: type[RunRefused], how: str) -> RunRefused:
        return error(
            f"{self.kind} {self.name} is running or kept here {how}; "
            "use another run or id, or wait until it has finished"
        )


def submission_claim(kind: Kind, name: str, panel: str, cases: Mapping[str, Case]) -> SubmissionClaim:
    """The claim of a request for `cases`, by their debates' ids."""
    parts = {debate: case.to_part() for debate, case in cases.items()}
    digests = {debate: sha256(part).digest() for debate, part in parts.items()}
    return SubmissionClaim(kind, name, panel, digests, sum(map(len, parts.values())))

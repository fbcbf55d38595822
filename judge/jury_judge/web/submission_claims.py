"""What is under way, case by case: two requests under one name either ask for the same, or the later one is refused."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from jury_events.case import Case
from jury_judge.errors import RunRefused

Kind = Literal["evaluation", "run"]


@dataclass(frozen=True, eq=False)
class SubmissionClaim:
    """What one request asks for.

    `cases` has the digest of each case by its debate's id, `size` is the bytes of all.
    """

    kind: Kind
    name: str
    panel: str
    cases: Mapping[str, bytes]
    size: int

    def check(self, under_way: Iterable["SubmissionClaim"]) -> None:
        """Compare it with those that are under way; the store knows only of what was opened.

        Raises:
            RunRefused: one has the same name, or a debate of it, and asks for something else.
        """
        for other in under_way:
            if any(digest != self.cases[debate] for debate, digest in other.cases.items() if debate in self.cases):
                self._refuse("over another case")
            if other.panel != self.panel and (
                self._is_named_as(other) or not self.cases.keys().isdisjoint(other.cases)
            ):
                self._refuse("under another panel")
            if self._is_named_as(other) and self.cases.keys() != other.cases.keys():
                self._refuse("with other cases")

    def _is_named_as(self, other: "SubmissionClaim") -> bool:
        return (self.kind, self.name) == (other.kind, other.name)

    def _refuse(self, how: str) -> None:
        raise RunRefused(
            f"{self.kind} {self.name} is under way here {how}; use another run or id, or send it when that one is over"
        )


def claim(kind: Kind, name: str, panel: str, cases: Mapping[str, Case]) -> SubmissionClaim:
    """The claim of a request for `cases`, by their debates' ids."""
    parts = {debate: case.to_part() for debate, case in cases.items()}
    digests = {debate: sha256(part).digest() for debate, part in parts.items()}
    return SubmissionClaim(kind, name, panel, digests, sum(map(len, parts.values())))

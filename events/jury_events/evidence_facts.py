"""What the evaluations of a debate quote, in numbers: the facts that lists show and choose by."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Self, get_args

from jury_events.evaluation import Evaluation
from jury_events.evidence import Evidence, EvidenceResult, Says
from jury_events.verdict import FAIL

RESULTS: tuple[EvidenceResult, ...] = get_args(EvidenceResult)
Decisive = Literal["agree", "disagree", "none"]

EVIDENCE_VALUES: Mapping[str, tuple[str, ...]] = {
    "evidence": (*RESULTS, "none"),
    "decisive": get_args(Decisive),
    "unsupported": ("yes", "no"),
}
"""The values of the fields that describe the evidence of a debate, by field; see `EvidenceFacts.values`."""

_SEVERAL = 2
"""Seats that must name a decisive item before they agree or disagree."""
_SAYS = frozenset(get_args(Says))


class QuotationCheck(NamedTuple):
    """One quotation and what its check found, without its text; the fields of `Evidence`."""

    item: int
    says: Says
    seat: str | None
    result: EvidenceResult


class EvaluationFacts(NamedTuple):
    """The quotations of one evaluation that was asked for evidence, and what it says went wrong, as `Evaluation`."""

    quotations: tuple[QuotationCheck, ...]
    decisive_item: int | None
    unsupported: bool

    @classmethod
    def of(cls, evaluation: Evaluation) -> Self | None:
        """Those of an evaluation; None where it was not asked for evidence."""
        if evaluation.evidence is None:
            return None
        checks = tuple(QuotationCheck(one.item, one.says, one.seat, one.result) for one in evaluation.evidence)
        return cls(checks, evaluation.decisive_item, evaluation.unsupported)

    @classmethod
    def read(cls, evaluation: Mapping[str, Any]) -> Self | None:
        """The same of an evaluation in the decoded body of an event, of which nothing else is read.

        Raises:
            ValueError, KeyError, TypeError: the body is not that of an evaluation.
        """
        entries = evaluation.get("evidence")
        if entries is None:
            return None
        checks: list[QuotationCheck] = []
        for entry in entries:
            number, says, seat, result = entry["item"], entry["says"], entry.get("seat"), entry["result"]
            if says not in _SAYS or result not in RESULTS or not (seat is None or isinstance(seat, str)):
                raise ValueError("not an entry of evidence")
            checks.append(QuotationCheck(number, says, seat, result))
        item = evaluation.get("decisive_item")
        for number in [one.item for one in checks] if item is None else [item, *[one.item for one in checks]]:
            if type(number) is not int or number < 0:  # a bool is no number here
                raise ValueError("not the number of an item")
        fails = evaluation["verdict"] == FAIL and evaluation.get("synthetic") is not True
        found = fails and any(one.result in Evidence.SUPPORTING for one in checks)
        return cls(tuple(checks), item, fails and not found)


class SeatEvidence(NamedTuple):
    """What the latest evaluation of a seat says; `unsupported` as `Evaluation`."""

    juror_id: str
    decisive_item: int | None
    unsupported: bool


class EvidenceFacts(NamedTuple):
    """The quotations of all evaluations of a debate by result, the final judge's too, and its seats.

    `seats`: those that were asked for evidence, in the order of their first evaluations.
    """

    verified: int = 0
    normalised: int = 0
    elsewhere: int = 0
    not_found: int = 0
    seats: tuple[SeatEvidence, ...] = ()

    @property
    def decisive(self) -> Decisive:
        """Whether the seats that name a decisive item name the same one; `none`: fewer than two name one."""
        named = [one.decisive_item for one in self.seats if one.decisive_item is not None]
        if len(named) < _SEVERAL:
            return "none"
        return "agree" if len(set(named)) == 1 else "disagree"

    @property
    def unsupported(self) -> int:
        """Seats whose latest evaluation fails the agent without a quotation that stands where the juror says."""
        return sum([one.unsupported for one in self.seats])

    @property
    def values(self) -> Mapping[str, tuple[str, ...]]:
        """The values by field of `EVIDENCE_VALUES`.

        `evidence`: the results that some quotation has, or `none` without a quotation. `decisive`: as `decisive`.
        `unsupported`: whether a seat is.
        """
        found = tuple([name for name in RESULTS if getattr(self, name)])
        return {
            "evidence": found or ("none",),
            "decisive": (self.decisive,),
            "unsupported": ("yes" if self.unsupported else "no",),
        }


def evidence_after(
    facts: EvidenceFacts | None, juror_id: str | None, evaluation: EvaluationFacts | None
) -> EvidenceFacts | None:
    """The facts of a debate after one more evaluation; None while none was asked for evidence.

    Args:
        facts: before it.
        juror_id: the seat; None for the final judge.
        evaluation: None where it was not asked for evidence, as what replaces a blocked answer.
    """
    if evaluation is None:
        if facts is None:
            return None
        # The verdict that was not supported no longer stands; the item that the seat named is still the last one.
        seats = (one._replace(unsupported=False) if one.juror_id == juror_id else one for one in facts.seats)
        return facts._replace(seats=tuple(seats))
    found = facts or EvidenceFacts()
    results = [one.result for one in evaluation.quotations]
    counts = {name: getattr(found, name) + results.count(name) for name in RESULTS}
    seats_by_id = {one.juror_id: one for one in found.seats}
    if juror_id is not None:
        seats_by_id[juror_id] = SeatEvidence(juror_id, evaluation.decisive_item, evaluation.unsupported)
    return EvidenceFacts(**counts, seats=tuple(seats_by_id.values()))

"""What the evaluations of a run quote: by seat, its items cited most, and their words."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, get_args

from jury_events.debate_history import DebateHistory
from jury_events.errors import EventError
from jury_events.evaluation import RESULTS, Decisive, EvaluationFacts, EvidenceFacts
from jury_events.evidence import Evidence
from jury_events.verdict import FAIL
from jury_views.debate_fold import EVALUATING, AnsweredBy, answered_in_stream

MOST_ITEMS = 10
"""Items that are named."""

_JUDGE = ""
"""In place of the id of a seat."""


class SeatQuotations(NamedTuple):
    """The quotations of one seat, or of all; `unsupported` of the `failing` evaluations have none that stands."""

    evaluations: int
    verified: int
    normalised: int
    elsewhere: int
    not_found: int
    failing: int
    unsupported: int

    @property
    def quotations(self) -> int:
        return self.verified + self.normalised + self.elsewhere + self.not_found


class CitedItem(NamedTuple):
    """An item of a case, over the debates of the case: `quotations` that stand in it, by what they say.

    `decisive`: seats that call it decisive in the end. `debate_id` is the newest of these debates.
    """

    case_id: str
    debate_id: str
    item: int
    quotations: int
    speaks_for: int
    speaks_against: int
    decisive: int


class RunQuotations(NamedTuple):
    """Of the debates that were asked for evidence.

    Attributes:
        debates: how many.
        seats: by the id of the seat, in the order of the first evaluations.
        judge: of the final judges; None without any that was asked.
        all: of all seats and final judges.
        decisive: debates by whether their seats name the same decisive item.
        items: those cited most, `MOST_ITEMS` at most.
    """

    debates: int
    seats: Mapping[str, SeatQuotations]
    judge: SeatQuotations | None
    all: SeatQuotations
    decisive: Mapping[Decisive, int]
    items: tuple[CitedItem, ...]


class ListedEvidence(Protocol):
    """What is read of a debate's row in the list."""

    @property
    def debate_id(self) -> str: ...
    @property
    def case_id(self) -> str: ...
    @property
    def evidence(self) -> EvidenceFacts | None: ...


class QuotationCount:
    """Counts the quotations of histories that are read for something else."""

    def __init__(self) -> None:
        self._by_seat: dict[str, Counter[str]] = {}
        self._cited: dict[str, Counter[tuple[int, str]]] = {}

    def noted(self, histories: Iterable[DebateHistory]) -> Iterator[DebateHistory]:
        """The same histories, counted; of one that cannot be decoded nothing is, which `jury verify` reports."""
        for history in histories:
            # Most debates of old runs were not asked for evidence: their bodies are not decoded again.
            asked = [one for one in history.stored_events if one.type in EVALUATING and b'"evidence"' in one.body]
            try:
                for one in answered_in_stream(asked):
                    if one.facts is not None:
                        self._count(history.debate_id, one, one.facts)
            except EventError:
                pass
            yield history

    def found(self, debates: Sequence[ListedEvidence]) -> RunQuotations | None:
        """What was counted; None where no debate was asked for evidence."""
        asked = [(one, one.evidence) for one in debates if one.evidence is not None]
        if not asked:
            return None
        counts = {seat: _seat(count) for seat, count in self._by_seat.items()}
        decisive = Counter(facts.decisive for _, facts in asked)
        judge = counts.pop(_JUDGE, None)
        return RunQuotations(
            debates=len(asked),
            seats=counts,
            judge=judge,
            all=_seat(sum(self._by_seat.values(), Counter())),
            decisive={name: decisive[name] for name in get_args(Decisive)},
            items=self._items(asked),
        )

    def _count(self, debate_id: str, one: AnsweredBy, facts: EvaluationFacts) -> None:
        count = self._by_seat.setdefault(one.step.juror_id or _JUDGE, Counter())
        count["evaluations"] += 1
        count.update(check.result for check in facts.quotations)
        count["failing"] += one.verdict is FAIL
        count["unsupported"] += facts.unsupported
        cited = self._cited.setdefault(debate_id, Counter())
        # What a seat said is no text of the item that it is about.
        cited.update(
            (check.item, check.says)
            for check in facts.quotations
            if check.result in Evidence.SUPPORTING and check.seat is None
        )

    def _items(self, asked: Sequence[tuple[ListedEvidence, EvidenceFacts]]) -> tuple[CitedItem, ...]:
        """Items of one case have the same numbers in all of its debates."""
        cited: dict[tuple[str, int], Counter[str]] = {}
        newest: dict[tuple[str, int], str] = {}
        for debate, facts in asked:
            named = [("decisive", seat.decisive_item, 1) for seat in facts.seats if seat.decisive_item is not None]
            quoted = self._cited.get(debate.debate_id, Counter())
            for what, item, number in (*((says, item, number) for (item, says), number in quoted.items()), *named):
                cited.setdefault((debate.case_id, item), Counter())[what] += number
                newest.setdefault((debate.case_id, item), debate.debate_id)
        found = (
            CitedItem(
                case_id,
                newest[case_id, item],
                item,
                sum(number for what, number in counts.items() if what != "decisive"),
                counts["for"],
                counts["against"],
                counts["decisive"],
            )
            for (case_id, item), counts in cited.items()
        )
        ranked = sorted(found, key=lambda one: (-one.quotations, -one.decisive, one.case_id, one.item))
        return tuple(one for one in ranked[:MOST_ITEMS] if one.quotations)


def _seat(count: Counter[str]) -> SeatQuotations:
    return SeatQuotations(**{name: count[name] for name in SeatQuotations._fields})


def evidence_object(facts: EvidenceFacts | None) -> dict[str, Any] | None:
    """Quotations by result, `unsupported` seats, and `decisive`; None where no evaluation was asked for evidence.

    `unsupported` and `decisive` are of the seats' latest evaluations, as in `EvidenceFacts`.
    """
    if facts is None:
        return None
    counts: dict[str, Any] = {name: getattr(facts, name) for name in RESULTS}
    return {**counts, "unsupported": facts.unsupported, "decisive": facts.decisive}

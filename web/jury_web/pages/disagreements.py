"""Where a run disagrees: verdicts that are not the label, and debates whose seats voted for different verdicts."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from jury_events.conditions import parse_conditions
from jury_events.debate_events import JudgmentRendered
from jury_events.debate_history import DebateHistory
from jury_events.errors import EventError
from jury_events.evaluation import SeatPosition
from jury_events.judgment import Vote
from jury_events.verdict import FAIL, PASS, Verdict
from jury_judge import DebateFilter, DebateRow, SortOrder
from jury_judge.serving.store_reader import StoreReader
from jury_web.pages.list_query import ListQuery

SHOWN = 10
"""Debates of a list, until more are asked for."""

MOST = 200
"""Debates of the list of split votes where more are asked for."""

_OUTCOMES = {PASS: 1, FAIL: -1}


class LabelDisagreements(NamedTuple):
    """The debates whose verdict is `verdict` and whose label is another; `address` is the list of exactly these."""

    verdict: str
    number: int
    shown: tuple[DebateRow, ...]
    """The plainest first: the highest scores of a pass, the lowest of a fail."""
    address: str


class SplitVotes(NamedTuple):
    """A debate whose votes are for different verdicts or labels."""

    debate: DebateRow
    positions: tuple[tuple[SeatPosition, int], ...]
    """What is voted for, with the number of votes, most votes first."""
    lowest: float
    """Score of a vote."""
    highest: float


class SplitDebates(NamedTuple):
    """The debates with split votes: how many there are, and the first of them."""

    number: int
    shown: tuple[SplitVotes, ...]


def has_labels(reader: StoreReader, run_id: str) -> bool:
    """Whether a debate of the run has a label."""
    return bool(reader.debates(DebateFilter(run_id, where=parse_conditions(["label~"])), limit=1))


def label_disagreements(reader: StoreReader, run_id: str) -> tuple[LabelDisagreements, ...]:
    """By the jury's verdict; a verdict that is always the label is absent."""
    found = []
    for verdict in Verdict:
        conditions = parse_conditions(["label~", f"label!={verdict}"])
        order = SortOrder("score", descending=verdict != FAIL)
        query = ListQuery(verdict=str(verdict), run_id=run_id, where=conditions, order=order)
        number = reader.totals(query.wanted).debates
        if number:
            shown = reader.debates(query.wanted, order, limit=SHOWN)
            found.append(LabelDisagreements(str(verdict), number, tuple(shown), query.address()))
    return tuple(found)


class SplitVoting:
    """Finds the debates whose votes differ among histories that are read for something else."""

    def __init__(self) -> None:
        self._found: dict[str, list[Vote]] = {}

    def noted(self, histories: Iterable[DebateHistory]) -> Iterator[DebateHistory]:
        """The same histories; the votes of those that differ are kept."""
        for history in histories:
            votes = _votes(history)
            if len({(vote.position, vote.label) for vote in votes}) > 1:
                self._found[history.debate_id] = votes
            yield history

    def farthest(self, rows: Sequence[DebateRow], *, most: int) -> SplitDebates:
        """Farthest apart first: a pass beside a fail, then the smaller majority, then the scores.

        Args:
            rows: the debates of the histories.
            most: how many are shown.
        """
        ranked = sorted(
            (row for row in rows if row.debate_id in self._found),
            key=lambda row: (*_nearness(self._found[row.debate_id]), row.case_id, row.debate_id),
        )
        return SplitDebates(len(ranked), tuple(_split(row, self._found[row.debate_id]) for row in ranked[:most]))


def _votes(history: DebateHistory) -> list[Vote]:
    """The votes with a position; none of a record that cannot be decoded, which `jury verify` reports."""
    for index in range(len(history.stored_events) - 1, -1, -1):
        if history.stored_events[index].type == "judgment_rendered":
            try:
                event = history.events[index]
            except EventError:
                return []
            if isinstance(event, JudgmentRendered):
                return [vote for vote in event.judgment.votes if vote.position is not None]
    return []


def _nearness(votes: list[Vote]) -> tuple[bool, float, float]:
    positions = Counter((vote.position, vote.label) for vote in votes)
    scores = [vote.score or 0.0 for vote in votes]
    opposed = len({_OUTCOMES[one] for one, _ in positions if one in _OUTCOMES}) > 1
    return not opposed, max(positions.values()) / len(votes), min(scores) - max(scores)


def _split(row: DebateRow, votes: list[Vote]) -> SplitVotes:
    scores = [vote.score for vote in votes if vote.score is not None]
    positions = Counter(SeatPosition(vote.position, vote.label) for vote in votes if vote.position is not None)
    return SplitVotes(row, tuple(positions.most_common()), min(scores, default=0.0), max(scores, default=0.0))

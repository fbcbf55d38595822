"""What a recount reads of a debate: the evaluations that its seats held, round by round. No text, no call."""

from collections.abc import Sequence
from typing import NamedTuple

from jury_debate.state import SeatEvaluation
from jury_events.codec import SCHEMAS, DebateEvent, decode
from jury_events.debate_events import DebateOpened
from jury_events.envelope import StoredEvent
from jury_events.exchange import ExchangeRecorded
from jury_replay.errors import DebateMissing, RecordDamaged
from jury_replay.recorded import opening_of
from jury_replay.rescoring.results import Ended, ended

_ROUND: str = "round_started"
_FOLLOWS = frozenset(
    {_ROUND, "juror_abstained", "consensus_checked", "coordinator_resumed", "debate_forked", "texts_erased"}
)
"""What follows from the rest, or says nothing of a position: not decoded, which takes most of the time."""

_ENDS = frozenset({"judgment_rendered", "debate_completed", "debate_failed", "debate_cancelled"})


class Positions(NamedTuple):
    """`rounds` are phase 1, then each round: the evaluations made there, in speaker order."""

    opened: DebateOpened
    rounds: tuple[tuple[SeatEvaluation, ...], ...]
    end: Ended


def read_positions(debate_id: str, stored: Sequence[StoredEvent]) -> Positions:
    """The positions in a stream `debate/`.

    Raises:
        DebateMissing: there are none.
        RecordDamaged: the events do not make a debate.
        EventError: a body does not decode.
    """
    if not stored:
        raise DebateMissing.named(debate_id)
    opened = opening_of(debate_id, [decode(stored[0])])
    seats = opened.panel.juror_ids
    rounds: list[list[SeatEvaluation]] = [[]]
    ends: list[DebateEvent | ExchangeRecorded] = []
    for event in stored[1:]:
        if event.type in _FOLLOWS and event.schema <= SCHEMAS[event.type]:
            if event.type == _ROUND:
                rounds.append([])
            continue
        said = decode(event)
        # By type: to ask for the class costs more than to make the view.
        if said.type == "statement_made":
            view = SeatEvaluation(said.round, said.juror_id, said.statement.evaluation, said.shown)
        elif said.type == "juror_evaluated":
            view = SeatEvaluation(0, said.juror_id, said.evaluation, said.shown)
        elif said.type in _ENDS:
            ends.append(said)
            continue
        else:
            raise _unfit(debate_id, f"{event.event_id} has no place there")
        if view.round != len(rounds) - 1 or view.juror_id not in seats:
            raise _unfit(debate_id, f"{event.event_id} has no place there")
        rounds[-1].append(view)
    return Positions(opened, tuple(map(tuple, rounds)), ended(opened.panel, ends))


def _unfit(debate_id: str, what: str) -> RecordDamaged:
    return RecordDamaged(f"debate {debate_id}: {what}; see jury verify {debate_id}")

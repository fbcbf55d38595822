"""The input of a recount: the evaluations of a debate, round by round, without texts and exchanges."""

from typing import NamedTuple

from jury_debate.state import SeatEvaluation
from jury_events.codec import SCHEMAS, DebateEvent
from jury_events.debate_events import DebateOpened
from jury_events.debate_history import DebateHistory
from jury_replay.errors import RecordDamaged
from jury_replay.rescoring.results import RecordedEnd, end_of

_ROUND: str = "round_started"
_FOLLOWS = frozenset(
    {
        *(_ROUND, "juror_abstained", "consensus_checked"),
        *("debate_begun", "coordinator_resumed", "debate_forked", "texts_erased", "debate_replaced"),
    }
)
"""Events that follow from the others, or contain no position: decoding takes most of the time, so they are skipped."""

_ENDS = frozenset({"judgment_rendered", "debate_completed", "debate_failed", "debate_cancelled"})


class Positions(NamedTuple):
    """`rounds` are phase 1, then each round: the evaluations made there, in speaker order.

    `not_asked`: the seats that were not asked.
    """

    opened: DebateOpened
    rounds: tuple[tuple[SeatEvaluation, ...], ...]
    end: RecordedEnd
    not_asked: tuple[str, ...] = ()


def read_positions(history: DebateHistory) -> Positions:
    """The positions in the stream `debate/`."""
    opened = history.opened
    seats = opened.panel.juror_ids
    rounds: list[list[SeatEvaluation]] = [[]]
    ends: list[DebateEvent] = []
    not_asked: tuple[str, ...] = ()
    for index, stored in enumerate(history.stored_events[1:], 1):
        if stored.type in _FOLLOWS and stored.schema <= SCHEMAS[stored.type]:
            if stored.type == _ROUND:
                rounds.append([])
            continue
        event = history.events[index]
        # By type: to ask for the class costs more than to make the view.
        if event.type == "statement_made":
            view = SeatEvaluation(event.round, event.juror_id, event.statement.evaluation, event.peer_text)
        elif event.type == "juror_evaluated":
            view = SeatEvaluation(0, event.juror_id, event.evaluation, event.peer_text)
        elif event.type in _ENDS:
            ends.append(event)
            continue
        elif event.type == "seats_not_asked":
            not_asked = event.juror_ids
            continue
        else:
            raise _misplaced(history, stored.event_id)
        if view.round != len(rounds) - 1 or view.juror_id not in seats:
            raise _misplaced(history, stored.event_id)
        rounds[-1].append(view)
    return Positions(opened, tuple(map(tuple, rounds)), end_of(opened.panel, ends), not_asked)


def _misplaced(history: DebateHistory, event_id: str) -> RecordDamaged:
    debate_id = history.debate_id
    return RecordDamaged(f"debate {debate_id}: the event {event_id} is misplaced; see jury verify {debate_id}")

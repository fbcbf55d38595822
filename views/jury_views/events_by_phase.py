"""The events of one debate, sorted by kind."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from jury_events.codec import DebateEvent
from jury_events.consensus import ConsensusCheck
from jury_events.debate_events import (
    ConsensusChecked,
    CoordinatorResumed,
    DebateBegun,
    DebateCancelled,
    DebateCompleted,
    DebateFailed,
    DebateForked,
    DebateOpened,
    DebateReplaced,
    JudgmentRendered,
    JurorAbstained,
    JurorEvaluated,
    RoundStarted,
    SeatsNotAsked,
    StatementMade,
    TextsErased,
)
from jury_events.ids import Step
from jury_events.panel import Panel
from jury_events.parts import PartRef
from jury_views.errors import OpeningMissing

Texts = Mapping[str, bytes]
"""The 43 characters of a part's digest to its bytes; erased parts are not in it."""
Ending = DebateCompleted | DebateFailed | DebateCancelled
Status = Literal["completed", "failed", "cancelled", "unfinished", "waiting"]


@dataclass
class RoundEvents:
    """One round, in the order in which things happened."""

    started: RoundStarted
    spoken: list[StatementMade | JurorAbstained] = field(default_factory=list)
    check: ConsensusCheck | None = None

    @property
    def statements(self) -> list[StatementMade]:
        """In speaker order."""
        return [said for said in self.spoken if isinstance(said, StatementMade)]


@dataclass
class EventsByPhase:
    """A debate folded from its events; what has not happened is None or empty.

    `discussion_over`: the last consensus check said that no round follows. `successor`: the debate that judges the case
    again.
    """

    opened: DebateOpened
    begun: bool = False
    phase_1: list[JurorEvaluated | JurorAbstained] = field(default_factory=list)
    not_asked: SeatsNotAsked | None = None
    phase_1_check: ConsensusCheck | None = None
    rounds: list[RoundEvents] = field(default_factory=list)
    discussion_over: bool = False
    judgment: JudgmentRendered | None = None
    ending: Ending | None = None
    forked: DebateForked | None = None
    resumed: list[CoordinatorResumed] = field(default_factory=list)
    erased: set[str] = field(default_factory=set)
    successor: str | None = None

    @property
    def status(self) -> Status:
        """The status of the debate."""
        return status_of(self.ending, begun=self.begun)

    @property
    def abstentions(self) -> list[JurorAbstained]:
        """In the order in which they happened, phase 1 first."""
        said = [*self.phase_1, *(item for each in self.rounds for item in each.spoken)]
        return [item for item in said if isinstance(item, JurorAbstained)]


def status_of(ending: Ending | None, *, begun: bool) -> Status:
    """The status of a debate with this ending, or without one."""
    if ending is None:
        return "unfinished" if begun else "waiting"
    if isinstance(ending, DebateCompleted):
        return "completed"
    return "failed" if isinstance(ending, DebateFailed) else "cancelled"


def events_by_phase(events: Iterable[DebateEvent]) -> EventsByPhase:
    """The record of the events of one `debate/` stream, in stream order.

    Raises:
        OpeningMissing: they do not begin with the opening event.
    """
    ordered = list(events)
    if not ordered or not isinstance(ordered[0], DebateOpened):
        raise OpeningMissing("a debate begins with its opening event; read the stream from version 1")
    record = EventsByPhase(ordered[0])
    for event in ordered[1:]:
        _add(record, event)
    return record


def role_of(panel: Panel, juror_id: str) -> str:
    """The role name of a seat, the juror's id where it has none."""
    try:
        return panel.seat(juror_id).role_name
    except KeyError:
        return juror_id


def text_in(texts: Texts, ref: PartRef | None) -> str | None:
    """A part's text, None when there is none or it is not there; bytes that are not UTF-8 show as escapes."""
    content = None if ref is None else texts.get(ref.part)
    return None if content is None else content.decode("utf-8", "backslashreplace")


def _add(record: EventsByPhase, event: DebateEvent) -> None:
    match event:
        case JurorEvaluated():
            record.phase_1.append(event)
        case JurorAbstained():
            number = Step.parse(event.step).round
            (record.rounds[-1].spoken if number and record.rounds else record.phase_1).append(event)
        case SeatsNotAsked():
            record.not_asked = event
        case RoundStarted():
            record.rounds.append(RoundEvents(event))
        case StatementMade() if record.rounds:
            record.rounds[-1].spoken.append(event)
        case ConsensusChecked():
            _add_check(record, event)
        case _:
            _add_end(record, event)


def _add_check(record: EventsByPhase, event: ConsensusChecked) -> None:
    record.discussion_over = event.end_reason is not None
    if event.round == 0:
        record.phase_1_check = event.check
    elif record.rounds:
        record.rounds[-1].check = event.check


def _add_end(record: EventsByPhase, event: DebateEvent) -> None:
    match event:
        case DebateBegun():
            record.begun = True
        case JudgmentRendered():
            record.judgment = event
        case DebateCompleted() | DebateFailed() | DebateCancelled():
            record.ending = event
        case DebateForked():
            record.forked = event
        case CoordinatorResumed():
            record.resumed.append(event)
        case DebateReplaced():
            record.successor = event.successor
        case TextsErased():
            record.erased.update(ref.part for ref in event.parts)
        case _:
            pass

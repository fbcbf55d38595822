"""What a result line has of a recorded debate, read from the bytes of its events: lists have many debates.

Of a body only the fields of the line are read, with the types that the event gives them: not the panel, its prompts and
the scores, whose checks are most of the time that decoding takes.
"""

from collections.abc import Collection
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from jury_events.case import MetadataValue, Omission
from jury_events.codec import SCHEMAS
from jury_events.debate_events import DebateCancelled, DebateCompleted, DebateFailed, DebateOpened, JudgmentRendered
from jury_events.debate_history import DebateHistory
from jury_events.envelope import StoredEvent
from jury_events.evaluation import Evaluation
from jury_events.ids import FINAL, Step
from jury_events.judgment import Agreement, CapReason, Decider, VoteKind, cap_reason
from jury_events.panel import FinalMethod
from jury_events.reading import PartlyRead
from jury_events.rubric import DimensionName
from jury_events.value import CaseId, Confidence, DebateId, JurorId, Label, Points, RunId
from jury_events.verdict import Verdict
from jury_events.verdict_scale import LabelId
from jury_views.debate_fold import AnsweredBy, Ending, answered_in_stream, evaluation_of
from jury_views.errors import OpeningMissing


class _LineFields(BaseModel):
    """Some fields of a body; the others are passed over."""

    model_config = ConfigDict(frozen=True, strict=True, allow_inf_nan=False, extra="ignore")


class _Final(_LineFields):
    method: FinalMethod


class _Scale(_LineFields):
    name: Label


class _Panel(_LineFields):
    name: Label
    final: _Final
    scale: _Scale | None = None


class LineOpening(_LineFields):
    """What a result line has of `DebateOpened`."""

    type: Literal["debate_opened"]
    debate_id: DebateId
    run_id: RunId | None
    case_id: CaseId
    label: Verdict | None
    metadata: dict[Label, MetadataValue]
    tags: tuple[Label, ...]
    cluster: Label | None
    agent_cost: float | None
    panel: _Panel
    simulated: bool
    omissions: tuple[Omission, ...]


class LineVote(_LineFields):
    """What a result line has of a vote."""

    juror_id: JurorId
    kind: VoteKind
    position: Verdict | None
    score: Points | None = None
    confidence: Confidence | None = None
    round: int | None = None
    label: LabelId | None = None
    partly_read: PartlyRead | None = None


class _Shortfall(_LineFields):
    criterion: DimensionName


class _Judgment(_LineFields):
    decided_by: Decider
    verdict: Verdict
    label: LabelId | None = None
    mean: Points | None = None
    agreed_on: Agreement | None = None
    shortfalls: tuple[_Shortfall, ...] | None = None
    votes: tuple[LineVote, ...]
    quorum: int
    quorum_votes: int
    capped: bool

    @property
    def quorum_met(self) -> bool:
        return self.quorum_votes >= self.quorum

    @property
    def capped_by(self) -> CapReason | None:
        return cap_reason(capped=self.capped, quorum_met=self.quorum_met)


class LineJudgment(_LineFields):
    """What a result line has of `JudgmentRendered`."""

    type: Literal["judgment_rendered"]
    judgment: _Judgment


class StoredLine(NamedTuple):
    """The parts of a result line: see `result_line`."""

    opened: DebateOpened | LineOpening
    evaluations: list[AnsweredBy]
    rendered: JudgmentRendered | LineJudgment | None
    ending: Ending | None
    begun: bool


_FIELDS: dict[str, type[LineOpening] | type[LineJudgment]] = {
    "debate_opened": LineOpening,
    "judgment_rendered": LineJudgment,
}
_IDS = {"debate_opened": "opened", "judgment_rendered": "final/judgment"}
_BEGUN = "debate_begun"
_ENDINGS = frozenset({"debate_completed", "debate_failed", "debate_cancelled"})


def stored_line(history: DebateHistory) -> StoredLine:
    """What the line of a recorded debate has."""
    opened: DebateOpened | LineOpening | None = None
    rendered: JudgmentRendered | LineJudgment | None = None
    ending: Ending | None = None
    begun = False
    for index, stored in enumerate(history.stored_events):
        begun = begun or stored.type == _BEGUN
        if stored.type not in _FIELDS and stored.type not in _ENDINGS:
            continue
        match _fields(stored) or history.events[index]:
            case DebateOpened() | LineOpening() as event:
                opened = event
            case JudgmentRendered() | LineJudgment() as event:
                rendered = event
            case DebateCompleted() | DebateFailed() | DebateCancelled() as event:
                ending = event
            case _:
                pass
    if opened is None:
        raise OpeningMissing("the events do not begin with the opening event")
    return StoredLine(opened, answered_in_stream(history.stored_events), rendered, ending, begun)


def evaluations_at(history: DebateHistory, steps: Collection[Step]) -> dict[Step, Evaluation]:
    """The evaluations of these steps of a debate; the others are not decoded."""
    ids = {name for step in steps for name in _ids_of_evaluation(step)}
    found = (
        evaluation_of(history.events[index])
        for index, stored in enumerate(history.stored_events)
        if stored.event_id in ids
    )
    return {one.step: one.evaluation for one in found if one is not None}


def _ids_of_evaluation(step: Step) -> tuple[str, ...]:
    if step == FINAL:
        return (_IDS["judgment_rendered"],)
    return f"{step.id}/evaluated", f"{step.id}/statement"


def _fields(stored: StoredEvent) -> LineOpening | LineJudgment | None:
    """The fields; None: the event is decoded whole, which upcasts it, or raises the error that names the fault."""
    model = _FIELDS.get(stored.type)
    if model is None or stored.schema != SCHEMAS[stored.type] or stored.event_id != _IDS[stored.type]:
        return None
    try:
        return model.model_validate_json(stored.body)
    except ValidationError:
        return None

"""One line for a list of results: a debate's outcome as plain data, made of the fields that it reads alone."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from jury_events.case import MetadataValue, Omission
from jury_events.codec import SCHEMAS, types_of
from jury_events.debate_events import DebateCancelled, DebateCompleted, DebateFailed, DebateOpened, JudgmentRendered
from jury_events.debate_history import DebateHistory
from jury_events.envelope import StoredEvent
from jury_events.evaluation import Evaluation, EvidenceFacts, evidence_after
from jury_events.ids import FINAL, Step
from jury_events.judgment import Agreement, CapReason, Decider, VoteKind, cap_reason
from jury_events.panel import FinalMethod
from jury_events.parts import Digest, Part
from jury_events.reading import PartlyRead
from jury_events.rubric import DimensionName
from jury_events.value import CaseId, Confidence, DebateId, JurorId, Label, Points, RunId
from jury_events.verdict import Verdict
from jury_events.verdict_scale import LabelId
from jury_views.debate_fold import (
    AnsweredBy,
    Ending,
    OpeningMissing,
    Status,
    answered_in_stream,
    change_counts,
    evaluation_of,
    is_simulated,
    model_mismatches,
    position_changes,
    status_of,
)
from jury_views.reasons import ReasonSteps, VerdictReason, reason_data, texts_of
from jury_views.run_quotations import evidence_object


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
_ENDINGS = types_of("end", "stop")


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


def outcome_fields(
    opened: DebateOpened | LineOpening,
    evaluations: Sequence[AnsweredBy],
    completed: DebateCompleted | None,
    reason: VerdictReason | None,
    status: Status,
) -> dict[str, Any]:
    """The fields that a result line shares with the whole result (`DebateResult`), by the same names.

    Args:
        opened: the opening, or the fields of it that a line has.
        completed: its end; None: it has no verdict.
    """
    return {
        "case_id": opened.case_id,
        "debate_id": opened.debate_id,
        "run_id": opened.run_id,
        "status": status,
        "final_verdict": completed.final_verdict.value if completed else None,
        "final_label": completed.final_label if completed else None,
        "final_score": completed.final_score if completed else None,
        **reason_data(reason),
        "early_termination": completed.early_termination if completed else None,
        "end_reason": completed.end_reason if completed else None,
        "method": opened.panel.final.method,
        "panel": opened.panel.name,
        "scale": opened.panel.scale.name if opened.panel.scale else None,
        "position_changes": change_counts(position_changes(evaluations))._asdict(),
        "simulated": is_simulated(opened, evaluations),
        "model_mismatches": model_mismatches(evaluations),
        "label": opened.label.value if opened.label else None,
        "tags": list(opened.tags),
        "metadata": dict(opened.metadata),
        "cluster": opened.cluster,
        "agent_cost": opened.agent_cost,
        "omissions": [omission.model_dump() for omission in opened.omissions],
    }


def result_line(
    opened: DebateOpened | LineOpening,
    evaluations: Sequence[AnsweredBy],
    rendered: JudgmentRendered | LineJudgment | None,
    ending: Ending | None,
    begun: bool,
    *,
    reason: VerdictReason | None = None,
) -> dict[str, Any]:
    """One debate in a list of results (JSONL): ids, verdict, why and how it came about, without other texts.

    The same keys always; what has not happened is null. Those of `outcome_fields` are described in `DebateResult`.
    `vote_kinds` says of each vote whether it is the seat's `own`, `synthetic` (stands in for a blocked answer), `stale`
    (an earlier one stands) or `abstained`. `capped_by` says why votes that passed need review: `quorum` (it was lost),
    `silence` (they do not pass with silent seats counted). `evidence` counts the quotations by the results of their
    checks and the seats that fail the agent without support, null where none was asked for (`evidence_object`). `read`
    has the share of the record that each seat read that did not read it whole in one call, by its latest evaluation;
    `probabilities` those of the verdict words, by seat, of decision models. `partly_read` has, by seat, the parts of
    the record that were refused, or never answered usably. Under a scale of the panel's own, `vote_labels` are those of
    the votes; `agreed_on` says what decided, and `shortfalls` which critical criteria had too few points.
    """
    completed = ending if isinstance(ending, DebateCompleted) else None
    judgment = rendered.judgment if rendered else None
    return {
        **outcome_fields(opened, evaluations, completed, reason, status_of(ending, begun=begun)),
        "total_rounds": completed.total_rounds if completed else None,
        "decided_by": judgment.decided_by.value if judgment else None,
        "quorum_met": judgment.quorum_met if judgment else None,
        "capped_by": judgment.capped_by if judgment else None,
        "votes": {vote.juror_id: vote.position.value if vote.position else None for vote in judgment.votes}
        if judgment
        else None,
        "vote_labels": {vote.juror_id: vote.label for vote in judgment.votes}
        if judgment and opened.panel.scale
        else None,
        "vote_kinds": {vote.juror_id: vote.kind for vote in judgment.votes} if judgment else None,
        "agreed_on": judgment.agreed_on if judgment else None,
        "shortfalls": [one.criterion for one in judgment.shortfalls or ()] if judgment else None,
        "evidence": evidence_object(_evidence(evaluations)),
        "read": {one.step.juror_id: one.read for one in evaluations if one.step.juror_id and one.read is not None},
        "partly_read": {vote.juror_id: list(vote.partly_read) for vote in judgment.votes if vote.partly_read}
        if judgment
        else None,
        "probabilities": {
            one.step.juror_id: one.probabilities
            for one in evaluations
            if one.step.juror_id and one.probabilities is not None
        },
    }


def _evidence(evaluations: Iterable[AnsweredBy]) -> EvidenceFacts | None:
    facts = None
    for one in evaluations:
        facts = evidence_after(facts, one.step.juror_id, one.facts)
    return facts


class StoredResult:
    """The line of a recorded debate, of which only the fields and texts of a line are read.

    Args:
        history: of the debate; of its texts nothing is read.
    """

    def __init__(self, history: DebateHistory) -> None:
        self._history = history
        line = stored_line(history)
        if history.stored_reviews:
            line = line._replace(opened=history.reviews.with_label(line.opened))
        self._line = line
        rendered = self._line.rendered
        self._why = None if rendered is None else ReasonSteps(rendered.judgment, self._line.evaluations)
        self._evaluations = {} if self._why is None else evaluations_at(history, self._why.steps)

    @property
    def debate_id(self) -> str:
        return self._history.debate_id

    @property
    def digests(self) -> list[Digest]:
        return [ref.digest for ref in texts_of(self._evaluations.values())]

    def reason(self, parts: Mapping[Digest, Part]) -> VerdictReason | None:
        """Why the verdict came; None: there is none. `parts` as of `line`."""
        history = replace(self._history, parts=parts)
        return None if self._why is None else self._why.reason(self._evaluations, history.texts, history.erased)

    def line(self, parts: Mapping[Digest, Part]) -> dict[str, Any]:
        """The line.

        Args:
            parts: of the debate, at least those of `digests` that are stored.
        """
        return result_line(*self._line, reason=self.reason(parts))


def line_of(history: DebateHistory) -> dict[str, Any]:
    """The line of a recorded debate with its texts: see `StoredResult`."""
    return StoredResult(history).line(history.parts)

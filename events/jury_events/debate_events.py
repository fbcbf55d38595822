"""The events of the stream `debate/{id}`: the course of the debate.

What a type is, its class says (`role`), once for all that read the log (`types_of` of `codec`):

- `opening`: the first event, made of the case and the panel;
- `input`: recorded from outside, it follows from nothing that is recorded;
- `stop`: an input that ends the debate for good;
- `addendum`: an input that may also come after the end;
- `position`: what a seat says of the case, read from its recorded calls;
- `decision`: what the rules decide of all that was recorded before, `result` the judgment, `end` that nothing is left.

Replay computes all but inputs again, and a branch keeps all but inputs.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from jury_events.case import MetadataValue, Omission
from jury_events.evaluation import Evaluation, Statement
from jury_events.ids import Step
from jury_events.judgment import ConsensusCheck, Judgment, Settled
from jury_events.ladder import StagePlace
from jury_events.outcome import FailureReason, FinalOutcome, RefusalReason
from jury_events.panel import AskingPlan, Panel
from jury_events.parts import ImageRef, PartRef
from jury_events.reading import PartlyRead, ReadingPlan
from jury_events.value import CaseId, DebateId, JurorId, Label, Round, RunId, ScenarioId, Value
from jury_events.verdict import Verdict
from jury_events.verdict_scale import LabelId

StepId = Annotated[str, StringConstraints(min_length=1, max_length=700)]
ExchangeId = Annotated[str, StringConstraints(min_length=1, max_length=1500)]
Exchanges = tuple[ExchangeId, ...]

EventRole = Literal["opening", "input", "stop", "addendum", "position", "decision", "result", "end"]


class EventBody(Value):
    """A fact about a debate. `event_id` is deterministic and unique in its stream.

    `id_form`: how it is made of the event (`{0}`). `role`: what an event of `debate/` is; others have none.
    """

    role: ClassVar[EventRole]
    id_form: ClassVar[str]

    schema_version: ClassVar[int] = 1

    @property
    def event_id(self) -> str:
        """Derived from the event's fields."""
        return self.id_form.format(self)


class NamedPart(Value):
    """A named piece of prompts."""

    name: Label
    text: PartRef


class DebateOpened(EventBody):
    """A debate is there to be judged. Contains the whole resolved panel and every fixed piece of every prompt.

    It waits until `debate_begun`: no model is asked before.

    `case` is the case as canonical JSON, `secret` the random secret that ballots and the datamark derive from, `pieces`
    the texts that prompts are composed of, `images` the case's pictures. `rules` and `prompts` are the versions in use.
    `omissions` counts the items of the case that no juror is shown; `label`, `metadata`, `tags`, `cluster` and
    `agent_cost` are those of the case. `provenance` is where its items come from, None where that is not known.
    `reading`: how the seats read that do not read the case whole; None: there is no such seat.
    `asking`: the order in which seats are asked; None: all at once.
    `stage`: the place of the debate in a ladder; None: it is of none.
    """

    role: ClassVar[EventRole] = "opening"
    id_form: ClassVar[str] = "opened"
    """One a stream."""

    type: Literal["debate_opened"] = "debate_opened"
    debate_id: DebateId
    run_id: RunId | None = None
    case_id: CaseId
    submission_id: Label | None = None
    label: Verdict | None = None
    metadata: dict[Label, MetadataValue]
    tags: tuple[Label, ...]
    cluster: Label | None = None
    agent_cost: Annotated[float, Field(ge=0)] | None = None
    scenarios: tuple[ScenarioId, ...]
    panel: Panel
    rules: Annotated[int, Field(ge=1)]
    prompts: Annotated[int, Field(ge=1)]
    simulated: bool
    security_gate_records: Annotated[int, Field(ge=0)]
    agent_card_records: Annotated[int, Field(ge=0)]
    omissions: tuple[Omission, ...]
    case: PartRef
    images: tuple[ImageRef, ...]
    secret: PartRef
    pieces: tuple[NamedPart, ...]
    provenance: PartRef | None = None
    reading: ReadingPlan | None = None
    asking: AskingPlan | None = None
    stage: StagePlace | None = None


class DebateBegun(EventBody):
    """A process begins to judge the debate: from now on models may be asked. Durations count from here."""

    role: ClassVar[EventRole] = "input"
    id_form: ClassVar[str] = "begun"
    """One a debate."""

    type: Literal["debate_begun"] = "debate_begun"


class JurorEvaluated(EventBody):
    """Phase 1: a seat evaluated independently. `peer_text` is its text as its peers are shown it.

    `reasoning`: it evaluated once more, with the agent's reasoning shown; None: for the first time.
    """

    role: ClassVar[EventRole] = "position"
    id_form: ClassVar[str] = "{0.step.id}/evaluated"
    """One a step."""

    type: Literal["juror_evaluated"] = "juror_evaluated"
    juror_id: JurorId
    evaluation: Evaluation
    peer_text: PartRef
    exchanges: Exchanges
    reasoning: Literal[True] | None = None

    @property
    def step(self) -> Step:
        """The step that it ends."""
        return Step(0, self.juror_id, self.reasoning is True)


class ReasoningShown(EventBody):
    """Phase 1: every seat judges once more, and is shown the agent's reasoning, which it has judged without."""

    role: ClassVar[EventRole] = "decision"
    id_form: ClassVar[str] = "reasoning/shown"
    """One a debate."""

    type: Literal["reasoning_shown"] = "reasoning_shown"


class JurorAbstained(EventBody):
    """A seat has no usable answer for a step, after repairs and fallbacks.

    `stale`: its earlier evaluation counts for peers, quorum and phase 3.
    `refusal` is the parser's last reason, None if there was no answer. `partly_read`: the parts of the record that were
    refused, or never answered usably; None: there are none.
    """

    role: ClassVar[EventRole] = "decision"
    id_form: ClassVar[str] = "{0.step}/abstained"
    """One a step."""

    type: Literal["juror_abstained"] = "juror_abstained"
    step: StepId
    juror_id: JurorId
    reason: FailureReason
    refusal: RefusalReason | None = None
    stale: bool
    exchanges: Exchanges
    partly_read: PartlyRead | None = None


class SeatsNotAsked(EventBody):
    """Phase 1: the seats that remain are not asked, as no answer of them could change what is `settled`."""

    role: ClassVar[EventRole] = "decision"
    id_form: ClassVar[str] = "initial/not-asked"
    """One a stream."""

    type: Literal["seats_not_asked"] = "seats_not_asked"
    juror_ids: Annotated[tuple[JurorId, ...], Field(min_length=1)]
    settled: Settled


class RoundStarted(EventBody):
    """Phase 2: a round begins, in this speaker order; `instruction` is the part of its prompts about the round."""

    role: ClassVar[EventRole] = "decision"
    id_form: ClassVar[str] = "round-{0.round}/started"
    """One a round."""

    type: Literal["round_started"] = "round_started"
    round: Round
    speaker_order: tuple[JurorId, ...]
    instruction: PartRef


class StatementMade(EventBody):
    """Phase 2: a seat spoke. `peer_text` is its text as its peers are shown it."""

    role: ClassVar[EventRole] = "position"
    id_form: ClassVar[str] = "{0.step.id}/statement"
    """One a seat and round."""

    type: Literal["statement_made"] = "statement_made"
    round: Round
    juror_id: JurorId
    statement: Statement
    peer_text: PartRef
    exchanges: Exchanges

    @property
    def step(self) -> Step:
        """The step that it ends."""
        return Step(self.round, self.juror_id)


EndReason = Literal["consensus", "deadlock", "max_rounds", "no_discussion"]


class ConsensusChecked(EventBody):
    """All seats answered or abstained: after phase 1 (`round` 0) or a round.

    `end_reason`: why no round follows; None when one does.
    """

    role: ClassVar[EventRole] = "decision"

    type: Literal["consensus_checked"] = "consensus_checked"
    round: Annotated[int, Field(ge=0)]
    check: ConsensusCheck
    end_reason: EndReason | None = None

    @property
    def event_id(self) -> str:
        """One for phase 1 and one a round."""
        return f"round-{self.round}/check" if self.round else "initial/check"


class JudgmentRendered(EventBody):
    """Phase 3: the final judgment."""

    role: ClassVar[EventRole] = "result"
    id_form: ClassVar[str] = "final/judgment"
    """One a debate."""

    type: Literal["judgment_rendered"] = "judgment_rendered"
    judgment: Judgment
    exchanges: Exchanges


class DebateCompleted(EventBody):
    """The debate is over, with its result.

    `end_reason`: why the discussion ended. `early_termination`: consensus skipped phase 2, or ended it early.
    `final_score` (None: no seat evaluated) and `final_label` are those of the judgment.
    """

    role: ClassVar[EventRole] = "end"
    id_form: ClassVar[str] = "completed"
    """One a debate."""

    type: Literal["debate_completed"] = "debate_completed"
    final_verdict: Verdict
    final_score: Annotated[int, Field(ge=0, le=100)] | None = None
    total_rounds: Annotated[int, Field(ge=0)]
    end_reason: EndReason
    early_termination: bool
    final_label: LabelId | None = None

    @property
    def outcome(self) -> FinalOutcome:
        """What the debate came to."""
        return FinalOutcome(self.final_verdict.value, self.final_label, self.final_score)


class DebateFailed(EventBody):
    """The debate failed for good: resuming cannot help. `reason` is a keyword, `detail` the explanation."""

    role: ClassVar[EventRole] = "stop"
    id_form: ClassVar[str] = "failed"
    """One a debate."""

    type: Literal["debate_failed"] = "debate_failed"
    reason: Label
    detail: PartRef | None = None


class DebateCancelled(EventBody):
    """The debate was cancelled for good; late answers go to `calls` only."""

    role: ClassVar[EventRole] = "stop"
    id_form: ClassVar[str] = "cancelled"
    """One a debate."""

    type: Literal["debate_cancelled"] = "debate_cancelled"
    by: Label
    reason: PartRef | None = None


class CoordinatorResumed(EventBody):
    """A coordinator resumed an unfinished debate, or replaced a lost juror.

    `repeated_steps`: steps whose call may have been in flight, for which a model may therefore be called twice.
    """

    role: ClassVar[EventRole] = "input"
    id_form: ClassVar[str] = "resumed/{0.number}"
    """One a resumption: `number` counts them in the debate."""

    type: Literal["coordinator_resumed"] = "coordinator_resumed"
    epoch: Annotated[int, Field(ge=1)]
    cause: Literal["coordinator", "juror"]
    number: Annotated[int, Field(ge=1)]
    repeated_steps: tuple[StepId, ...]


class InheritedSteps(Value):
    """Steps that the origin of a fork reused itself, and the secret that their ballots derive from."""

    secret: PartRef
    steps: Annotated[tuple[StepId, ...], Field(min_length=1)]


class DebateForked(EventBody):
    """This debate is a fork of `origin` after its event `version`; answers up to there are reused.

    `steps` are those whose answers are reused: their exchanges are copies of the origin's. Their ballots and datamarks
    derive from the origin's `secret`; those of `inherited_steps`, where the origin is a fork itself, from the secret of
    the debate that made the calls.
    """

    role: ClassVar[EventRole] = "input"
    id_form: ClassVar[str] = "forked"
    """One a debate."""

    type: Literal["debate_forked"] = "debate_forked"
    origin: DebateId
    version: Annotated[int, Field(ge=1)]
    secret: PartRef
    steps: tuple[StepId, ...]
    inherited_steps: tuple[InheritedSteps, ...] = ()

    def secret_of(self, step: StepId) -> PartRef | None:
        """The secret of a step's ballot, None unless its answers are reused."""
        if step not in self.steps:
            return None
        return next((one.secret for one in self.inherited_steps if step in one.steps), self.secret)


class DebateReplaced(EventBody):
    """The case is judged again by the debate `successor`: this one, which no seat evaluated, counts for nothing.

    It is in one transaction with the opening of the successor. `by`: who asked.
    """

    role: ClassVar[EventRole] = "addendum"
    id_form: ClassVar[str] = "replaced"
    """One a debate."""

    type: Literal["debate_replaced"] = "debate_replaced"
    successor: DebateId
    by: Label


class TextsErased(EventBody):
    """Texts of this debate are erased. Written before the first part is deleted.

    `scope` is `debate`, `case` or an exchange id; `parts` are the parts that may be missing from now on.
    """

    role: ClassVar[EventRole] = "addendum"
    id_form: ClassVar[str] = "erased/{0.number}"
    """One an erasure: `number` counts them in the debate."""

    type: Literal["texts_erased"] = "texts_erased"
    by: Label
    reason: Label
    scope: ExchangeId
    number: Annotated[int, Field(ge=1)]
    parts: tuple[PartRef, ...]

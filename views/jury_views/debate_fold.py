"""The events of one debate folded for people: phases, turns, checks, changes, ending, and who answered.

Pages, terminal, live lines, live events, spans and results read this one. The rows of lists (`store.projection`) and
the ballots (`store.ballot_sheet`) are folded from bytes apart, for speed. `answered_in_stream` reads what lists need
of evaluations without decoding them; a test compares the two.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, assert_never

import orjson

from jury_events.codec import SCHEMAS, DebateEvent, decode
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
    ReasoningShown,
    RoundStarted,
    SeatsNotAsked,
    StatementMade,
    TextsErased,
)
from jury_events.envelope import StoredEvent
from jury_events.errors import InputError
from jury_events.evaluation import Evaluation, EvaluationFacts, SeatPosition
from jury_events.evidence import Evidence, quotes_of
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import FINAL, Step
from jury_events.judgment import ConsensusCheck
from jury_events.models import is_other_model
from jury_events.panel import Panel
from jury_events.parts import PartRef
from jury_events.reading import RecordRead
from jury_events.review_facts import NO_REVIEWS, ReviewFacts
from jury_events.verdict import Verdict
from jury_views.number_formats import probabilities_object

Texts = Mapping[str, bytes]
"""The 43 characters of a part's digest to its bytes; erased parts are not in it."""
Ending = DebateCompleted | DebateFailed | DebateCancelled
Status = Literal["completed", "failed", "cancelled", "unfinished", "waiting"]


class OpeningMissing(InputError):
    """Events of a debate do not begin with its opening event."""


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


class StepEvaluation(NamedTuple):
    """The evaluation of one step, and the id of its event."""

    event_id: str
    step: Step
    evaluation: Evaluation


Phase = Literal["evaluation", "discussion", "judgment"]
Change = Literal["own", "synthetic"]
"""own: the juror's label or verdict is another than its latest own one. synthetic: only what stands in for a blocked
answer differs, from the juror's verdict or the juror's verdict from it.

The recorded `position_changed` compares a seat's position with its previous one, also if one of the two is the
neutral evaluation that stands in for an answer which a provider's filter blocked. Then no juror changed its mind.
"""


class ReasoningChange(NamedTuple):
    """The positions of a seat before it was shown the agent's reasoning, and after, where they differ."""

    juror_id: str
    before: SeatPosition
    after: SeatPosition


@dataclass
class PhaseEvents:
    """The ids of the events that begin and end a phase; None: it goes on, or the end of the debate ended it."""

    phase: Phase
    begun: str
    ended: str | None = None


@dataclass
class DebateFold:
    """What happened so far; what has not happened is None or empty.

    `phase_1`: without the agent's reasoning where the seats are shown it later; `with_reasoning`: what they said
    then, None: they are not. `discussion_over`: the last consensus check said that no round follows. `successor`:
    the debate that judges the case again. `evaluations` and `answers` are in order, the final judge's last.
    `changes`: the steps that changed a position.
    """

    opened: DebateOpened
    begun: bool = False
    phases: list[PhaseEvents] = field(default_factory=list)
    phase_1: list[JurorEvaluated | JurorAbstained] = field(default_factory=list)
    with_reasoning: list[JurorEvaluated | JurorAbstained] | None = None
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
    evaluations: list[StepEvaluation] = field(default_factory=list)
    answers: "list[AnsweredBy]" = field(default_factory=list)
    changes: dict[Step, Change] = field(default_factory=dict)
    _own: dict[str, SeatPosition] = field(default_factory=dict)

    @property
    def status(self) -> Status:
        return status_of(self.ending, begun=self.begun)

    @property
    def abstentions(self) -> list[JurorAbstained]:
        """In the order in which they happened, phase 1 first."""
        return [said for _, said in self.spoken if isinstance(said, JurorAbstained)]

    @property
    def spoken(self) -> list[tuple[Step, JurorEvaluated | StatementMade | JurorAbstained]]:
        """What each seat said or left out in each step, in the order in which it happened, phase 1 first."""
        later = (item for each in self.rounds for item in each.spoken)
        said = (*self.phase_1, *(self.with_reasoning or ()), *later)
        return [(Step.parse(one.step) if isinstance(one, JurorAbstained) else one.step, one) for one in said]

    @property
    def reasoning_changes(self) -> list[ReasoningChange]:
        """What seats changed that were shown the agent's reasoning; not where one of both votes is a stand-in."""
        first = {one.juror_id: one.evaluation for one in self.phase_1 if isinstance(one, JurorEvaluated)}
        pairs = [
            (one.juror_id, first[one.juror_id], one.evaluation)
            for one in self.with_reasoning or ()
            if isinstance(one, JurorEvaluated) and one.juror_id in first
        ]
        return [
            ReasoningChange(juror, before.position, after.position)
            for juror, before, after in pairs
            if before.position != after.position and not (before.synthetic or after.synthetic)
        ]

    @property
    def simulated(self) -> bool:
        """Whether the panel or an evaluation is simulated."""
        return is_simulated(self.opened, self.answers)

    def take(self, event: DebateEvent) -> None:  # noqa: C901, PLR0912  (one case an event)
        """The next event; an event type that is new is an error of types here."""
        if (made := evaluation_of(event)) is not None:
            self._evaluated(made, event)
        match event:
            case DebateOpened():
                self.opened = event
            case DebateBegun():
                self.begun = True
                self._begin("evaluation", event)
            case JurorEvaluated():
                self._first_votes(event.step).append(event)
            case JurorAbstained():
                step = Step.parse(event.step)
                (self.rounds[-1].spoken if step.round and self.rounds else self._first_votes(step)).append(event)
            case ReasoningShown():
                self.with_reasoning = []
            case SeatsNotAsked():
                self.not_asked = event
            case RoundStarted():
                if not self.rounds:
                    self._begin("discussion", event)
                self.rounds.append(RoundEvents(event))
            case StatementMade():
                if self.rounds:
                    self.rounds[-1].spoken.append(event)
            case ConsensusChecked():
                self._checked(event)
            case JudgmentRendered():
                self.judgment = event
                self._end("judgment", event)
            case DebateCompleted() | DebateFailed() | DebateCancelled():
                self.ending = event
            case DebateForked():
                self.forked = event
            case CoordinatorResumed():
                self.resumed.append(event)
            case DebateReplaced():
                self.successor = event.successor
            case TextsErased():
                self.erased.update(ref.part for ref in event.parts)
            case _:
                assert_never(event)

    def _first_votes(self, step: Step) -> list[JurorEvaluated | JurorAbstained]:
        return self.phase_1 if self.with_reasoning is None or not step.reasoning else self.with_reasoning

    def _checked(self, event: ConsensusChecked) -> None:
        self.discussion_over = event.end_reason is not None
        if event.round == 0:
            self.phase_1_check = event.check
        elif self.rounds:
            self.rounds[-1].check = event.check
        self._end("discussion" if event.round else "evaluation", event)
        if self.discussion_over:
            self._begin("judgment", event)

    def _begin(self, phase: Phase, event: DebateEvent) -> None:
        self.phases.append(PhaseEvents(phase, event.event_id))

    def _end(self, phase: Phase, event: DebateEvent) -> None:
        for one in self.phases:
            if one.phase == phase:
                one.ended = event.event_id

    def _evaluated(self, made: StepEvaluation, event: DebateEvent) -> None:
        answered = _answered(made, event)
        self.evaluations.append(made)
        self.answers.append(answered)
        if (change := _change(self._own, answered)) is not None:
            self.changes[made.step] = change


def folded(events: Iterable[DebateEvent], reviews: ReviewFacts = NO_REVIEWS) -> DebateFold:
    """The fold of the events of one `debate/` stream, in order; its opening has the newest label of `reviews`."""
    fold: DebateFold | None = None
    for event in events:
        fold = followed(fold, event)
    if fold is None:
        raise OpeningMissing(_NO_OPENING)
    fold.opened = reviews.with_label(fold.opened)
    return fold


def followed(fold: DebateFold | None, event: DebateEvent) -> DebateFold:
    """The fold after its next event, as events come; None is the fold before the first, which is the opening."""
    if fold is None:
        if not isinstance(event, DebateOpened):
            raise OpeningMissing(_NO_OPENING)
        return DebateFold(event)
    fold.take(event)
    return fold


_NO_OPENING = "a debate begins with its opening event; read the stream from version 1"


def evaluation_of(event: DebateEvent) -> StepEvaluation | None:
    """The evaluation in an event, with its step; None where it has none."""
    match event:
        case JurorEvaluated():
            return StepEvaluation(event.event_id, event.step, event.evaluation)
        case StatementMade():
            return StepEvaluation(event.event_id, event.step, event.statement.evaluation)
        case JudgmentRendered() if event.judgment.judge is not None:
            return StepEvaluation(event.event_id, FINAL, event.judgment.judge)
        case _:
            return None


def status_of(ending: Ending | None, *, begun: bool) -> Status:
    if ending is None:
        return "unfinished" if begun else "waiting"
    if isinstance(ending, DebateCompleted):
        return "completed"
    return "failed" if isinstance(ending, DebateFailed) else "cancelled"


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


EVALUATING = frozenset({"juror_evaluated", "statement_made", "judgment_rendered"})
"""Types of events that may have an evaluation."""


class AnsweredBy(NamedTuple):
    """The origin of an evaluation.

    Attributes:
        step: of the debate.
        asked: the model that was asked.
        answered: the model that answered, None if the provider does not say.
        simulated: no model answered.
        verdict: of the evaluation.
        synthetic: it replaces a blocked answer.
        position_changed: as recorded of a statement.
        facts: of its evidence; None where it was not asked for any.
        read: the share of the record that was read, 0 to 1; None: all of it, in one call.
        label: of the evaluation, as in `SeatPosition`.
        probabilities: of the verdict words, by a decision model; else None.
    """

    step: Step
    asked: str
    answered: str | None
    simulated: bool
    verdict: Verdict
    synthetic: bool
    position_changed: bool = False
    facts: EvaluationFacts | None = None
    read: float | None = None
    label: str | None = None
    probabilities: dict[str, float] | None = None

    @property
    def position(self) -> SeatPosition:
        return SeatPosition(self.verdict, self.label)

    @property
    def by_another(self) -> bool:
        return not self.simulated and is_other_model(self.asked, self.answered)


def answered_in_stream(stream: Iterable[StoredEvent]) -> list[AnsweredBy]:
    """As `DebateFold.answers`, of stored events, without decoding each evaluation whole: lists have many debates."""
    found = []
    for stored in stream:
        if stored.type in EVALUATING:
            found += _read(stored) if stored.schema == SCHEMAS[stored.type] else _decoded(stored)
    return found


def other_model(evaluation: Evaluation) -> str | None:
    """The model that answered, if it is not the requested one."""
    asked, answered = evaluation.model, evaluation.model_version
    return answered if not evaluation.simulated and is_other_model(asked, answered) else None


def is_stand_in(evaluation: Evaluation) -> bool:
    """Whether a simulated juror answered under a model's name."""
    return evaluation.simulated and not evaluation.model.startswith("simulated/")


class SeatedOpening(Protocol):
    """The opening event of a debate, whole or in part."""

    @property
    def simulated(self) -> bool:
        """Whether every juror of the panel is simulated."""
        ...


def is_simulated(opened: SeatedOpening, evaluations: Iterable[AnsweredBy]) -> bool:
    """Whether the panel or an evaluation is simulated."""
    return opened.simulated or any(one.simulated for one in evaluations)


def model_mismatches(evaluations: Iterable[AnsweredBy]) -> list[dict[str, Any]]:
    """Steps where another model answered: `{juror_id, step, asked, answered}`; a null juror is the final judge."""
    return [
        {"juror_id": one.step.juror_id, "step": one.step.id, "asked": one.asked, "answered": one.answered}
        for one in evaluations
        if one.by_another
    ]


def _answered(made: StepEvaluation, event: DebateEvent) -> AnsweredBy:
    evaluation = made.evaluation
    return AnsweredBy(
        made.step,
        evaluation.model,
        evaluation.model_version,
        evaluation.simulated,
        evaluation.verdict,
        evaluation.synthetic,
        isinstance(event, StatementMade) and event.statement.position_changed,
        facts=EvaluationFacts.of(evaluation),
        read=None if evaluation.reading is None else evaluation.reading.share,
        label=evaluation.label,
        probabilities=probabilities_object(evaluation.probabilities),
    )


def _read(stored: StoredEvent) -> list[AnsweredBy]:
    try:
        body = orjson.loads(stored.body)
        changed = False
        match stored.type:
            case "juror_evaluated":
                step, evaluation = Step(0, body["juror_id"], "reasoning" in body), body["evaluation"]
            case "statement_made":
                statement = body["statement"]
                step, evaluation = Step(body["round"], body["juror_id"]), statement["evaluation"]
                changed = statement["position_changed"]
            case _:
                step, evaluation = FINAL, body["judgment"].get("judge")
        if evaluation is None:
            return []
        asked = evaluation["model"], evaluation.get("model_version"), evaluation["simulated"]
        verdict, facts = Verdict(evaluation["verdict"]), EvaluationFacts.read(evaluation)
        read = None
        if (reading := evaluation.get("reading")) is not None:
            read = RecordRead.model_validate_json(orjson.dumps(reading)).share
        label = evaluation.get("label")
        probabilities = None
        if (given := evaluation.get("probabilities")) is not None:
            probabilities = {one["label"]: one["probability"] for one in given}
        return [AnsweredBy(step, *asked, verdict, evaluation["synthetic"], changed, facts, read, label, probabilities)]
    except (ValueError, KeyError, TypeError, RecursionError):
        return _decoded(stored)  # raises the error that names the fault


def _decoded(stored: StoredEvent) -> list[AnsweredBy]:
    event = decode(stored)
    if isinstance(event, ExchangeRecorded) or (made := evaluation_of(event)) is None:
        return []
    return [_answered(made, event)]


class ChangeCounts(NamedTuple):
    """The numbers of statements that changed a position, by cause."""

    own: int
    synthetic: int


def position_changes(evaluations: Iterable[AnsweredBy]) -> dict[Step, Change]:
    """As `DebateFold.changes`, of `answered_in_stream`."""
    own: dict[str, SeatPosition] = {}
    found = ((one.step, _change(own, one)) for one in evaluations)
    return {step: change for step, change in found if change is not None}


def _change(own: dict[str, SeatPosition], one: AnsweredBy) -> Change | None:
    """None if the position is unchanged, and for the final judge; `own` are the latest positions, which it updates."""
    juror = one.step.juror_id
    if juror is None:
        return None
    recorded: Change | None = "synthetic" if one.position_changed else None
    if one.synthetic:
        return recorded
    before = own.get(juror)
    own[juror] = one.position
    return "own" if before is not None and before != one.position else recorded


def change_counts(changes: Mapping[Step, Change]) -> ChangeCounts:
    made = list(changes.values())
    return ChangeCounts(own=made.count("own"), synthetic=made.count("synthetic"))


class ShownQuotation(NamedTuple):
    """One entry; `text` is None where the quotations were erased, are missing, or cannot be read."""

    text: str | None
    entry: Evidence


class DecisiveItem(NamedTuple):
    """An item, and the steps whose evaluations call it decisive: of each seat the latest one."""

    item: int
    named_by: tuple[StepEvaluation, ...]


def asks_for_evidence(opened: DebateOpened) -> bool:
    return opened.panel.answers.evidence != "off"


def quotations(evaluation: Evaluation, texts: Texts) -> tuple[ShownQuotation, ...]:
    """The quotations of an evaluation, in its order; none where it was not asked for any."""
    entries = evaluation.evidence or ()
    content = None if evaluation.quotes is None else texts.get(evaluation.quotes.part)
    shown = _quoted_texts(content, len(entries))
    return tuple(map(ShownQuotation, shown, entries))


def _quoted_texts(content: bytes | None, count: int) -> tuple[str | None, ...]:
    """The texts of a part; None for each where the part is not there, or is not what the entries belong to."""
    nothing = (None,) * count
    if content is None:
        return nothing
    try:
        found = quotes_of(content)
    except (ValueError, TypeError, RecursionError):
        return nothing
    return found if len(found) == count and all(isinstance(one, str) for one in found) else nothing


def evaluations_of(events: Iterable[DebateEvent]) -> list[StepEvaluation]:
    """As `DebateFold.evaluations`, of events that may begin anywhere."""
    return [found for event in events if (found := evaluation_of(event)) is not None]


def decisive_items(evaluations: Iterable[StepEvaluation]) -> tuple[DecisiveItem, ...]:
    """The items that the latest evaluations of the seats and of the final judge call decisive, in order."""
    latest = {one.step.juror_id: one for one in evaluations if not one.evaluation.synthetic}
    named: dict[int, list[StepEvaluation]] = {}
    for one in latest.values():
        if one.evaluation.decisive_item is not None:
            named.setdefault(one.evaluation.decisive_item, []).append(one)
    return tuple(DecisiveItem(item, tuple(named[item])) for item in sorted(named))

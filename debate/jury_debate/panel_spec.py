"""Panels as users write them."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ValidationError, ValidationInfo, field_validator

from jury_debate.errors import PanelError
from jury_debate.presets import PARALLEL_ROUNDS, checked_threshold
from jury_debate.scale_spec import Spec, WrittenCriteria, WrittenScale, WrittenText
from jury_events.calibration import Calibration
from jury_events.panel import (
    MOST_SEATS,
    AnswerRules,
    ArtifactRules,
    Bands,
    CallSettings,
    FinalMethod,
    History,
    Language,
    LastAsked,
    LeastRead,
    Marking,
    Order,
)
from jury_events.reading import ReadingRule, Window
from jury_events.unknown_fields import first_error, hint

WRITTEN = object()
"""The validation context of a panel that a user writes, in contrast to a recorded one."""


class SeatSpec(Spec):
    """One seat; only the model is required."""

    model: str
    """`provider/model`, or a bare id that begins with `gpt-`, `claude-` or `gemini-`."""
    juror_id: str | None = None
    """The name in results; by default the model's id and its effort, a second one with -2."""
    role: str | None = None
    """`policy_compliance`, `security_leak_risk`, `misuse_detection` (seats without one get these in turn), or any
    other with `role_focus`."""
    role_name: str | None = None
    """The role's name for people."""
    role_focus: str | None = None
    """In a few words, what a role of your own looks at."""
    prompt: str | None = None
    """In place of the role's text. Answer format, rubric and ballot stay. Recorded with each debate: a run is not
    resumed with another."""
    fallbacks: tuple[str, ...] | None = None
    """Models that are called in order, each once, if the model returns no usable answer. They must be named, since
    they may send the case to another vendor."""
    weight: float = 1.0
    """For `weighted_average`."""
    images: bool | None = None
    """Whether it is sent the pictures of a case. By default where the model and all its fallbacks are known to read
    them; for servers of your own write it."""
    settings: CallSettings = CallSettings()
    """How its models are called; they win over the panel's, field by field."""
    window: Window | None = None
    """Tokens of request and answer together; by default what is known of its models."""
    reading: ReadingRule | None = None
    """In place of the panel's."""
    least_read: LeastRead | None = None
    """In place of the panel's."""
    questions: int | None = None
    """1: a simulated decision model. Of other models their provider answers."""


class SpeakersSpec(Spec):
    """Speaker order as written; without `base` the seats speak as listed."""

    kind: Literal["fixed", "rotating", "seeded"] = "fixed"
    """`fixed`: as in `base`; `rotating`: by one seat a round; `seeded`: drawn from `seed` and the round."""
    base: tuple[str, ...] | None = None
    """Every seat, in order; by default as listed."""
    seed: int = 0
    """Of `seeded`."""


class DiscussionSpec(Spec):
    """Discussion rules that differ from the preset's."""

    order: Order | None = None
    """`parallel`: all speak at once; `sequential`: each also sees earlier speakers of the round."""
    threshold: float | None = None
    """The share of seats that must agree, above 0 and at most 1 (0.67 is two of three, 1.0 all), or exactly 2.0: never
    reached, so that discussion always begins."""
    always_discuss: bool | None = None
    """Discuss also where the first votes reach the threshold."""
    max_rounds: int | None = None
    """Rounds at most."""
    history: History | None = None
    """`latest` or `all`: how much of each peer is shown."""
    unanimity_ends: bool | None = None
    """Whether a unanimous round ends the discussion under any threshold."""
    end_early: bool | None = None
    """Off: all rounds take place."""
    stagnation_rounds: int | None = None
    """End after so many rounds without a changed position."""
    speakers: SpeakersSpec = SpeakersSpec()
    """The order of speakers."""

    @field_validator("threshold")
    @classmethod
    def _may_be_written(cls, threshold: float | None, info: ValidationInfo) -> float | None:
        # A recorded panel may have any threshold above 1.
        return checked_threshold(threshold) if info.context is WRITTEN and threshold is not None else threshold


class JudgeSpec(Spec):
    """The final judge: a model that reads everything and decides."""

    model: str
    """As of a seat."""
    prompt: str | None = None
    """As of a seat."""
    fallbacks: tuple[str, ...] | None = None
    """As of a seat."""
    images: bool | None = None
    """As of a seat."""
    settings: CallSettings = CallSettings()
    """As of a seat."""
    window: Window | None = None
    """As of a seat."""


class FinalSpec(Spec):
    """How the verdict follows; what is not written is the preset's."""

    method: FinalMethod | None = None
    """`majority_vote`: more than half of the votes, else review; `weighted_average`, `median`: by the bands of the
    score; `final_judge`: the judge decides, and if it fails the majority."""
    bands: Bands = Bands()
    """Scores from which a verdict passes, and needs review."""
    quorum: int | None = None
    """Evaluations of seats' own that a pass needs; by default more than half of the seats."""
    judge: JudgeSpec | None = None
    """The final judge."""
    calibration: Calibration | None = None
    """From which agreement on a verdict may stand."""


class StopSpec(Spec):
    """Early stop, without rounds and without a final judge. `stop: settled` for short."""

    rule: Literal["settled"] = "settled"
    """`settled`: a seat is not asked when no answer of it could change what is decided."""
    last: LastAsked = "given"
    """Which seats are asked last: those at the end (`given`), others in each debate (`rotating`), or the dearest by
    list price (`price`)."""
    order: tuple[str, ...] | None = None
    """Every seat, in the order of asking."""


def _rule_by_name(stop: Any) -> Any:
    return {"rule": stop} if isinstance(stop, str) else stop


def _few_enough(seats: Any) -> Any:
    if isinstance(seats, list | tuple) and len(seats) > MOST_SEATS:
        raise ValueError(f"a panel has at most {MOST_SEATS} seats, not {len(seats)}")
    return seats


class PanelSpec(Spec):
    """A panel file. `settings` apply to every seat and the final judge, whose own settings win."""

    preset: str = PARALLEL_ROUNDS
    """The rules of discussion and judgment that the file does not write."""
    name: str | None = None
    """In results; by default the preset's."""
    language: Language = "en"
    """Of the prompts."""
    settings: CallSettings = CallSettings()
    """How models are called, of every seat and the final judge."""
    seats: Annotated[tuple[SeatSpec, ...], BeforeValidator(_few_enough)] = ()
    """At most 500; without any, three simulated jurors."""
    rubric: str | dict[str, float] | None = None
    """`standard` (40/30/20/10), `aisev` (20/15/15/50), or dimensions with maxima that add up to 100."""
    discussion: DiscussionSpec = DiscussionSpec()
    """The rounds."""
    final: FinalSpec = FinalSpec()
    """The judgment."""
    answers: AnswerRules = AnswerRules()
    """What follows where an answer cannot be used."""
    artifacts: ArtifactRules = ArtifactRules()
    """How jurors see records of earlier checks."""
    marking: Marking = "lines"
    """How judged text is set apart from instructions: `lines` (a short sign before each line, which stays as it was)
    or `words` (a sign in every gap, about twice the tokens)."""
    scale: WrittenScale | None = None
    """Verdict words of your own, or the name of a bundled scale."""
    criteria: WrittenCriteria | None = None
    """Criteria with meanings, in place of the rubric; `none`: no points are asked for."""
    task: WrittenText | None = None
    """The question to the jury."""
    reading: ReadingRule = "auto"
    """How a record that is longer than a window is read: `auto` (whole where it fits, else in windows), `whole`,
    `windows`, `tools` (from an outline; cheaper, not whole)."""
    least_read: LeastRead = 0.0
    """The share of the record that a seat must have read for its verdict to pass."""
    stop: Annotated[StopSpec, BeforeValidator(_rule_by_name)] | None = None
    """Which seats need not be asked."""
    reasoning: Literal["show", "hide", "after"] = "show"
    """Whether jurors are shown the agent's reasoning, the thoughts between its actions. `hide`: the item keeps its
    number and says that it is not shown; the record keeps it. `after`: each juror judges so first, is then shown the
    reasoning and judges again, which counts; both votes are recorded. That is outside `max_rounds` and before
    discussion, which begins by the later votes; a case without recorded reasoning is judged once."""
    own_family: Literal["warn", "refuse", "leave-out"] = "warn"
    """What becomes of a seat whose model is of the family of the judged agent's (`claude`, `gpt` …), which
    `metadata.agent_model` of the case names: `warn` names it before the run, `refuse` refuses the run, `leave-out`
    does not seat it in that debate."""


def read_spec(data: Any) -> PanelSpec:
    """Validate decoded YAML or JSON."""
    try:
        return PanelSpec.model_validate(data, context=WRITTEN)
    except ValidationError as error:
        raise PanelError(first_problem(error)) from error


def first_problem(error: ValidationError) -> str:
    """The first validation error of a panel as `field: message`."""
    first = first_error(error.errors(include_url=False))
    place = ".".join(str(part) for part in first["loc"])
    message = f"{first['msg']}{hint(first, PanelSpec)}"
    return f"{place}: {message}" if place else message

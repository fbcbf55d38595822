"""Panels as users write them, resolved into the panel of a debate."""

import re
import tomllib
from collections.abc import Collection
from fnmatch import translate
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, ValidationError, ValidationInfo, field_validator

from jury_debate.calibrated import mismatch, prompts_digest, prompts_mismatch
from jury_debate.decision_seats import NO_OUTPUT, asked_questions, check_decision_seats
from jury_debate.errors import PanelError
from jury_debate.presets import PARALLEL_ROUNDS, checked_threshold, preset
from jury_debate.prompts_1.prompts import Prompts
from jury_debate.prompts_registry import PROMPTS, PROMPTS_VERSION, load_prompts
from jury_debate.reading.token_estimate import answer_tokens
from jury_debate.rules_registry import newest_rules
from jury_debate.scale_spec import Spec, WrittenCriteria, WrittenScale, WrittenText, check_scale, resolve_scale
from jury_debate.seat_letters import seat_letter
from jury_events.asking import LastAsked, StopRule
from jury_events.calibration import Calibration
from jury_events.nearest import did_you_mean
from jury_events.panel import (
    MOST_SEATS,
    AnswerRules,
    ArtifactRules,
    Bands,
    CallSettings,
    DiscussionRules,
    FinalJudge,
    FinalMethod,
    FinalRules,
    History,
    Language,
    LeastRead,
    Marking,
    Order,
    Panel,
    Seat,
    SpeakerOrder,
)
from jury_events.reading import ReadingRule, Window
from jury_events.unknown_fields import first_error, hint


def reads_images(model: str, own_servers: Collection[str] = ()) -> bool:
    """Whether a model is known to read pictures.

    Args:
        model: `provider/model`.
        own_servers: providers with a custom server, whose models are unknown.
    """
    if model.partition("/")[0] in own_servers:
        return False
    known = _image_models()
    return known["reading"].match(model) is not None and known["text_only"].match(model) is None


@cache
def _image_models() -> dict[str, re.Pattern[str]]:
    """What matches the names of models that read pictures, and of those that do not though their names look so."""
    written = tomllib.loads((files("jury_debate") / "image_models.toml").read_text(encoding="utf-8"))
    return {kind: re.compile("|".join(map(translate, patterns))) for kind, patterns in written.items()}


def check_stop(panel: Panel) -> None:
    """Refuse `stop: settled` in a panel where it can never apply."""
    if (why := _never(panel)) is not None:
        raise PanelError(f"stop: settled can never apply: {why}; or leave stop out")


def _never(panel: Panel) -> str | None:
    assert panel.stop is not None
    if panel.discussion.max_rounds:
        return "in rounds every seat speaks; write discussion: {max_rounds: 0}"
    if panel.final.judge is not None:
        return "a final judge reads every seat; write final: {method: majority_vote}"
    if panel.final.method == "median" and any(one.critical for one in panel.rubric.dimensions):
        return (
            "which points count for a critical criterion under a median is known at the end only; write another method"
        )
    if newest_rules().asked_first(panel) >= len(panel.seats):
        return (
            f"no answers of fewer than all {len(panel.seats)} seats settle a case; add seats, or change their weights"
        )
    return None


ROLE_KEYS = ("policy_compliance", "security_leak_risk", "misuse_detection")
"""Seats without a role get these in turn."""

SCALE_ROLE = "by_scale"
"""Seats without a role get it under a scale of the panel's own."""

SIMULATED_MODEL = "simulated/juror"
SIMULATED_IDS = ("sim-policy", "sim-security", "sim-misuse")

WRITTEN = object()
"""The validation context of a panel that a user writes, in contrast to a recorded one."""

RESERVED_ID = "final"
"""Reserved: prompt pieces are named by the seat's id, those of the final judge by this one."""

_PREFIXES = {"gpt-": "openai", "claude-": "anthropic", "gemini-": "google"}


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


_SIMULATED_SEATS = tuple(SeatSpec(model=SIMULATED_MODEL, juror_id=juror_id) for juror_id in SIMULATED_IDS)


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


class ResolvedPanel(NamedTuple):
    """A panel and its prompts: custom ones, which are free text (`role_prompts` by juror id, and the final judge's).

    `prompts` is the version of all others, with which its debates open.
    """

    panel: Panel
    role_prompts: dict[str, str]
    judge_prompt: str | None
    prompts: int = PROMPTS_VERSION

    @property
    def custom(self) -> str:
        """The digest of its prompts (`prompts_digest`)."""
        return prompts_digest(self.role_prompts, self.judge_prompt, self.prompts)


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


def resolve(
    spec: PanelSpec,
    own_servers: Collection[str] = (),
    prompts: int = PROMPTS_VERSION,
    deciding: Collection[str] = (),
) -> ResolvedPanel:
    """The panel with every default written out.

    Args:
        spec: as written.
        own_servers: providers with a custom server; their models are sent pictures only where the panel says so.
        prompts: the version with which its debates open; a panel with a calibration opens them with the version that
            was calibrated.
        deciding: providers of the panel file whose protocol is one of decision models.
    """
    rules = preset(spec.preset)
    seats = spec.seats or _SIMULATED_SEATS
    try:
        judged_by = resolve_scale(spec.scale, spec.task, spec.rubric, spec.criteria, spec.language)
        texts = load_prompts(prompts, spec.language)
        built = _seats(
            seats, texts, spec.settings, own_servers, own_scale=judged_by.scale is not None, deciding=deciding
        )
        ids = tuple(seat.juror_id for seat in built)
        panel = Panel(
            name=spec.name or spec.preset,
            language=spec.language,
            seats=built,
            rubric=judged_by.rubric,
            discussion=_discussion(spec.discussion, rules["discussion"], ids),
            final=_final(spec, rules["final"], built, own_servers),
            answers=spec.answers,
            artifacts=spec.artifacts,
            marking=spec.marking,
            scale=judged_by.scale,
            task=judged_by.task,
            reading=spec.reading,
            least_read=spec.least_read,
            stop=None
            if spec.stop is None
            else StopRule(rule=spec.stop.rule, last=spec.stop.last, order=spec.stop.order or ids),
            reasoning=None if spec.reasoning == "show" else spec.reasoning,
            own_family=None if spec.own_family == "warn" else spec.own_family,
        )
    except ValidationError as error:
        raise PanelError(first_problem(error)) from error
    role_prompts = {juror: seat.prompt for juror, seat in zip(ids, seats, strict=True) if seat.prompt}
    judge_prompt = spec.final.judge.prompt if spec.final.judge else None
    resolved = ResolvedPanel(panel, role_prompts, judge_prompt, prompts)
    if (calibration := panel.final.calibration) is not None:
        resolved = _as_calibrated(resolved, calibration)
    answers, method = panel.answers, panel.final.method
    if answers.unsupported != "count" and answers.evidence == "off":
        raise PanelError(f"answers.unsupported: {answers.unsupported} needs evidence; write evidence: asked")
    if answers.unsupported == "halve" and method == "median":
        raise PanelError("answers.unsupported: a median has no half votes; write count or abstain")
    check_scale(panel)
    check_decision_seats(panel, deciding)
    if panel.own_family == "leave-out" and calibration is not None:
        raise PanelError(
            "own_family: leave-out: a certificate holds for the full panel only; write warn or refuse, or leave "
            "final.calibration out"
        )
    if panel.stop is not None:
        check_stop(panel)
    return resolved


def _as_calibrated(resolved: ResolvedPanel, calibration: Calibration) -> ResolvedPanel:
    roles, judge = resolved.role_prompts, resolved.judge_prompt
    for version in PROMPTS:
        if prompts_digest(roles, judge, version) == calibration.prompts:
            resolved = resolved._replace(prompts=version)
    if why := mismatch(calibration, resolved.panel) or prompts_mismatch(calibration, resolved.custom):
        raise PanelError(
            f"final.calibration: {why}; calibrate this panel with jury calibrate, or leave calibration out"
        )
    return resolved


def full_model_name(name: str) -> str:
    """`provider/model` of a bare model id, by its prefix."""
    if "/" in name:
        return name
    for prefix, provider in _PREFIXES.items():
        if name.startswith(prefix):
            return f"{provider}/{name}"
    raise PanelError(f"model {name!r} names no provider: write provider/{name} (bare ids begin {', '.join(_PREFIXES)})")


def _seats(
    seats: tuple[SeatSpec, ...],
    prompts: Prompts,
    settings: CallSettings,
    own_servers: Collection[str],
    *,
    own_scale: bool,
    deciding: Collection[str],
) -> tuple[Seat, ...]:
    keys = (SCALE_ROLE,) if own_scale else ROLE_KEYS
    built: list[Seat] = []
    taken: set[str] = set()
    for index, seat in enumerate(seats):
        key = seat.role or keys[index % len(keys)]
        role = prompts.role(key)
        if role is None and key != SCALE_ROLE and not seat.role_focus:
            raise PanelError(
                f"seats.{index}.role: {key!r} is no known role{did_you_mean(key, ROLE_KEYS)}; "
                f"roles are {', '.join(ROLE_KEYS)}, and a role of your own needs role_focus"
            )
        model = full_model_name(seat.model)
        called = _put_over(settings, seat.settings, seat.window)
        letter, bare = seat_letter(index), model.partition("/")[2]
        # The same model with another effort is another juror.
        default_id = bare if called.effort is None else f"{bare}-{called.effort}"
        juror_id = wanted = seat.juror_id or default_id
        number = 1
        while juror_id in taken:
            number += 1
            juror_id = f"{wanted}-{number}"
        taken.add(juror_id)
        if juror_id == RESERVED_ID:
            raise PanelError(f"seats.{index}.juror_id: {RESERVED_ID!r} names the final judge; choose another id")
        shown = "simulated" if model.startswith("simulated/") else bare
        if called.effort is not None:
            shown = f"{shown}, {called.effort}"
        default_name = prompts.role_name(letter=letter, role=role.role if role else key, model=shown)
        fallbacks = _fallbacks(model, seat.fallbacks)
        questions = asked_questions(model, seat.questions, deciding)
        if questions is not None:
            called = called.changed(max_output_tokens=NO_OUTPUT)
        built.append(
            Seat(
                juror_id=juror_id,
                role=key,
                role_name=seat.role_name or default_name,
                role_focus=seat.role_focus or (role.focus if role else key),
                model=model,
                fallbacks=fallbacks,
                weight=seat.weight,
                images=seat.images or False
                if questions is not None
                else _images(seat.images, (model, *fallbacks), own_servers),
                settings=called,
                window=seat.window,
                reading=seat.reading,
                least_read=seat.least_read,
                questions=questions,
            )
        )
    return tuple(built)


def _fallbacks(model: str, written: tuple[str, ...] | None) -> tuple[str, ...]:
    """The written ones only: a default could send the case to another vendor.

    Each model once: calls are identified by model, so a second call of one would be mistaken for the first.
    """
    return tuple(name for name in dict.fromkeys(map(full_model_name, written or ())) if name != model)


def _images(written: bool | None, models: tuple[str, ...], own_servers: Collection[str]) -> bool:
    """As written; by default, whether all of the models read pictures, as a fallback is sent the same request."""
    return all(reads_images(model, own_servers) for model in models) if written is None else written


def _discussion(spec: DiscussionSpec, rules: dict[str, Any], ids: tuple[str, ...]) -> DiscussionRules:
    written = spec.model_dump(exclude={"speakers"}, exclude_none=True)
    speakers = SpeakerOrder.model_validate(
        {"kind": spec.speakers.kind, "base": spec.speakers.base or ids, "seed": spec.speakers.seed}
    )
    return DiscussionRules(**{**rules, **written}, speakers=speakers)


def _final(spec: PanelSpec, rules: dict[str, Any], seats: tuple[Seat, ...], own_servers: Collection[str]) -> FinalRules:
    method = spec.final.method or rules["method"]
    quorum = spec.final.quorum if spec.final.quorum is not None else len(seats) // 2 + 1
    return FinalRules.model_validate(
        {
            "method": method,
            "bands": spec.final.bands,
            "quorum": quorum,
            "judge": _judge(spec.final.judge, seats, spec.settings, own_servers) if method == "final_judge" else None,
            "calibration": spec.final.calibration,
        }
    )


def _judge(
    written: JudgeSpec | None, seats: tuple[Seat, ...], settings: CallSettings, own_servers: Collection[str]
) -> FinalJudge:
    if written is None:
        simulated = all(seat.model.startswith("simulated/") for seat in seats)
        written = JudgeSpec(model="simulated/judge" if simulated else "google/gemini-2.5-pro")
    model = full_model_name(written.model)
    own = _put_over(settings, written.settings, written.window)
    fallbacks = _fallbacks(model, written.fallbacks)
    images = _images(written.images, (model, *fallbacks), own_servers)
    return FinalJudge(model=model, fallbacks=fallbacks, images=images, settings=own, window=written.window)


def _put_over(settings: CallSettings, own: CallSettings, window: int | None) -> CallSettings:
    """`settings`, overridden by the explicit fields of `own`.

    Where `max_output_tokens` is not written, answers of a written window are as long as its requests leave room for.
    What is written is checked with the models' windows, before the first call.
    """
    fields = own.model_dump(exclude_unset=True)
    if window is not None and "max_output_tokens" not in settings.model_fields_set | own.model_fields_set:
        fields["max_output_tokens"] = min(settings.max_output_tokens, answer_tokens(window))
    return settings.changed(**fields)

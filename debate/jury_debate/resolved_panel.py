"""Panels resolved: every default written out; and without the seats that do not judge a case."""

import re
import tomllib
from collections.abc import Collection
from fnmatch import translate
from functools import cache
from importlib.resources import files
from itertools import repeat
from operator import attrgetter
from typing import Any, NamedTuple

from pydantic import ValidationError

from jury_debate.assignment import seat_letter
from jury_debate.calibrated import mismatch, prompts_digest, prompts_mismatch
from jury_debate.decision_seats import NO_OUTPUT, QUESTIONS_VERSION, check_decision_seats, decides
from jury_debate.errors import PanelError
from jury_debate.panel_spec import DiscussionSpec, JudgeSpec, PanelSpec, SeatSpec, first_problem
from jury_debate.presets import preset
from jury_debate.prompts_1.prompts import Prompts
from jury_debate.prompts_registry import PROMPTS, PROMPTS_VERSION, load_prompts
from jury_debate.reading.token_estimate import answer_tokens
from jury_debate.rules_registry import newest_rules
from jury_debate.scale_spec import resolve_scale
from jury_events.calibration import Calibration
from jury_events.nearest import did_you_mean
from jury_events.panel import (
    Bands,
    CallSettings,
    DiscussionRules,
    FinalJudge,
    FinalRules,
    LeftOut,
    Panel,
    Seat,
    SpeakerOrder,
    StopRule,
)

ROLE_KEYS = ("policy_compliance", "security_leak_risk", "misuse_detection")
"""Seats without a role get these in turn."""


SCALE_ROLE = "by_scale"
"""Seats without a role get it under a scale of the panel's own."""


SIMULATED_MODEL = "simulated/juror"


SIMULATED_IDS = ("sim-policy", "sim-security", "sim-misuse")


RESERVED_ID = "final"
"""Reserved: prompt pieces are named by the seat's id, those of the final judge by this one."""


_PREFIXES = {"gpt-": "openai", "claude-": "anthropic", "gemini-": "google"}


_SIMULATED_SEATS = tuple(SeatSpec(model=SIMULATED_MODEL, juror_id=juror_id) for juror_id in SIMULATED_IDS)


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
        ids = tuple(map(attrgetter("juror_id"), built))
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
    if panel.scale is not None and panel.final.bands != Bands():
        raise PanelError("final.bands: no effect under a scale of its own, whose labels decide; leave bands out")
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
        role = prompts.texts.roles.get(key)
        if role is None and key != SCALE_ROLE and not seat.role_focus:
            raise PanelError(
                f"seats.{index}.role: {key!r} is no known role{did_you_mean(key, ROLE_KEYS)}; "
                f"roles are {', '.join(ROLE_KEYS)}, and a role of your own needs role_focus"
            )
        model, fallbacks, images, called = _called(seat, settings, own_servers)
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
        questions = seat.questions
        if questions is None and decides(model, deciding):
            questions = QUESTIONS_VERSION
        if questions is not None:
            images, called = bool(seat.images), called.changed(max_output_tokens=NO_OUTPUT)
        built.append(
            Seat(
                juror_id=juror_id,
                role=key,
                role_name=seat.role_name or default_name,
                role_focus=seat.role_focus or (role.focus if role else key),
                model=model,
                fallbacks=fallbacks,
                weight=seat.weight,
                images=images,
                settings=called,
                window=seat.window,
                reading=seat.reading,
                least_read=seat.least_read,
                questions=questions,
            )
        )
    return tuple(built)


class _Called(NamedTuple):
    """How a seat or the final judge is called."""

    model: str
    fallbacks: tuple[str, ...]
    images: bool
    settings: CallSettings


def _called(written: SeatSpec | JudgeSpec, settings: CallSettings, own_servers: Collection[str]) -> _Called:
    """How a place is called: `settings`, overridden by its own explicit fields.

    Fallbacks are the written ones only: a default could send the case to another vendor. Each model once: calls are
    identified by model, so a second call of one would be mistaken for the first. Pictures by default where all models
    read them, as a fallback is sent the same request. Where `max_output_tokens` is not written, answers of a written
    window are as long as its requests leave room for. What is written is checked with the models' windows, before the
    first call.
    """
    (model, *fallbacks) = dict.fromkeys(map(full_model_name, (written.model, *(written.fallbacks or ()))))
    images, own = written.images, written.settings
    if images is None:
        images = all(map(reads_images, (model, *fallbacks), repeat(own_servers)))
    fields = own.model_dump(exclude_unset=True)
    if written.window is not None and "max_output_tokens" not in settings.model_fields_set | own.model_fields_set:
        fields["max_output_tokens"] = min(settings.max_output_tokens, answer_tokens(written.window))
    return _Called(model, tuple(fallbacks), images, settings.changed(**fields))


def _discussion(spec: DiscussionSpec, rules: dict[str, Any], ids: tuple[str, ...]) -> DiscussionRules:
    written = spec.model_dump(exclude={"speakers"}, exclude_none=True)
    speakers = SpeakerOrder.model_validate(
        {"kind": spec.speakers.kind, "base": spec.speakers.base or ids, "seed": spec.speakers.seed}
    )
    return DiscussionRules(**{**rules, **written}, speakers=speakers)


def _final(spec: PanelSpec, rules: dict[str, Any], seats: tuple[Seat, ...], own_servers: Collection[str]) -> FinalRules:
    method = spec.final.method or rules["method"]
    quorum = spec.final.quorum if spec.final.quorum is not None else len(seats) // 2 + 1
    judge = None
    if method == "final_judge":
        written = spec.final.judge
        if written is None:
            simulated = all(seat.model.startswith("simulated/") for seat in seats)
            written = JudgeSpec(model="simulated/judge" if simulated else "google/gemini-2.5-pro")
        model, fallbacks, images, settings = _called(written, spec.settings, own_servers)
        judge = FinalJudge(model=model, fallbacks=fallbacks, images=images, settings=settings, window=written.window)
    return FinalRules.model_validate(
        {
            "method": method,
            "bands": spec.final.bands,
            "quorum": quorum,
            "judge": judge,
            "calibration": spec.final.calibration,
        }
    )


def full_model_name(name: str) -> str:
    """`provider/model` of a bare model id, by its prefix."""
    if "/" in name:
        return name
    for prefix, provider in _PREFIXES.items():
        if name.startswith(prefix):
            return f"{provider}/{name}"
    raise PanelError(f"model {name!r} names no provider: write provider/{name} (bare ids begin {', '.join(_PREFIXES)})")


def reads_images(model: str, own_servers: Collection[str] = ()) -> bool:
    """Whether a model is known to read pictures.

    Args:
        model: `provider/model`.
        own_servers: providers with a custom server, whose models are unknown.
    """
    if model.partition("/")[0] in own_servers:
        return False
    reading, text_only = _image_models()
    return reading.match(model) is not None and text_only.match(model) is None


@cache
def _image_models() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What matches the names of models that read pictures, and of those that do not though their names look so."""
    written = tomllib.loads((files("jury_debate") / "image_models.toml").read_text(encoding="utf-8"))
    reading, text_only = written["reading"], written["text_only"]
    return re.compile("|".join(map(translate, reading))), re.compile("|".join(map(translate, text_only)))


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


def without_seats(resolved: ResolvedPanel, juror_ids: Collection[str]) -> ResolvedPanel:
    """The panel without these seats, which says so; a quorum of more seats than are left is all of them.

    Raises:
        PanelError: no seat is left.
    """
    if not juror_ids:
        return resolved
    panel = resolved.panel
    seats = tuple(seat for seat in panel.seats if seat.juror_id not in juror_ids)
    if not seats:
        raise PanelError("own_family: leave-out: every seat is of the family of the judged agent, so none is left")
    discussion = panel.discussion
    base = tuple(one for one in discussion.speakers.base if one not in juror_ids)
    stop = panel.stop and panel.stop.changed(order=tuple(one for one in panel.stop.order if one not in juror_ids))
    left = panel.changed(
        seats=seats,
        discussion=discussion.changed(speakers=discussion.speakers.changed(base=base)),
        final=panel.final.changed(quorum=min(panel.final.quorum, len(seats))),
        stop=stop,
        left_out=tuple(
            LeftOut(juror_id=one, model=panel.seat(one).model) for one in panel.juror_ids if one in juror_ids
        ),
    )
    prompts = {juror_id: text for juror_id, text in resolved.role_prompts.items() if juror_id not in juror_ids}
    return resolved._replace(panel=left, role_prompts=prompts)

"""Overrides of a panel file: the documents' environment variables and explicit arguments."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, Field, ValidationError

from jury_debate.errors import PanelError
from jury_debate.panel_spec import JudgeSpec, PanelSpec, SeatSpec
from jury_debate.presets import INDEPENDENT, MAY_BE, PARALLEL_ROUNDS, PRESETS, checked_threshold
from jury_debate.resolved_panel import ROLE_KEYS, full_model_name
from jury_events.nearest import did_you_mean
from jury_events.panel import FinalMethod, Language
from jury_events.text import condensed, visible_line
from jury_judge.errors import PanelFileError
from jury_judge.settings_model import Option, SettingsModel

USE_COLLABORATIVE = "JURY_USE_COLLABORATIVE"
MAX_DISCUSSION_ROUNDS = "JURY_MAX_DISCUSSION_ROUNDS"
CONSENSUS_THRESHOLD = "JURY_CONSENSUS_THRESHOLD"
FINAL_JUDGMENT_METHOD = "JURY_FINAL_JUDGMENT_METHOD"
FINAL_JUDGE_MODEL = "JURY_FINAL_JUDGE_MODEL"

METHODS: tuple[FinalMethod, ...] = ("majority_vote", "weighted_average", "median", "final_judge")

_YES_NO = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
MOST_ROUNDS = 100


_jurors = partial(Option, group="Jurors and rules")


def _known(preset: Any) -> Any:
    if preset not in PRESETS:
        raise ValueError(f"must be one of {', '.join(PRESETS)}{did_you_mean(preset, PRESETS)}")
    return preset


class Overrides(SettingsModel):
    """Explicit arguments; None: the environment decides, then the panel file, then the preset.

    `seat_models` seat a jury of their own: see `seated`.
    """

    seat_models: Annotated[
        tuple[str, ...],
        _jurors(
            help="Seat a jury on this model, as claude-haiku-5-5; repeated, on several. The first judges last.",
            name="--model",
            metavar="MODEL",
        ),
    ] = ()
    preset: Annotated[
        Annotated[str, AfterValidator(_known)] | None,
        _jurors(
            help="The rules of the discussion, with any jurors.",
            choices=tuple(PRESETS),
            variable=USE_COLLABORATIVE,
            rare=True,
        ),
    ] = None
    language: Annotated[Language | None, _jurors(help="Language of the prompts.", choices=("en", "ja"), rare=True)] = (
        None
    )
    max_rounds: Annotated[
        Annotated[int, Field(ge=0, le=MOST_ROUNDS)] | None,
        _jurors(help="Discussion rounds at most.", variable=MAX_DISCUSSION_ROUNDS, rare=True),
    ] = None
    threshold: Annotated[
        Annotated[float, AfterValidator(checked_threshold)] | None,
        _jurors(
            help="Consensus threshold: 2.0 always discusses, 0.67 accepts 2 of 3.",
            variable=CONSENSUS_THRESHOLD,
            rare=True,
        ),
    ] = None
    method: Annotated[
        FinalMethod | None,
        _jurors(help="How the final judgment is made.", variable=FINAL_JUDGMENT_METHOD, rare=True),
    ] = None
    judge_model: Annotated[
        str | None,
        _jurors(help="The final judge.", metavar="PROVIDER/MODEL", variable=FINAL_JUDGE_MODEL, rare=True),
    ] = None

    @property
    def change_nothing(self) -> bool:
        """Whether none is given."""
        return not self.model_dump(include=set(Overrides.model_fields), exclude_defaults=True)


NO_OVERRIDES = Overrides()


class PanelVariables(NamedTuple):
    """The documents' variables, parsed; None: unset or empty."""

    collaborative: bool | None
    overrides: Overrides


def read_variables(environ: Mapping[str, str]) -> PanelVariables:
    """The five variables."""
    found: dict[str, Any] = {}
    for name, (field, parse) in _VARIABLES.items():
        if value := environ.get(name, "").strip():
            found[field] = parse(name, value)
    collaborative = found.pop(_COLLABORATIVE, None)
    return PanelVariables(collaborative, Overrides(**found) if found else NO_OVERRIDES)


def without_discussion(spec: PanelSpec) -> PanelSpec:
    """The panel for `JURY_USE_COLLABORATIVE=false`: its seats and rubric with the preset `independent`'s rules."""
    final = spec.final.model_copy(update={"method": None, "judge": None})
    return spec.model_copy(update={"preset": INDEPENDENT, "discussion": type(spec.discussion)(), "final": final})


def with_discussion(spec: PanelSpec) -> PanelSpec:
    """The panel for `JURY_USE_COLLABORATIVE=true`: not the preset `independent`."""
    return spec.model_copy(update={"preset": PARALLEL_ROUNDS}) if spec.preset == INDEPENDENT else spec


def seated(spec: PanelSpec, models: Sequence[str]) -> PanelSpec:
    """The panel with these models in its seats, one a seat and in turn, at least the three roles; the first one judges.

    No other model is ever asked: nobody has a fallback.
    """
    if spec.seats:
        raise PanelFileError(f"the panel {spec.name or spec.preset} seats its own models: leave it out, or the models")
    roles, count = ROLE_KEYS, max(len(ROLE_KEYS), len(models))
    seats = tuple(
        SeatSpec(model=models[place % len(models)], role=roles[place % len(roles)], fallbacks=())
        for place in range(count)
    )
    judge = JudgeSpec(model=models[0], fallbacks=())
    final = spec.final.model_copy(update={} if spec.preset == INDEPENDENT else {"judge": judge})
    return spec.model_copy(update={"seats": seats, "final": final})


def apply(spec: PanelSpec, overrides: Overrides) -> PanelSpec:
    """`spec` with the overrides applied."""
    if overrides.seat_models:
        spec = seated(spec, overrides.seat_models)
    changed = spec.model_dump(exclude_unset=True)
    for table, name in (("discussion", "max_rounds"), ("discussion", "threshold"), ("final", "method")):
        if (value := getattr(overrides, name)) is not None:
            changed[table] = {**changed.get(table, {}), name: value}
    if overrides.judge_model is not None:
        judge = spec.final.judge.model_dump(exclude_unset=True) if spec.final.judge else {}
        if judge.get("model") != overrides.judge_model:
            judge.pop("window", None)  # it is that of the other model
        changed["final"] = {**changed.get("final", {}), "judge": {**judge, "model": overrides.judge_model}}
    if overrides.language is not None:
        changed["language"] = overrides.language
    try:
        return PanelSpec.model_validate(changed)
    except ValidationError as error:
        raise PanelFileError(condensed(error)) from error


def _refused(name: str, value: str, may_be: str) -> PanelFileError:
    return PanelFileError(f"{name}: {visible_line(repr(value), 80)} is not understood; it may be {may_be}")


def _yes_no(name: str, value: str) -> bool:
    if value.lower() not in _YES_NO:
        raise _refused(name, value, "true or false")
    return _YES_NO[value.lower()]


def _rounds(name: str, value: str) -> int:
    if not (
        value.isascii() and value.isdigit() and len(value) < len(str(MOST_ROUNDS)) + 1 and int(value) <= MOST_ROUNDS
    ):
        raise _refused(name, value, f"a whole number from 0 to {MOST_ROUNDS}")
    return int(value)


def _threshold(name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        raise _refused(name, value, f"a number {MAY_BE}") from None
    try:
        return checked_threshold(number)
    except ValueError as error:
        raise PanelFileError(f"{name}: {error}") from None


def _method(name: str, value: str) -> str:
    if value.lower() not in METHODS:
        raise _refused(name, value, f"one of {', '.join(METHODS)}{did_you_mean(value, METHODS)}")
    return value.lower()


def _model(name: str, value: str) -> str:
    try:
        full_model_name(value)
    except PanelError as error:
        raise PanelFileError(f"{name}: {error}") from error
    return value


_COLLABORATIVE = "collaborative"
_VARIABLES: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    USE_COLLABORATIVE: (_COLLABORATIVE, _yes_no),
    MAX_DISCUSSION_ROUNDS: ("max_rounds", _rounds),
    CONSENSUS_THRESHOLD: ("threshold", _threshold),
    FINAL_JUDGMENT_METHOD: ("method", _method),
    FINAL_JUDGE_MODEL: ("judge_model", _model),
}
"""What each gives, and how it is read."""

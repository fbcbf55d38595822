"""Changes to a recorded panel for a rescoring, and grids of them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from jury_debate.calibrated import mismatch
from jury_debate.presets import checked_threshold
from jury_events.calibration import Calibration
from jury_events.debate_events import DebateOpened
from jury_events.nearest import did_you_mean
from jury_events.panel import Bands, FinalMethod, History, LeastRead, Order, Panel, UnsupportedRule, Weight
from jury_events.reading import ReadingRule
from jury_events.rubric import CriticalCap, DimensionName, Rubric
from jury_events.value import JurorId, Value
from jury_events.verdict_scale import LabelId, OutcomeWord, VerdictScale
from jury_replay.errors import JudgeMissing, NotApplicable, SettingRefused

Mode = Literal["strict", "recount"]

MOST_SETTINGS = 1000
"""Most settings of a grid; each debate has a row for each of them."""

RECOUNT_ONLY = ("rubric", "without", "synthetic")
"""Settings under which no juror was asked: for recounts only."""

STRICT_ONLY = ("order", "history", "reading", "least_read")
"""Settings that change what jurors are shown, or what their answers count with it: not answered by fixed positions."""


class SeatWeight(Value):
    """The weight of one seat in `weighted_average`."""

    juror_id: JurorId
    weight: Weight


class LabelOutcome(Value):
    """Another outcome of one label."""

    label: LabelId
    outcome: OutcomeWord


class CriterionCap(Value):
    """What a criterion caps the outcome at with too few points; `off`: it is not critical."""

    criterion: DimensionName
    cap: CriticalCap | Literal["off"]


class CriterionBound(Value):
    """The share of a criterion's maximum below which it caps the outcome."""

    criterion: DimensionName
    share: Annotated[float, Field(gt=0, le=1)]


class Setting(Value):
    """Changes to a panel; None keeps the recorded value.

    `stagnation_rounds` 0 turns the rule off. `weights` name some seats, the others keep theirs. `without` leaves seats
    out; a quorum that was more than half of the seats is then more than half of those that stay. `synthetic`:
    whether evaluations that stand in for blocked answers are counted, as they were in the recorded debate.
    `unsupported`: what failing verdicts without support count, without effect where no evidence was asked for.
    `calibration`: of the resulting panel; `off`: every verdict stands. `outcomes`, `critical` and `critical_below` name
    some labels and criteria, the others keep theirs. `reading` and `least_read` hold for every seat. `reasoning`: of
    seats that judged again with the agent's reasoning, the first votes count.
    """

    threshold: Annotated[float, AfterValidator(checked_threshold)] | None = None
    max_rounds: Annotated[int, Field(ge=0, le=100)] | None = None
    always_discuss: bool | None = None
    unanimity_ends: bool | None = None
    end_early: bool | None = None
    stagnation_rounds: Annotated[int, Field(ge=0, le=100)] | None = None
    order: Order | None = None
    history: History | None = None
    method: FinalMethod | None = None
    bands: Bands | None = None
    quorum: Annotated[int, Field(ge=1, le=500)] | None = None
    weights: Annotated[tuple[SeatWeight, ...], Field(min_length=1)] | None = None
    rubric: Rubric | None = None
    without: Annotated[tuple[JurorId, ...], Field(min_length=1)] | None = None
    synthetic: Literal["count", "leave_out"] | None = None
    unsupported: UnsupportedRule | None = None
    calibration: Calibration | Literal["off"] | None = None
    outcomes: Annotated[tuple[LabelOutcome, ...], Field(min_length=1)] | None = None
    critical: Annotated[tuple[CriterionCap, ...], Field(min_length=1)] | None = None
    critical_below: Annotated[tuple[CriterionBound, ...], Field(min_length=1)] | None = None
    reading: ReadingRule | None = None
    least_read: LeastRead | None = None
    reasoning: Literal["hide"] | None = None

    @model_validator(mode="after")
    def _seats_named_once(self) -> Self:
        named: tuple[tuple[str, str, Sequence[str]], ...] = (
            ("weights", "a seat", [one.juror_id for one in self.weights or ()]),
            ("without", "a seat", self.without or ()),
            ("outcomes", "a label", [one.label for one in self.outcomes or ()]),
            ("critical", "a criterion", [one.criterion for one in self.critical or ()]),
            ("critical_below", "a criterion", [one.criterion for one in self.critical_below or ()]),
        )
        for field, what, ids in named:
            if len(set(ids)) != len(ids):
                raise ValueError(f"{field}: {what} is named twice in {', '.join(ids)}")
        return self

    @property
    def changes(self) -> dict[str, Any]:
        """What it changes, in the order of the fields."""
        return {key: value for key in KEYS if (value := getattr(self, key)) is not None}

    @cached_property
    def name(self) -> str:
        """`threshold=0.67 method=median`; `as recorded` where it changes nothing."""
        return " ".join(f"{key}={written(value)}" for key, value in self.changes.items()) or "as recorded"

    def apply(self, panel: Panel) -> Panel:
        """The panel under this setting."""
        changes = self.changes
        discussion = {key: changes[key] for key in _DISCUSSION if key in changes}
        if discussion.get("stagnation_rounds") == 0:
            discussion["stagnation_rounds"] = None
        fields: dict[str, Any] = {}
        try:
            if self.without is not None or self.weights is not None:
                seats = fields["seats"] = self._seats(panel)
                stay = {seat.juror_id for seat in seats}
                base = tuple(juror for juror in panel.discussion.speakers.base if juror in stay)
                discussion["speakers"] = panel.discussion.speakers.changed(base=base)
            if discussion:
                fields["discussion"] = panel.discussion.changed(**discussion)
            if read := {name: changes[name] for name in _READING if name in changes}:
                seats = fields.get("seats", panel.seats)
                fields |= read | {"seats": tuple(seat.changed(**dict.fromkeys(read)) for seat in seats)}
            fields |= self._judged_by(panel)
            fields["final"] = panel.final.changed(**self._final(panel))
            if self.unsupported is not None:
                fields["answers"] = panel.answers.changed(unsupported=self.unsupported)
            changed = panel.changed(**fields)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise NotApplicable(first["msg"].removeprefix("Value error, ")) from error
        if changed.answers.unsupported == "halve" and changed.final.method == "median":
            raise NotApplicable("a median has no half votes")
        calibration = changed.final.calibration
        if calibration is not None and (why := mismatch(calibration, changed)):
            raise NotApplicable(f"the calibration {written(calibration)}: {why}; calibration=off leaves it out")
        return changed

    def _seats(self, panel: Panel) -> tuple[Any, ...]:
        weights = {one.juror_id: one.weight for one in self.weights or ()}
        left_out = set(self.without or ())
        for juror_id in (*weights, *left_out):
            if juror_id not in panel.juror_ids:
                raise NotApplicable(f"the panel has no seat {juror_id}; it has {', '.join(panel.juror_ids)}")
        seats = tuple(
            seat.changed(weight=weights.get(seat.juror_id, seat.weight))
            for seat in panel.seats
            if seat.juror_id not in left_out
        )
        if not seats:
            raise NotApplicable("no seat is left")
        return seats

    def _judged_by(self, panel: Panel) -> dict[str, Any]:
        """The scale, the rubric and what is shown of the agent's reasoning, where they change."""
        if self.bands is not None and panel.scale is not None:
            raise NotApplicable("bands have no effect under a scale of the panel's own, whose labels decide")
        if self.reasoning is not None and panel.reasoning is None:
            raise NotApplicable("jurors were shown the agent's reasoning from the beginning")
        fields: dict[str, Any] = {} if self.reasoning is None else {"reasoning": self.reasoning}
        if self.rubric is not None:
            fields["rubric"] = self._rubric(panel)
        if self.critical is not None or self.critical_below is not None:
            fields["rubric"] = self._critical(fields.get("rubric", panel.rubric))
        if self.outcomes is not None:
            fields["scale"] = self._scale(panel)
        return fields

    def _rubric(self, panel: Panel) -> Rubric:
        assert self.rubric is not None
        for name in self.rubric.names:
            if name not in panel.rubric.names:
                raise NotApplicable(f"{name} was not scored; scored were {', '.join(panel.rubric.names)}")
        # What a criterion means, and whether it is critical, does not follow from its weight.
        known = {one.name: one for one in panel.rubric.dimensions}
        return self.rubric.changed(
            dimensions=tuple(known[one.name].changed(maximum=one.maximum) for one in self.rubric.dimensions)
        )

    def _critical(self, rubric: Rubric) -> Rubric:
        caps = {one.criterion: one.cap for one in self.critical or ()}
        shares = {one.criterion: one.share for one in self.critical_below or ()}
        for name in (*caps, *shares):
            if name not in rubric.names or rubric.of_rank:
                raise NotApplicable(f"{name} is no criterion of the panel; its criteria are {_criteria(rubric)}")
        dimensions = []
        for one in rubric.dimensions:
            cap, share = caps.get(one.name, one.critical), shares.get(one.name, one.critical_below)
            off = cap in {None, "off"}
            if off and one.name in shares:
                raise NotApplicable(f"{one.name} is not critical, and has no bound; set critical={one.name}:review too")
            dimensions.append(one.changed(critical=None if off else cap, critical_below=None if off else share))
        return rubric.changed(dimensions=tuple(dimensions))

    def _scale(self, panel: Panel) -> VerdictScale:
        scale = panel.scale
        if scale is None:
            raise NotApplicable("the panel judges in the three verdicts, whose outcomes are themselves")
        outcomes = {one.label: one.outcome for one in self.outcomes or ()}
        for label in outcomes:
            if label not in scale.ids:
                raise NotApplicable(f"the scale has no label {label}; it has {', '.join(scale.ids)}")
        return scale.changed(
            labels=tuple(one.changed(outcome=outcomes.get(one.id, one.outcome)) for one in scale.labels)
        )

    def _final(self, panel: Panel) -> dict[str, Any]:
        final: dict[str, Any] = {}
        if self.calibration is not None:
            final["calibration"] = None if self.calibration == "off" else self.calibration
        if self.bands is not None:
            final["bands"] = self.bands
        if self.quorum is not None:
            final["quorum"] = self.quorum
        elif self.without is not None and panel.final.quorum == _more_than_half(len(panel.seats)):
            final["quorum"] = _more_than_half(len(panel.seats) - len(self.without))
        if self.method is not None:
            final["method"] = self.method
            if self.method != "final_judge":
                final["judge"] = None
            elif panel.final.judge is None:
                raise JudgeMissing("no final judge was asked")
        return final


def _criteria(rubric: Rubric) -> str:
    return ", ".join(one.name for one in rubric.asked) or "none: no points were asked for"


KEYS = tuple(Setting.model_fields)
_DISCUSSION = (
    "threshold", "max_rounds", "always_discuss", "unanimity_ends", "end_early", "stagnation_rounds", "order", "history",
)  # fmt: skip

_READING = ("reading", "least_read")


def written(value: Any) -> str:
    """A value of a setting in its command-line form."""
    match value:
        case bool():
            return "on" if value else "off"
        case Bands():
            return f"{written(value.pass_from)}/{written(value.review_from)}"
        case Rubric():
            table = "/".join(f"{one.name}:{written(one.maximum)}" for one in value.dimensions)
            return table if value.name == CUSTOM else value.name
        case Calibration():
            return value.digest[:12]
        case float():
            return repr(value).removesuffix(".0")
        case tuple() if value and isinstance(value[0], Value):
            return "/".join(":".join(written(part) for _, part in one) for one in value)
        case tuple():
            return "+".join(map(str, value))
        case _:
            return str(value)


CUSTOM = "custom"
"""The name of a rubric that is given as a table."""


class Grid(NamedTuple):
    """Settings that are applied to each debate, which is read once."""

    settings: tuple[Setting, ...]

    @classmethod
    def of(cls, values: Mapping[str, tuple[Any, ...]]) -> "Grid":
        """Every combination of the values given for each key, the last key turning fastest; equal settings once."""
        for key, choices in values.items():
            if key not in KEYS:
                raise SettingRefused(
                    f"there is no setting {key!r}{did_you_mean(key, KEYS)}; settings are {', '.join(KEYS)}"
                )
            if not choices:
                raise SettingRefused(f"{key}: no value is given")
        count = 1
        for choices in values.values():
            count *= len(choices)
        _few_enough(count)
        return cls(tuple(dict.fromkeys(_combinations(values))))

    @classmethod
    def together(cls, grids: "tuple[Grid, ...]") -> "Grid":
        """The settings of several grids, one grid after another; equal settings once."""
        settings = tuple(dict.fromkeys(setting for grid in grids for setting in grid.settings))
        _few_enough(len(settings))
        return cls(settings)

    def check(self, mode: Mode) -> None:
        """Whether `mode` can answer every setting."""
        for key in RECOUNT_ONLY if mode == "strict" else STRICT_ONLY:
            if any(getattr(setting, key) is not None for setting in self.settings):
                raise SettingRefused(f"{key}: {_ELSEWHERE[mode]}")


_ELSEWHERE: Mapping[Mode, str] = {
    "strict": "no juror was asked under it; only a recount, which keeps recorded positions, can answer (--recount)",
    "recount": "it changes what jurors are shown, and a recount keeps recorded positions; only strict can answer",
}


def _combinations(values: Mapping[str, tuple[Any, ...]]) -> Iterator[Setting]:
    for chosen in product(*values.values()):
        try:
            yield Setting.model_validate(dict(zip(values, chosen, strict=True)))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            message = first["msg"].removeprefix("Value error, ")
            raise SettingRefused(f"{place}: {message}" if place else message) from error


def _few_enough(count: int) -> None:
    if count > MOST_SETTINGS:
        raise SettingRefused(f"that makes {count:,} settings; at most {MOST_SETTINGS:,} can be tried in one reading")


def _more_than_half(seats: int) -> int:
    return seats // 2 + 1


_KEPT = 64
"""Different panels whose answers are remembered."""

Applied = Panel | NotApplicable | JudgeMissing
"""A panel under a setting, or why there is none."""


class Panels:
    """Applies every setting of a grid to panels."""

    def __init__(self, grid: Grid) -> None:
        self.settings = grid.settings
        self._known: dict[tuple[int, str], list[tuple[Setting, Applied]]] = {}

    def under(self, opened: DebateOpened) -> Sequence[tuple[Setting, Applied]]:
        """The panel of a debate under each setting, in the order of the grid."""
        key = (opened.prompts, opened.panel.model_dump_json())
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            found = self._known[key] = [(setting, _applied(setting, opened)) for setting in self.settings]
        return found


def _applied(setting: Setting, opened: DebateOpened) -> Applied:
    try:
        return setting.apply(opened.panel)
    except (NotApplicable, JudgeMissing) as error:
        return error

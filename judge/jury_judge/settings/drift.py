"""What a baseline of drift checks, a check and their plan are asked for."""

from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from jury_events.conditions import parse_field
from jury_events.drift_events import MOST_OF_A_STREAM
from jury_judge.errors import SettingsRefused
from jury_judge.settings.cases import CaseSettings
from jury_judge.settings.debates import RunId
from jury_judge.settings.fields import checked_run_id
from jury_judge.settings.judging import PRICES, PanelSettings, PriceList
from jury_judge.settings.run import RunningSettings, RunSettings
from jury_judge.settings_model import Option, SettingsModel

ALPHA = 0.05
DRAWS = 10
"""Of a baseline of drift checks."""

_LONGEST = 60


def checked_drift_id(value: str) -> str:
    """The id of a baseline; its runs add to it."""
    if len(value) > _LONGEST:
        raise ValueError(f"has more than {_LONGEST} characters")
    try:
        return checked_run_id(value)
    except ValueError:
        raise ValueError("cannot name a baseline; use letters, digits, dots, hyphens, underscores") from None


DriftId = Annotated[str, AfterValidator(checked_drift_id)]
Share = Annotated[float, Field(gt=0, lt=1)]
Draws = Annotated[int, Field(ge=1, le=1000)]
Anchors = Annotated[int, Field(ge=1, le=10_000)]
Replenish = Annotated[int, Field(ge=0, le=99)]

_baseline = partial(Option, group="The baseline")
_check = partial(Option, group="The check")
_plan = partial(Option, group="The plan")
_counts = partial(Option, group="What counts")
_REPLENISH = _check(help="Judge each anchor so many more times, for the end of the queue of draws.")


class BetSettings(SettingsModel):
    """What a baseline is of: its anchors, what is looked for in them, and how often that alarms falsely."""

    paths: Annotated[tuple[str, ...], Field(exclude=True)] = ()
    balanced: Annotated[
        bool,
        _counts(
            help="Look for changes that balance too: each later judging then uses up two draws.",
            name="--balanced/--not-balanced",
        ),
    ] = True
    alpha: Annotated[Share, _counts(help="Chance of a false alarm over the life of the baseline.")] = ALPHA


class AnchorSettings(RunningSettings):
    """How anchors are judged, as of `RunSettings`; `drift_id` names the baseline."""

    drift_id: Annotated[DriftId, Field(exclude=True)]

    @property
    def draws_run(self) -> str:
        """The run of its draws."""
        return f"{self.drift_id}.draws"

    def of_run(self, run_id: str, repeat: int) -> RunSettings:
        """The run in which the anchors are judged so often."""
        return RunSettings.like(self, run_id=run_id, repeat=repeat)


class DriftBaselineSettings(CaseSettings, PanelSettings, BetSettings, AnchorSettings):
    """`jury drift baseline`: labelled cases, the anchors, that are judged several times.

    Without `paths` the baseline is in the store, and goes on. With `balanced` each later judging uses up two draws.
    """

    draws: Annotated[
        Draws | None,
        _baseline(help=f"Judgings of each anchor; a larger number adds some. [default: {DRAWS}]"),
    ] = None
    daily: Annotated[bool, _baseline(help="One draw a day: each call judges the one that is due.")] = False
    toss: Annotated[
        Literal["pair", "check"],
        _counts(
            help="What counts once: each pair; or each check by its majority, where judges vary from day to day.",
            rare=True,
        ),
    ] = "pair"
    stream_run: Annotated[
        RunId | None,
        _counts(help="A run of the agent's own cases: later runs are compared with it.", name="--run", metavar="RUN"),
    ] = None
    stratum: Annotated[
        Annotated[str, AfterValidator(parse_field)] | None,
        _counts(help="Pair its cases within a field, as cluster or metadata.intent.", metavar="FIELD"),
    ] = None

    def model_post_init(self, context: Any) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if self.stratum is not None and self.stream_run is None:
            raise SettingsRefused("{stratum} is of the cases of a stream: name its run with {stream_run}")
        if self.paths and (self.draws or DRAWS) < (needed := 2 if self.balanced and self.toss == "pair" else 1):
            raise SettingsRefused(f"{{draws}}: a later judging uses up {needed} draws")


class DriftCheckSettings(AnchorSettings):
    """`jury drift check`: anchors judged again, each beside what it came to in the baseline."""

    panel_name: Annotated[
        str | None,
        Option(
            help="The panel file, where the log does not have all of how its models are reached.",
            group="Jurors",
            name="--panel",
            metavar="FILE",
        ),
    ] = None
    pairs: Annotated[Anchors | None, _check(help="So many anchors, judged least often. [default: all]")] = None
    replenish: Annotated[Replenish, _REPLENISH] = 0
    stream_run: Annotated[
        RunId | None,
        _check(
            help="A run of the agent's own cases, judged by the same panel: did the agent change, or its judge?",
            name="--run",
            metavar="RUN",
        ),
    ] = None
    stream_pairs: Annotated[
        Annotated[int, Field(ge=1, le=MOST_OF_A_STREAM)] | None,
        _check(
            help="So many cases of the run at most; the next check goes on with it. [default: as many as anchors]",
            name="--run-pairs",
            metavar="N",
        ),
    ] = None

    def model_post_init(self, context: Any) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if self.stream_pairs is not None and self.stream_run is None:
            raise SettingsRefused("{stream_pairs} is of the cases of a stream: name its run with {stream_run}")


class DriftPlanSettings(CaseSettings, PanelSettings, BetSettings):
    """`jury drift plan`: nothing is judged. Without `paths` the bundled case stands for each anchor."""

    anchors: Annotated[Anchors | None, _plan(help="How many. [default: as many as FILE has, else 100]")] = None
    draws: Annotated[Draws, _plan(help="Judgings of each.")] = DRAWS
    pairs: Annotated[Anchors | None, _plan(help="Anchors that a check judges. [default: all]")] = None
    replenish: Annotated[Replenish, replace(_REPLENISH, group="The plan")] = 0
    every: Annotated[float, Field(gt=0, le=366), _plan(help="Days between checks.", metavar="DAYS")] = 7.0
    prices: Annotated[PriceList, PRICES] = None

    @property
    def run(self) -> RunSettings:
        """The run that would judge the anchors once, in a store that is not there."""
        return RunSettings.like(self, store_url="sqlite:///:none:", in_process=True)

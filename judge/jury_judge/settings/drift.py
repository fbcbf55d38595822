"""What a baseline of drift checks, and a check, are asked for."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from jury_actors.store_retry import STORE_PATIENCE
from jury_events.conditions import parse_field
from jury_judge.errors import SettingsRefused
from jury_judge.settings.cases import CaseSettings
from jury_judge.settings.judging import Budget, PanelSettings, PriceList, RuntimeSettings, SealSettings
from jury_judge.settings.run import LONGEST_PATIENCE, MOST_AT_ONCE, RunSettings, checked_run_id

ALPHA = 0.05
DRAWS = 10
"""Of a baseline of drift checks."""

_LONGEST = 60


def checked_drift_id(value: str) -> str:
    """The id of a baseline; its runs add to it.

    Raises:
        ValueError: it cannot be one.
    """
    if len(value) > _LONGEST:
        raise ValueError(f"has more than {_LONGEST} characters")
    try:
        return checked_run_id(value)
    except ValueError:
        raise ValueError("cannot name a baseline; use letters, digits, dots, hyphens, underscores") from None


DriftId = Annotated[str, AfterValidator(checked_drift_id)]
Share = Annotated[float, Field(gt=0, lt=1)]


class _Judging(RuntimeSettings, Budget, SealSettings):
    """How anchors are judged, as of `RunSettings`; `drift_id` names the baseline."""

    file_names: ClassVar[Mapping[str, str]] = {**RunSettings.file_names, "drift_id": "id", "stream_run": "run"}
    variables: ClassVar[Mapping[str, str]] = RunSettings.variables

    drift_id: Annotated[DriftId, Field(exclude=True)]
    store_url: str | None = None
    concurrency: Annotated[int, Field(ge=1, le=MOST_AT_ONCE)] = 64
    store_patience: Annotated[float, Field(ge=0, le=LONGEST_PATIENCE)] = STORE_PATIENCE

    def of_run(self, run_id: str, repeat: int, **bounds: Any) -> RunSettings:
        """The run in which the anchors are judged so often."""
        fields = {name: value for name, value in self if name in RunSettings.model_fields}
        return RunSettings.of(**{**fields, "run_id": run_id, "repeat": repeat, **bounds})


class DriftBaselineSettings(CaseSettings, PanelSettings, _Judging):
    """`jury drift baseline`: labelled cases, the anchors, that are judged several times.

    Attributes:
        paths: files with the anchors; (): the baseline is in the store, and goes on.
        draws: judgings of each anchor; None: 10, or as many as the baseline has. A larger number adds some.
        daily: one draw a day: a call judges the one that is due.
        balanced: changes that balance are looked for too, for which each later judging uses up two draws.
        toss: whether each pair, or each check by its majority, is a toss of the coin.
        alpha: the chance of a false alarm over the life of the baseline.
        stream_run: a run whose cases later cases of the stream are compared with.
        stratum: a field of cases: those of the stream are paired within its values; None: within all.

    Raises:
        SettingsRefused: settings do not go together.
    """

    paths: Annotated[tuple[str, ...], Field(exclude=True)] = ()
    draws: Annotated[int, Field(ge=1, le=1000)] | None = None
    daily: bool = False
    balanced: bool = True
    toss: Literal["pair", "check"] = "pair"
    alpha: Share = ALPHA
    stream_run: str | None = None
    stratum: Annotated[str, AfterValidator(parse_field)] | None = None

    def model_post_init(self, context: Any) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if self.stratum is not None and self.stream_run is None:
            raise SettingsRefused("{stratum} is of the cases of a stream: name its run with {stream_run}")
        if self.paths and (self.draws or DRAWS) < (needed := 2 if self.balanced and self.toss == "pair" else 1):
            raise SettingsRefused(f"{{draws}}: a later judging uses up {needed} draws")


class DriftCheckSettings(_Judging):
    """`jury drift check`: anchors judged again, each beside what it came to in the baseline.

    Attributes:
        panel_name: the panel file, where the log does not have all of how its models are reached.
        pairs: so many anchors, those that were judged least often; None: all.
        replenish: so many further judgings of each, which go to the end of the queue of draws.
        stream_run: a run whose cases are compared with those of the baseline's stream.
    """

    panel_name: str | None = None
    pairs: Annotated[int, Field(ge=1)] | None = None
    replenish: Annotated[int, Field(ge=0, le=99)] = 0
    stream_run: str | None = None


class DriftPlanSettings(CaseSettings, PanelSettings):
    """`jury drift plan`: nothing is judged.

    Attributes:
        paths: files with the anchors; (): the bundled case stands for each.
        anchors: how many; None: as many as the files have, without files 100.
        draws: judgings of each in the baseline.
        pairs: anchors that a check judges; None: all.
        replenish: as of `DriftCheckSettings`, as of `balanced` and `alpha` of `DriftBaselineSettings`.
        every: days between checks.
        prices: as of `Budget`.
    """

    file_names: ClassVar[Mapping[str, str]] = RunSettings.file_names
    variables: ClassVar[Mapping[str, str]] = RunSettings.variables

    paths: Annotated[tuple[str, ...], Field(exclude=True)] = ()
    anchors: Annotated[int, Field(ge=1, le=10_000)] | None = None
    draws: Annotated[int, Field(ge=1, le=1000)] = DRAWS
    pairs: Annotated[int, Field(ge=1, le=10_000)] | None = None
    replenish: Annotated[int, Field(ge=0, le=99)] = 0
    balanced: bool = True
    alpha: Share = ALPHA
    every: Annotated[float, Field(gt=0, le=366)] = 7.0
    prices: PriceList = None

    @property
    def run(self) -> RunSettings:
        """The run that would judge the anchors once, in a store that is not there."""
        fields = {name: value for name, value in self if name in RunSettings.model_fields}
        return RunSettings.of(**{**fields, "store_url": "sqlite:///:none:", "in_process": True})

"""What judges, and how: the panel, where debates run, what may be spent, calls in batches, the seals of the log."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator

from jury_actors.admission.budget import Ceiling, Spent
from jury_debate.presets import PRESETS, checked_threshold
from jury_events.nearest import did_you_mean
from jury_events.panel import FinalMethod, Language
from jury_judge.errors import SettingsRefused, escaped
from jury_judge.panels.variables import (
    CONSENSUS_THRESHOLD,
    FINAL_JUDGE_MODEL,
    FINAL_JUDGMENT_METHOD,
    MAX_DISCUSSION_ROUNDS,
    MOST_ROUNDS,
    USE_COLLABORATIVE,
    Overrides,
)
from jury_judge.settings.model import SettingsModel
from jury_providers.prices import PRICES_ENV, Prices, load_prices
from jury_providers.simulated.script import NO_FAULTS, BadScript, Script, parse_script

NOTHING_SPENT = Spent()


def _prices(value: Any) -> Any:
    if value is None or isinstance(value, Prices | str):
        return value
    raise ValueError("must be the path of a price file")


PriceList = Annotated[Prices | str | None, PlainValidator(_prices)]


class Budget(SettingsModel):
    """Bounds in calls and US dollars. Of a run they hold over all its sessions; of a `Jury` over its life.

    Attributes:
        max_calls: model calls at most.
        max_cost: US dollars at most.
        prices: of models, before the list prices: a file (TOML), or what was read; None is `JURY_PRICES`.
        spent: counts against both from the start, as of earlier sessions of a run.
        lease_of: the run whose spending at most is stored before its calls are made; None: the bounds end with the
            process.
    """

    max_calls: Annotated[int, Field(ge=0)] | None = None
    max_cost: Annotated[float, Field(ge=0, le=1e9)] | None = None
    prices: PriceList = None
    spent: Spent = Field(default=NOTHING_SPENT, exclude=True)
    lease_of: str | None = Field(default=None, exclude=True)

    def price_list(self, environ: Mapping[str, str]) -> Prices:
        """The prices.

        Raises:
            BadPrices: the file cannot be read.
        """
        if isinstance(self.prices, Prices):
            return self.prices
        return load_prices(self.prices or environ.get(PRICES_ENV, "").strip() or None)

    @property
    def ceiling(self) -> Ceiling:
        """As the actors take it."""
        return Ceiling(self.max_calls, self.max_cost, self.spent, self.lease_of)


def _known(preset: Any) -> Any:
    if preset not in PRESETS:
        raise ValueError(f"must be one of {', '.join(PRESETS)}{did_you_mean(preset, PRESETS)}")
    return preset


def usable_threshold(value: float) -> float:
    """A consensus threshold.

    Raises:
        ValueError: it cannot be one; the message says what may be.
    """
    return checked_threshold(value)


class PanelSettings(SettingsModel):
    """The panel, and what overrides its file.

    Attributes:
        panel_name: a panel file, a bundled jury or a preset; None is the default preset with simulated jurors.
        preset: the rules of the discussion, with any jurors.
        language: of the prompts.
        max_rounds: discussion rounds at most.
        threshold: of the consensus.
        method: of the final judgment.
        judge_model: the final judge's.
        seat_models: those of the seats, where no panel file names them.
    """

    file_names: ClassVar[Mapping[str, str]] = {"panel_name": "panel", "seat_models": "model"}
    variables: ClassVar[Mapping[str, str]] = {
        "preset": USE_COLLABORATIVE,
        "max_rounds": MAX_DISCUSSION_ROUNDS,
        "threshold": CONSENSUS_THRESHOLD,
        "method": FINAL_JUDGMENT_METHOD,
        "judge_model": FINAL_JUDGE_MODEL,
    }

    panel_name: str | None = None
    preset: Annotated[str, AfterValidator(_known)] | None = None
    language: Language | None = None
    max_rounds: Annotated[int, Field(ge=0, le=MOST_ROUNDS)] | None = None
    threshold: Annotated[float, AfterValidator(usable_threshold)] | None = None
    method: FinalMethod | None = None
    judge_model: str | None = None
    seat_models: tuple[str, ...] = ()

    @property
    def overrides(self) -> Overrides:
        """What overrides the panel."""
        return Overrides(
            self.language, self.max_rounds, self.threshold, self.method, self.judge_model, self.preset, self.seat_models
        )


MOST_PROCESSES = 64


def _automatic(value: Any) -> Any:
    return None if value == "auto" else value


Processes = Annotated[Annotated[int, Field(ge=1, le=MOST_PROCESSES, strict=True)] | None, BeforeValidator(_automatic)]
"""A number of processes; None, or `auto`: as many as the CPUs can use."""


def _simulate(value: Any) -> Any:
    if isinstance(value, Script):
        return value
    if isinstance(value, Mapping):
        return {str(name): str(given) for name, given in value.items()}
    raise ValueError("must be a table of settings, as in latency: 0.5")


Simulation = Annotated[Script | dict[str, str], PlainValidator(_simulate)]


class RuntimeSettings(SettingsModel):
    """In this process, or on Ray; and how simulated jurors behave there.

    Attributes:
        in_process: in this process.
        ray: on a local Ray cluster.
        ray_address: on the Ray cluster at `host:port`.
        ray_open_cluster: join it even if it requires no token (`docs/ray.md`).
        replicas: juror processes a seat, on Ray; None: as many as its CPUs can serve, also while nodes join and leave.
        coordinators: processes that share the debates, on Ray; None: as its CPUs can use them (`docs/capacity.md`).
        simulate: latencies and faults of simulated jurors: a `Script`, or its settings as texts by name.
    """

    in_process: bool = False
    ray: bool = False
    ray_address: Annotated[str, Field(pattern=r"^[^\s:]+:[0-9]{1,5}$")] | None = None
    ray_open_cluster: bool = False
    replicas: Processes = None
    coordinators: Processes = None
    simulate: Simulation = NO_FAULTS

    def model_post_init(self, context: Any) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if self.ray_open_cluster and self.ray_address is None:
            raise SettingsRefused("{ray_open_cluster} has no effect without {ray_address} HOST:PORT")
        if self.in_process and (self.ray or self.ray_address is not None):
            raise SettingsRefused("{in_process} does without Ray: leave out either it, or {ray} and {ray_address}")

    @property
    def asked_in_process(self) -> bool | None:
        """Whether this process (True) or Ray (False) is asked for; None if neither is."""
        if self.in_process:
            return True
        on_ray = self.ray or self.ray_address is not None
        return False if on_ray or max(self.replicas or 1, self.coordinators or 1) > 1 else None

    def script(self, models: Iterable[str]) -> Script:
        """The behaviour of the simulated ones among a panel's `models`.

        Raises:
            SettingsRefused: it cannot be read, or none of the models would follow it.
        """
        if isinstance(self.simulate, Script):
            return self.simulate
        try:
            script = parse_script(self.simulate)
        except BadScript as error:
            raise SettingsRefused(f"{{simulate}} {escaped(str(error))}", usage=False) from error
        if self.simulate and not any(model.startswith("simulated/") for model in models):
            raise SettingsRefused(
                "{simulate} has no effect without simulated jurors; jury simulate serves faults to real SDKs",
                usage=False,
            )
        return script


class SealSettings(SettingsModel):
    """The key that seals, and how often.

    Attributes:
        seal_key: the file of the private key; None: nothing is sealed.
        seal_last: the file of its last signature; None: beside the key.
        seal_every: seconds between two seals; there is one more at the end.
    """

    seal_key: Path | None = None
    seal_last: Path | None = None
    seal_every: Annotated[float, Field(ge=0.1, le=86_400)] = 60.0


Hours = Annotated[float, Field(gt=0, le=24 * 28)]


class BatchSettings(SettingsModel):
    """See `docs/batches.md`.

    Attributes:
        batch: calls go into batches where their provider has any.
        once: make one pass, and do not wait for answers.
        batch_deadline: hours after which a provider is asked to end a batch, if it says that it has not ended.
        batch_same_account: the API keys of now are of the accounts that have the open batches.
    """

    batch: bool = False
    once: bool = False
    batch_deadline: Hours = 26.0
    batch_same_account: bool = False

    def model_post_init(self, context: Any) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if not self.batch:
            for name, field in BatchSettings.model_fields.items():
                if name != "batch" and getattr(self, name) != field.default:
                    raise SettingsRefused(f"{{{name}}} has no effect without {{batch}}")

"""Where debates run."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainValidator

from jury_judge.errors import SettingsRefused, escaped
from jury_judge.settings.model import SettingsModel
from jury_providers.simulated.script import NO_FAULTS, BadScript, Script, parse_script

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

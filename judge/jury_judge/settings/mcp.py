"""The settings of a server of the Model Context Protocol."""

from typing import Annotated, Any

from pydantic import AfterValidator

from jury_judge.errors import SettingsRefused
from jury_judge.settings.budget import Budget
from jury_judge.settings.listening import ListeningSettings
from jury_judge.settings.panel import PanelSettings
from jury_judge.settings.run import RunSettings, checked_run_id
from jury_judge.settings.runtime import Simulation
from jury_providers.simulated.script import NO_FAULTS

_OF_JUDGING = (*PanelSettings.model_fields, "max_calls", "max_cost", "prices", "simulate")
_OF_HTTP = ("host", "port", "hosts")


class McpSettings(ListeningSettings, PanelSettings, Budget):
    """What a server of the Model Context Protocol reads, and into which run it judges.

    Attributes:
        run_id: judge into this run; None: the server reads alone.
        store_url: `sqlite:///PATH` or `postgresql://…`; None is `JURY_STORE_URL`, else `sqlite:///jury.db`.
        simulate: latencies and faults of simulated jurors: a `Script`, or its settings as texts by name.
        http: listen for HTTP instead of standard input and output.
    """

    run_id: Annotated[str, AfterValidator(checked_run_id)] | None = None
    store_url: str | None = None
    simulate: Simulation = NO_FAULTS
    http: bool = False
    port: int = 8766

    def model_post_init(self, context: Any) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if self.run_id is None and (given := self._given(_OF_JUDGING)) is not None:
            raise SettingsRefused(f"{{{given}}} is about judging, which needs {{run_id}} ID; give it too")
        if not self.http and (given := self._given(_OF_HTTP)) is not None:
            raise SettingsRefused(f"{{{given}}} is about {{http}}; give it too")

    def _given(self, names: tuple[str, ...]) -> str | None:
        fields = type(self).model_fields
        nothing: dict[str, str] = {}  # what a command without `--simulate` gives
        return next((name for name in names if getattr(self, name) not in (fields[name].get_default(), nothing)), None)

    @property
    def run(self) -> RunSettings:
        """The settings of the run into which cases are judged, in this process."""
        named = {name: getattr(self, name) for name in _OF_JUDGING}
        return RunSettings.of(run_id=self.run_id, store_url=self.store_url, in_process=True, **named)

"""The settings of a run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field

from jury_actors.store_retry import STORE_PATIENCE
from jury_events.ids import MOST_REPEATS, is_run_id, reachable
from jury_judge.errors import SettingsRefused
from jury_judge.settings.batches import BatchSettings
from jury_judge.settings.budget import Budget
from jury_judge.settings.cases import CaseSettings
from jury_judge.settings.panel import PanelSettings
from jury_judge.settings.reports import ReportSettings
from jury_judge.settings.runtime import RuntimeSettings
from jury_judge.settings.seals import SealSettings
from jury_judge.settings.store import STORE_URL
from jury_providers.prices import PRICES_ENV

MOST_AT_ONCE = 100_000
LONGEST_PATIENCE = 86_400


def checked_run_id(value: str) -> str:
    """The id of a run that may not be there yet.

    Raises:
        ValueError: it cannot be one.
    """
    if not is_run_id(value) or not reachable(value):
        raise ValueError("cannot name a run; use 1 to 100 letters, digits, dots, hyphens, underscores")
    return value


class RunSettings(CaseSettings, PanelSettings, RuntimeSettings, Budget, SealSettings, ReportSettings, BatchSettings):
    """What a run is asked for, besides its cases: the options of `jury run`, a settings file, arguments in Python.

    Attributes:
        run_id: names the run; the same id resumes it. None generates an id.
        store_url: `sqlite:///PATH` or `postgresql://…`; None is `JURY_STORE_URL`, else `sqlite:///jury.db`.
        concurrency: debates at once.
        repeat: debates a case; a larger number adds debates to a run.
        strict: refuse cases with parts that no juror would be shown.
        adopt: files of public keys: an imported debate counts as judged if its seal is signed by one of them.
        trust: files of public keys: the panel's calibration must be signed by one of them.
        store_patience: seconds for which a store that cannot be written is tried again, while answers are kept.
        otel: send a trace of each debate that ends, as the standard variables of OpenTelemetry say.
    """

    file_names: ClassVar[Mapping[str, str]] = {
        **CaseSettings.file_names,
        **PanelSettings.file_names,
        "run_id": "run",
        "store_url": "store",
    }
    variables: ClassVar[Mapping[str, str]] = {**PanelSettings.variables, "store_url": STORE_URL, "prices": PRICES_ENV}

    run_id: Annotated[str, AfterValidator(checked_run_id)] | None = None
    store_url: str | None = None
    concurrency: Annotated[int, Field(ge=1, le=MOST_AT_ONCE)] = 64
    repeat: Annotated[int, Field(ge=1, le=MOST_REPEATS)] = 1
    strict: bool = False
    adopt: tuple[Path, ...] = ()
    trust: tuple[Path, ...] = ()
    store_patience: Annotated[float, Field(ge=0, le=LONGEST_PATIENCE)] = STORE_PATIENCE
    otel: bool = False

    def model_post_init(self, context: Any) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if self.batch and self.asked_in_process is False:
            raise SettingsRefused(
                "{batch} needs one process: leave out {ray}, {ray_address}, {replicas}, {coordinators}"
            )

    def changed(self, **fields: Any) -> "RunSettings":
        """The same with other values of these fields."""
        return RunSettings.of(**{**dict(self), **fields})

"""Which twins of cases are judged, how, and what is reported of them."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from jury_actors.store_retry import STORE_PATIENCE
from jury_judge.errors import SettingsRefused
from jury_judge.settings.budget import Budget
from jury_judge.settings.cases import CaseSettings
from jury_judge.settings.panel import PanelSettings
from jury_judge.settings.run import LONGEST_PATIENCE, MOST_AT_ONCE, RunSettings, checked_run_id
from jury_judge.settings.runtime import RuntimeSettings
from jury_judge.settings.seals import SealSettings
from jury_judge.settings.vote_defaults import TOLERATED

ProbeName = Literal[
    "speakers", "scenarios", "records", "length", "format", "master-key", "injection", "marking", "identity"
]


class ProbeSettings(CaseSettings, PanelSettings, RuntimeSettings, Budget, SealSettings):
    """`jury probe`: twins of cases that are judged beside them, and the report of a run with twins.

    Attributes:
        paths: files with the cases; (): nothing is judged, the run is reported on.
        probes: whose twins are judged.
        run_id: of the cases and their twins; None generates one.
        store_url: as of `RunSettings`, as of `concurrency`, `strict` and `store_patience`.
        labels: files of labels that came later, or `reviews`: those of the store.
        include_simulated: debates of simulated jurors count too.
        tolerate: share of answers without content that a juror may pass before that is a finding.

    Raises:
        SettingsRefused: nothing is named to be judged or reported on.
    """

    file_names: ClassVar[Mapping[str, str]] = {**RunSettings.file_names, "probes": "probe"}
    variables: ClassVar[Mapping[str, str]] = RunSettings.variables

    paths: Annotated[tuple[str, ...], Field(exclude=True)] = ()
    probes: tuple[ProbeName, ...] = ()
    run_id: Annotated[str, AfterValidator(checked_run_id)] | None = None
    store_url: str | None = None
    concurrency: Annotated[int, Field(ge=1, le=MOST_AT_ONCE)] = 64
    strict: bool = False
    store_patience: Annotated[float, Field(ge=0, le=LONGEST_PATIENCE)] = STORE_PATIENCE
    labels: tuple[str, ...] = ()
    include_simulated: bool = False
    tolerate: Annotated[float, Field(ge=0, lt=1)] = TOLERATED

    def model_post_init(self, context: Any) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if not self.paths and (self.run_id is None or self.probes):
            raise SettingsRefused("name case files and probes with {probes}, or a run to report on with {run_id}")
        if self.paths and not self.probes:
            raise SettingsRefused("say which probes: {probes} length,master-key …, or {probes} all")

    @property
    def run(self) -> RunSettings:
        """What the runs of the cases and their twins are asked for."""
        return RunSettings.of(**{name: value for name, value in self if name in RunSettings.model_fields})

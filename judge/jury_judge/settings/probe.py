"""Which twins of cases are judged, and what is reported of them."""

from typing import Annotated, Literal

from pydantic import Field

from jury_judge.errors import SettingsRefused
from jury_judge.settings.model import SettingsModel
from jury_judge.settings.vote_defaults import TOLERATED

ProbeName = Literal["speakers", "scenarios", "records", "length", "format", "master-key", "injection", "identity"]


class ProbeSettings(SettingsModel):
    """`jury probe`: twins of cases that are judged beside them, and the report of a run with twins.

    Attributes:
        paths: files with the cases; (): nothing is judged, the run is reported on.
        probes: whose twins are judged.
        run_id: of the cases and their twins; None: a new run.
        store_url: of the store; None: that of the environment, else the default.
        labels: files of labels that came later, or `REVIEWS`.
        include_simulated: debates of simulated jurors count too.
        tolerate: share of answers without content that a juror may pass before that is a finding.

    Raises:
        SettingsRefused: nothing is named to be judged or reported on.
    """

    paths: tuple[str, ...] = ()
    probes: tuple[ProbeName, ...] = ()
    run_id: str | None = None
    store_url: str | None = None
    labels: tuple[str, ...] = ()
    include_simulated: bool = False
    tolerate: Annotated[float, Field(ge=0, lt=1)] = TOLERATED

    def model_post_init(self, _context: object) -> None:
        """Refuse settings that do not go together."""
        if not self.paths and (self.run_id is None or self.probes):
            raise SettingsRefused("name case files and probes with {probes}, or a run to report on with {run_id}")
        if self.paths and not self.probes:
            raise SettingsRefused("say which probes: {probes} length,master-key …, or {probes} all")

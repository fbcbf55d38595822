"""What a run, a fork and a probe are asked for, besides what they judge."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, ConfigDict, Field

from jury_actors.store_retry import STORE_PATIENCE
from jury_events.errors import SettingError
from jury_events.ids import MOST_REPEATS, is_run_id, reachable
from jury_events.panel import Switch
from jury_events.text import visible_line
from jury_events.verdict import Verdict
from jury_events.verdict_scale import VerdictScale
from jury_judge.errors import SettingsRefused, escaped
from jury_judge.report_files import check_report_path
from jury_judge.settings.cases import CaseSettings
from jury_judge.settings.judging import BatchSettings, Budget, PanelSettings, RuntimeSettings, SealSettings
from jury_judge.settings.model import SettingsModel
from jury_judge.settings.statistics import TOLERATED
from jury_judge.settings.store import STORE_URL
from jury_providers.prices import PRICES_ENV
from jury_views.reports import junit, markdown
from jury_views.reports.fail_conditions import FailCondition, parse_fail_condition


class ReportSettings(SettingsModel):
    """The conditions on which a run fails, and the files of its reports.

    Attributes:
        fail_on: verdicts, or labels of the panel's scale, any of which fails the run.
        fail_if: conditions over the finished debates, as `no_quorum>2%` or `wrong>2%`.
        junit: a JUnit XML file.
        markdown: a summary in Markdown.
        reasons: whether results and reports say why verdicts came.
        quotes: whether reasons of the summary in Markdown keep the words that they quote.
    """

    fail_on: tuple[str, ...] = ()
    fail_if: tuple[str, ...] = ()
    junit: Path | None = None
    markdown: Path | None = None
    reasons: Switch = "on"
    quotes: bool = False

    def model_post_init(self, context: Any) -> None:
        """Refuse settings that do not go together, or cannot be read."""
        super().model_post_init(context)
        _ = self.conditions  # whether a name is a label is known when the panel is: `check_conditions`
        if self.junit and self.markdown and self.junit.resolve() == self.markdown.resolve():
            raise SettingsRefused("{junit} and {markdown} name the same file")

    @property
    def conditions(self) -> tuple[FailCondition, ...]:
        """All conditions, each once.

        Raises:
            SettingsRefused: one cannot be read.
        """
        return self._parsed(None)

    def check_conditions(self, scale: VerdictScale | None) -> None:
        """Check that each condition names what is counted.

        Args:
            scale: the panel's own; None: it judges in the three verdicts.

        Raises:
            SettingsRefused: a name is neither a count nor a label of the scale.
        """
        labels = () if scale is None else scale.ids
        _ = self._parsed(labels)
        known = (*(verdict.value for verdict in Verdict), *labels)
        for name in self.fail_on:
            if name not in known:
                shown = visible_line(repr(name), 60)
                raise SettingsRefused(
                    f"{{fail_on}} {escaped(shown)} is no verdict{_of(scale)}; it is one of {', '.join(known)}",
                    usage=False,
                )

    def _parsed(self, labels: Sequence[str] | None) -> tuple[FailCondition, ...]:
        try:
            parsed = [parse_fail_condition(text, labels) for text in self.fail_if]
        except SettingError as error:
            raise SettingsRefused(f"{{fail_if}} {escaped(str(error))}", usage=False) from None
        return tuple(dict.fromkeys((*(FailCondition(one) for one in self.fail_on), *parsed)))

    @property
    def reports(self) -> bool:
        """Whether any file is to be written."""
        return self.junit is not None or self.markdown is not None

    def check_files(self) -> None:
        """Check, before anything is judged, that the files may be written.

        Raises:
            ReportRefused: a folder is missing, or something else stands there.
        """
        for path, form in ((self.junit, junit), (self.markdown, markdown)):
            if path is not None:
                check_report_path(path, form.BEGINS)


def _of(scale: VerdictScale | None) -> str:
    return "" if scale is None else f" or label of the scale {escaped(visible_line(scale.name, 60))}"


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


MOST_SUBMITTED_AT_ONCE = 1000


class SubmissionSettings(RunSettings):
    """What a client may ask of a run: its id, and how many debates run at once.

    Panel, budget, runtime and store are the server's. Without `concurrency`, so is the number of debates at once.
    """

    model_config = ConfigDict(coerce_numbers_to_str=False)  # in JSON a text is a text

    concurrency: Annotated[int, Field(ge=1, le=MOST_SUBMITTED_AT_ONCE)] = 64

    @property
    def asked_at_once(self) -> int | None:
        """How many debates are to run at once; None: the client leaves it to the server."""
        return self.concurrency if "concurrency" in self.model_fields_set else None


class ForkSettings(PanelSettings, RuntimeSettings):
    """What a fork is asked for, besides its origin and event.

    Attributes:
        store_url: of the store; None is `JURY_STORE_URL`, else `sqlite:///jury.db`.
        models: `provider/model` by seat, instead of the panel's.
        as_id: the branch's id; None: one that follows from origin, event and panel.
    """

    store_url: str | None = None
    models: dict[str, str] = Field(default_factory=dict)
    as_id: str | None = None


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

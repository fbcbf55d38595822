"""What a run, a fork and a probe are asked for, besides what they judge."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from jury_actors.store_retry import STORE_PATIENCE
from jury_events.errors import SettingError
from jury_events.ids import MOST_REPEATS
from jury_events.nearest import did_you_mean
from jury_events.panel import Switch
from jury_events.text import visible_line
from jury_events.verdict import FAIL, Verdict
from jury_events.verdict_scale import VerdictScale
from jury_judge.errors import SettingsRefused, escaped
from jury_judge.report_files import check_report_path
from jury_judge.settings.cases import CaseSettings
from jury_judge.settings.fields import (
    DRIFT_CHECK,
    LABELS,
    STORE,
    Age,
    Stored,
    StoreUrl,
    checked_debate_id,
    checked_run_id,
    parted,
)
from jury_judge.settings.jury import Budget, PanelSettings, RuntimeSettings
from jury_judge.settings_model import Option, SettingsModel
from jury_views.tally import FailCondition, parse_fail_condition

THE_RUN = "The run"
_run = partial(Option, group=THE_RUN)
_results = partial(Option, group="Results")
_seals = partial(Option, group="Seals", rare=True)
_batches = partial(Option, group="Calls in batches")

PATIENCE = Option(
    help="If the store cannot be written, keep the answers of models in memory and try again for so long.",
    group="When the store fails",
    metavar="SECONDS",
    rare=True,
)
TRACES = Option(
    help="Send an OpenTelemetry trace of each debate that ends, without texts, to where the standard variables say, as "
    "OTEL_EXPORTER_OTLP_ENDPOINT. Needs jury-judge[otel].  [$JURY_OTEL]",
    group="What can be observed",
    environ="JURY_OTEL",
    rare=True,
)


class ReportSettings(SettingsModel):
    """The conditions on which a run fails, and the files of its reports.

    `fail_on` has verdicts, or labels of the panel's scale; `fail_if` conditions over the finished debates.
    """

    fail_on: Annotated[
        tuple[str, ...], _results(help="Exit with 1 if a debate ends so. Repeatable.", metavar="VERDICT")
    ] = ()
    fail_if: Annotated[
        tuple[str, ...],
        _results(
            help=f"Exit with 1 if this holds of the judged share, as {FAIL}>2%, no_verdict>5% "
            "(docs/reference/exit-codes.md); of the true rate: jury gate --true. Repeatable.",
            metavar="COND",
        ),
    ] = ()
    junit: Annotated[Path | None, _results(help="Write a JUnit XML file, one test case a case.", metavar="FILE")] = None
    markdown: Annotated[
        Path | None,
        _results(help="Write a summary in Markdown, as for $GITHUB_STEP_SUMMARY.", metavar="FILE"),
    ] = None
    reasons: Annotated[
        Switch,
        _results(help="Whether results and reports say why verdicts came. [default: on]", rare=True),
    ] = "on"
    quotes: Annotated[
        bool,
        _results(
            help="With --markdown: keep the words that reasons quote; such a summary is often read by others.",
            rare=True,
        ),
    ] = False

    def model_post_init(self, context: Any) -> None:
        """Refuse settings that do not go together, or cannot be read."""
        super().model_post_init(context)
        _ = self._parsed(None)  # whether a name is a label is known when the panel is: `check`
        if self.junit and self.markdown and self.junit.resolve() == self.markdown.resolve():
            raise SettingsRefused("{junit} and {markdown} name the same file")

    @property
    def conditions(self) -> tuple[FailCondition, ...]:
        """All conditions, each once."""
        return self._parsed(None)

    def check(self, scale: VerdictScale | None) -> None:
        """Check, before anything is judged, that the reports may be written and each condition names what is counted.

        Args:
            scale: the panel's own; None: it judges in the three verdicts.
        """
        if self.junit is not None:
            from jury_views.junit import JUNIT_BEGINS  # noqa: PLC0415  (most runs write no report)

            check_report_path(self.junit, JUNIT_BEGINS)
        if self.markdown is not None:
            from jury_views.markdown import MARKDOWN_BEGINS  # noqa: PLC0415  (likewise)

            check_report_path(self.markdown, MARKDOWN_BEGINS)
        labels = () if scale is None else scale.ids
        _ = self._parsed(labels)
        known = (*Verdict, *labels)
        for name in self.fail_on:
            if name not in known:
                shown = visible_line(repr(name), 60)
                raise SettingsRefused(
                    f"{{fail_on}} {escaped(shown)} is no verdict{_of(scale)}; it is one of {', '.join(known)}",
                    usage=False,
                )

    def _parsed(self, labels: Sequence[str] | None) -> tuple[FailCondition, ...]:
        found = dict.fromkeys(map(FailCondition, self.fail_on))
        for text in self.fail_if:
            try:
                found[parse_fail_condition(text, labels)] = None
            except SettingError as error:
                raise SettingsRefused(f"{{fail_if}} {escaped(str(error))}", usage=False) from None
        return tuple(found)

    @property
    def reports(self) -> bool:
        """Whether any file is to be written."""
        return self.junit is not None or self.markdown is not None


def _of(scale: VerdictScale | None) -> str:
    return "" if scale is None else f" or label of the scale {escaped(visible_line(scale.name, 60))}"


class SealSettings(SettingsModel):
    """The key that seals, and how often. No `seal_key`: nothing is sealed."""

    seal_key: Annotated[
        Path | None,
        _seals(
            help="Seal the log with this private key (`jury seal keygen`). [$JURY_SEAL_KEY]",
            metavar="FILE",
            environ="JURY_SEAL_KEY",
        ),
    ] = None
    seal_last: Annotated[
        Path | None,
        _seals(
            help="The file of the private key's last signature. [default: $JURY_SEAL_LAST, else KEY.last beside it]",
            metavar="FILE",
            environ="JURY_SEAL_LAST",
        ),
    ] = None
    seal_every: Annotated[
        float,
        Field(ge=0.1, le=86_400),
        _seals(help="How often the log is sealed during the run; once more at its end.", metavar="SECONDS"),
    ] = 60.0


class BatchSettings(SettingsModel):
    """Calls in the batches of providers (docs/batches.md)."""

    batch: Annotated[bool, _batches(help="Make calls in batches, at half price (docs/batches.md).")] = False
    once: Annotated[
        bool,
        _batches(help="With --batch: make one pass, for cron; exit with 4 while calls wait.", rare=True),
    ] = False
    batch_deadline: Annotated[
        float,
        Field(gt=0, le=24 * 28),
        _batches(
            help="After this a provider is asked to cancel a batch, if it says that it has not ended.",
            metavar="HOURS",
            rare=True,
        ),
    ] = 26.0
    batch_same_account: Annotated[
        bool, _batches(help="A new API key is of the account that has the batches.", rare=True)
    ] = False

    def model_post_init(self, context: Any) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if not self.batch:
            for name, field in BatchSettings.model_fields.items():
                if name != "batch" and getattr(self, name) != field.default:
                    raise SettingsRefused(f"{{{name}}} has no effect without {{batch}}")


RunName = Annotated[str, AfterValidator(checked_run_id)] | None


class RunningSettings(RuntimeSettings, Budget, SealSettings, Stored):
    """How debates are judged into a store, whatever they are of."""

    store_url: Annotated[StoreUrl, replace(STORE, group=THE_RUN)] = None
    concurrency: Annotated[int, Field(ge=1, le=100_000), _run(help="Debates at once.")] = 64
    store_patience: Annotated[float, Field(ge=0, le=86_400), PATIENCE] = STORE_PATIENCE


class JudgingSettings(CaseSettings, PanelSettings, RunningSettings):
    """What the runs of `jury run` and `jury probe` are asked for alike."""

    run_id: Annotated[RunName, _run(help="Names the run; the same id resumes it.", name="--run", metavar="ID")] = None
    strict: Annotated[
        bool,
        Option(
            help="Refuse cases with parts that no juror would be shown.", group="How case files are read", rare=True
        ),
    ] = False


class RunSettings(JudgingSettings, ReportSettings, BatchSettings):
    """What a run is asked for, besides its cases: the options of `jury run`, a settings file, arguments in Python.

    A larger `repeat` adds debates to a run. An imported debate counts as judged if its seal is signed by a key of
    `adopt`.
    """

    repeat: Annotated[int, Field(ge=1, le=MOST_REPEATS), _run(help="Debates a case.")] = 1
    relabel: Annotated[
        bool,
        _run(help="Record labels of the rows that are not those of their recorded cases, also that a row has none."),
    ] = False
    adopt: Annotated[
        tuple[Path, ...],
        _run(
            help="Count imported debates of the run whose seals are signed by a public key of this file. Repeatable.",
            metavar="FILE",
            rare=True,
        ),
    ] = ()
    trust: Annotated[
        tuple[Path, ...],
        _run(
            help="Apply the panel's calibration only if a public key of this file signed it. Repeatable.",
            metavar="FILE",
            rare=True,
        ),
    ] = ()
    otel: Annotated[bool, TRACES] = False
    require_drift_check: Annotated[Age | None, replace(DRIFT_CHECK, group=THE_RUN)] = None

    def model_post_init(self, context: Any) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if self.relabel and self.run_id is None:
            raise SettingsRefused("{relabel} is about the cases of a run: name it with {run_id}")
        if self.batch and self.asked_in_process is False:
            raise SettingsRefused(
                "{batch} needs one process: leave out {ray}, {ray_address}, {replicas}, {coordinators}"
            )

    @classmethod
    def like(cls, asked: SettingsModel, **fields: Any) -> "RunSettings":
        """A run as other settings ask for it, with these values of further fields."""
        return RunSettings.of(**{**{name: one for name, one in asked if name in RunSettings.model_fields}, **fields})


MOST_SUBMITTED_AT_ONCE = 1000


class SubmissionSettings(SettingsModel):
    """What a client may ask of a run: its id, and how many debates run at once.

    Panel, budget, runtime and store are the server's. Without `concurrency`, so is the number of debates at once.
    """

    model_config = ConfigDict(coerce_numbers_to_str=False)  # in JSON a text is a text

    run_id: RunName = None
    concurrency: Annotated[int, Field(ge=1, le=MOST_SUBMITTED_AT_ONCE)] = 64

    @property
    def asked_at_once(self) -> int | None:
        """How many debates are to run at once; None: the client leaves it to the server."""
        return self.concurrency if "concurrency" in self.model_fields_set else None


class ForkSettings(PanelSettings, RuntimeSettings, Stored):
    """What a fork is asked for, besides its origin and event. Without `as_id` the id follows from these."""

    panel_name: Annotated[
        str | None,
        Option(
            help="A panel file, a jury of models (current, documents), or rules with simulated jurors "
            "(parallel-rounds, on-disagreement, adk-sequential, independent). [default: that of the debate]",
            name="--panel",
            metavar="FILE|NAME",
        ),
    ] = None
    seat_models: tuple[str, ...] = ()
    models: Annotated[
        dict[str, str],
        Option(
            help="Another model for a seat, as juror-gpt=openai/gpt-5. Repeatable.",
            name="--model",
            metavar="SEAT=MODEL",
        ),
    ] = Field(default_factory=dict)
    as_id: Annotated[
        Annotated[str, AfterValidator(checked_debate_id)] | None,
        Option(help="The branch's id. [default: by its settings]", name="--as", metavar="ID"),
    ] = None


ProbeName = Literal[
    "speakers",
    "scenarios",
    "records",
    "length",
    "format",
    "master-key",
    "injection",
    "marking",
    "identity",
    "reasoning",
    "no-reasoning",
    "reflection",
]


# What `all` means: the others judge every case again, and decide on a setting of the panel.
_OF_ONE_MARKING = tuple(name for name in get_args(ProbeName) if name not in {"marking", "reflection"})


def _probes(written: Any) -> Any:
    names = parted(written)
    if names == ("all",):
        return _OF_ONE_MARKING
    if "all" in names:
        raise ValueError("all stands alone: it means every probe but marking and reflection")
    known = get_args(ProbeName)
    if unknown := [name for name in names if name not in known]:
        hint = did_you_mean(unknown[0], [*known, "all"])
        raise ValueError(f"{unknown[0]!r} is no probe{hint}; the probes are {', '.join(known)}, or all")
    both = ("no-reasoning",) if "reasoning" in names else ()
    return tuple(dict.fromkeys((*names, *both)))


class ProbeSettings(JudgingSettings):
    """`jury probe`: twins of cases that are judged beside them, and the report of a run with twins.

    Without `paths` nothing is judged, and the run is reported on.
    """

    paths: Annotated[tuple[str, ...], Field(exclude=True)] = ()
    probes: Annotated[
        tuple[ProbeName, ...],
        BeforeValidator(_probes),
        Option(
            help="speakers, scenarios, records (their order), length, format, master-key (answers without content), "
            "injection, marking (injection, with judged text marked by lines and by words), identity (the agent's "
            "name), reasoning (the agent's: a confident one in its place, and none), reflection (seats that are asked "
            "again without their peers); or all, without marking and reflection.",
            group="The probes",
            name="--probe",
            metavar="NAME,…",
            typed="text",
        ),
    ] = ()
    run_id: Annotated[
        Annotated[str, AfterValidator(checked_run_id)] | None,
        _run(
            help="Names the run; the same id resumes it. Without files: report on this run.", name="--run", metavar="ID"
        ),
    ] = None
    labels: Annotated[tuple[str, ...], replace(LABELS, group="The report")] = ()
    include_simulated: Annotated[bool, Option(help="Count debates of simulated jurors too.", group="The report")] = (
        False
    )
    tolerate: Annotated[
        float,
        Field(ge=0, lt=1),
        Option(
            help="Share of answers without content that a juror may pass before that is a finding.", group="The report"
        ),
    ] = 0.05

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
        return RunSettings.like(self)

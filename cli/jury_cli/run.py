"""`jury run`: judge the cases of files."""

import asyncio
import os
from collections.abc import Iterable
from contextlib import aclosing, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jury_cli.case_options import CASES, artifact_hosts, case_files
from jury_cli.detach import DETACH, DETACHED
from jury_cli.exits import Exit
from jury_cli.log_format import write_event
from jury_cli.observation_options import LOOPBACK, TOKEN, MetricsServer, log_options, metrics_options, otel_option
from jury_cli.option_groups import grouped, options
from jury_cli.options import (
    budget_options,
    new_run_id,
    panel_options,
    patience_option,
    price_list,
    resolved_store,
    runtime_options,
    seal_options,
    simulated,
    store_option,
)
from jury_cli.settings_option import settings_option
from jury_cli.streams import check_stdout
from jury_events.case import Case
from jury_events.errors import SettingError
from jury_events.ids import MOST_REPEATS
from jury_events.verdict import Verdict

if TYPE_CHECKING:
    from jury_cases.files import CaseFiles
    from jury_cli.handed_run import HandedCases
    from jury_cli.results import Results
    from jury_cli.run_end import Wanted
    from jury_events.panel import Panel
    from jury_judge.panels.files import LoadedPanel
    from jury_judge.panels.variables import Overrides
    from jury_judge.run_session import RunOutcome
    from jury_judge.runs.preflight import PreflightReport
    from jury_judge.runs.run import CaseSource, Run
    from jury_judge.settings.run import RunSettings


_GROUPS = {
    "The run": ("run_id", "store_url", "settings", "concurrency", "repeat", "dry_run", "adopt"),
    "Jurors and rules": (
        "panel_name",
        "preset",
        "language",
        "max_rounds",
        "threshold",
        "method",
        "judge_model",
    ),
    "Results": ("as_jsonl", "as_json", "display", "verbose"),
    "How it ends, for CI": ("fail_on", "fail_if", "junit", "markdown"),
    "What it may spend": ("max_cost", "max_calls", "prices"),
    "Which cases": ("limit", "case_ids", "where", "sample", "seed", "split"),
    "How case files are read": (
        "fields",
        "mappings",
        "case_format",
        "rows",
        "policy_file",
        "artifact_roots",
        "strict",
    ),
    "Where debates run": (
        "in_process",
        "ray",
        "ray_address",
        "ray_open_cluster",
        "replicas",
        "coordinators",
        "simulate",
        "detach",
    ),
    "When the store fails": ("store_patience",),
    "What can be observed": ("log_format", "log_level", "metrics_port", "metrics_host", "otel"),
    "Seals": ("seal_key", "seal_last", "seal_every"),
}
_RARE = (
    *("adopt", "preset", "verbose", "prices", "seed", "split", "rows", "policy_file", "artifact_roots", "strict"),
    *("ray_open_cluster", "replicas", "coordinators", "simulate", "store_patience"),
    *("log_format", "log_level", "metrics_port", "metrics_host", "otel", "seal_key", "seal_last", "seal_every"),
)
"""Shown by `--help-all` alone."""


def _settings() -> "type[RunSettings]":
    from jury_judge.settings.run import RunSettings

    return RunSettings


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of `jury run`, and of other commands that judge cases, besides those of case files."""

    run_id: str | None
    adopt: tuple[Path, ...]
    strict: bool
    verbose: bool
    panel_name: str | None
    preset: str | None
    language: Any
    max_rounds: int | None
    threshold: float | None
    method: Any
    judge_model: str | None
    store_url: str | None
    concurrency: int
    repeat: int
    as_json: bool
    as_jsonl: bool
    fail_on: tuple[str, ...]
    fail_if: tuple[str, ...]
    junit: Path | None
    markdown: Path | None
    display: str
    max_cost: float | None
    max_calls: int | None
    prices: str | None
    store_patience: float
    seal_key: Path | None
    seal_last: Path | None
    seal_every: float
    dry_run: bool
    in_process: bool
    ray: bool
    ray_address: str | None
    ray_open_cluster: bool
    replicas: int | None
    coordinators: int | None
    simulate: dict[str, str]
    metrics_port: int | None = None
    metrics_host: str = LOOPBACK
    otel: bool = False
    detach: bool = False
    detached: bool = False

    def check(self) -> None:
        """Refuse options that exclude each other."""
        if self.as_json and self.as_jsonl:
            raise click.UsageError("--json and --jsonl exclude each other")
        if self.dry_run and self.as_jsonl:
            raise click.UsageError("--dry-run prints no result lines: use --json instead of --jsonl")
        self.runtime()

    def runtime(self) -> bool | None:
        """Whether debates are to run in this process; None: as many debates as there are decide."""
        from jury_judge.settings.runtime import RuntimeSettings

        return RuntimeSettings.of(
            **{name: getattr(self, name) for name in RuntimeSettings.model_fields}
        ).asked_in_process

    @property
    def overrides(self) -> "Overrides":
        """The options that override the panel."""
        from jury_judge.panels.variables import Overrides

        return Overrides(self.language, self.max_rounds, self.threshold, self.method, self.judge_model, self.preset)


@grouped("run", _GROUPS, _RARE)
@options(CASES, settings_option(_settings))
@click.option(
    "--run",
    "run_id",
    metavar="ID",
    callback=new_run_id,
    help="Names the run; the same id resumes it.",
)
@click.option(
    "--adopt",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Count imported debates of the run whose seals are signed by a public key of this file. Repeatable.",
)
@click.option("--strict", is_flag=True, help="Refuse cases with parts that no juror would be shown.")
@click.option("--verbose", is_flag=True, help="List for each case the parts that jurors are not shown.")
@panel_options
@store_option
@click.option("--concurrency", type=click.IntRange(1, 100_000), default=64, show_default=True, help="Debates at once.")
@click.option(
    "--repeat",
    type=click.IntRange(1, MOST_REPEATS),
    default=1,
    show_default=True,
    help="Debates a case: RUN~CASE, RUN~CASE~2, … A larger number adds debates to a run.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list of results.")
@click.option("--jsonl", "as_jsonl", is_flag=True, help="Print one JSON result a line, in the order of the cases.")
@click.option(
    "--fail-on",
    type=click.Choice([verdict.value for verdict in Verdict]),
    multiple=True,
    help="Exit with 1 when a debate ends with this verdict. Repeatable.",
)
@click.option(
    "--fail-if",
    metavar="COND",
    multiple=True,
    help="Exit with 1 if the finished debates meet this: unsafe_fail>2%, needs_review>=10, safe_pass<95%, "
    "no_quorum … (docs/exit-codes.md). Repeatable: any is enough.",
)
@click.option(
    "--junit", metavar="FILE", type=click.Path(path_type=Path), help="Write a JUnit XML file, one test case a case."
)
@click.option(
    "--markdown",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write a summary in Markdown, as for $GITHUB_STEP_SUMMARY.",
)
@click.option(
    "--display",
    type=click.Choice(["auto", "full", "plain", "none"]),
    default="auto",
    help="How progress is shown on stderr.",
)
@budget_options
@patience_option
@seal_options
@log_options
@otel_option
@metrics_options
@click.option("--dry-run", is_flag=True, help="Print an estimate of the run; run nothing.")
@runtime_options
@click.option(
    DETACH,
    is_flag=True,
    help="Go on in a process of its own, without the terminal; print the run's id. See docs/runs.md.",
)
@click.option(DETACHED, is_flag=True, hidden=True)
@click.option("--handed", is_flag=True, hidden=True)
def command(**given: Any) -> int:
    """Judge the cases of files and folders (JSON, JSONL, CSV, Parquet, Arrow, Inspect logs; - is standard input).

    A case has a question and a response or a transcript. Transcripts are understood as OpenAI, Anthropic, Gemini,
    ShareGPT, Inspect, OpenTelemetry, Langfuse and promptfoo write them; `jury cases FILE` shows what jurors would be
    shown. Everything is recorded; the same --run again prints what is judged and resumes the rest.
    """
    from jury_cli.detach import check_detached, detach, detached_holder
    from jury_cli.results import Results
    from jury_cli.run_end import end_run
    from jury_judge.panels.files import load_panel
    from jury_judge.runs.run import Run, fresh_run_id
    from jury_judge.seals.key_files import read_keys

    paths: tuple[str, ...] = given["paths"]
    if given.pop("handed"):
        return _execute_handed(Path(paths[0]))
    files = case_files(given, artifact_hosts())
    asked = RunOptions(**given)
    asked.check()
    wanted = _wanted(asked)
    loaded = load_panel(asked.panel_name, os.environ, asked.overrides)
    run = Run(
        run_id=asked.run_id or fresh_run_id(),
        resolved=loaded.resolved,
        cases=loaded.redaction.cases(strictly(files, loaded.panel) if asked.strict else files),
        concurrency=asked.concurrency,
        adopt=read_keys(asked.adopt),
        repeats=asked.repeat,
    )
    if asked.detach:
        check_detached(paths, dry_run=asked.dry_run)
        if asked.ray_address is not None:
            from jury_cli.cluster_detach import check_for_cluster, detach_on_cluster

            check_for_cluster(asked)
            return detach_on_cluster(run, loaded, asked, resolved_store(asked.store_url), read_keys(asked.adopt))
        return detach(resolved_store(asked.store_url), run.run_id, generated=asked.run_id is None)
    if asked.dry_run:
        from jury_cli.dry_run import dry_run

        simulated(asked.simulate, loaded.panel.models)  # refuses what a run would refuse
        url, prices = resolved_store(asked.store_url), price_list(asked.prices)
        dry_run(run, loaded, url, prices, on_cluster=asked.ray_address is not None, as_json=asked.as_json)
        return Exit.DONE
    results = Results("json" if asked.as_json else "jsonl" if asked.as_jsonl else "plain", keep=wanted.reports)
    url = resolved_store(asked.store_url)
    holder = None if asked.run_id is None else detached_holder(url, asked.run_id)
    if holder is None:
        with results:
            outcome = judge_run(run, loaded, files, asked, results)
        return end_run(run.run_id, results, outcome, wanted)
    from jury_cli.following import follow_run

    with results:
        outcome = follow_run(run, url, holder, results, asked.display)
    code = end_run(run.run_id, results, outcome, wanted)
    return code if results.taken == outcome.total else Exit.STOPPED


def _execute_handed(path: Path) -> int:
    """Execute a run that another process handed over: on standard input, with its cases in a file."""
    from jury_cli.handed_run import HandedCases, HandedRun
    from jury_cli.results import Results
    from jury_cli.run_end import Wanted, end_run

    handed, cases, results = HandedRun.read(), HandedCases(path), Results("none")
    run = handed.run(cases)
    with results:
        outcome = judge_run(run, handed.loaded, cases, handed.asked, results)
    return end_run(run.run_id, results, outcome, Wanted())


def judge_run(
    run: "Run", loaded: "LoadedPanel", files: "CaseFiles | HandedCases", asked: RunOptions, results: "Results"
) -> "RunOutcome":
    """Judge what is left of a run, as the options of its command say.

    Args:
        run: the input.
        loaded: its panel.
        files: where its cases are from, for notes about their columns.
        asked: the options; `run_id` is None where the id was generated.
        results: takes the line of each debate.
    """
    from jury_cli.interrupts import until_interrupted
    from jury_cli.judging import finishing, judging_loop, make_jury, note_end, note_line, run_locked, sealing_of
    from jury_cli.terminal import ProgressDisplay
    from jury_judge.run_session import RunSession
    from jury_judge.running.supervision import RunSupervision
    from jury_judge.runs.allowance import Allowance
    from jury_judge.runs.budgets import ceiling, check_priced
    from jury_judge.runs.preflight import PREFLIGHT_SECONDS, preflighted

    chosen = asked.runtime()
    script = simulated(asked.simulate, loaded.panel.models)
    url, prices, today = resolved_store(asked.store_url), price_list(asked.prices), datetime.now(UTC).date()
    if asked.max_cost is not None:
        check_priced(loaded.panel.models, prices, today)
    resume_hint = f"the same command with --run {run.run_id} goes on from here"
    environ = None if asked.ray_address else os.environ
    seconds = None if asked.strict else PREFLIGHT_SECONDS
    with (
        run_locked(url, asked.run_id, detached=asked.detached),
        preflighted(run, url, loaded.endpoints, environ, seconds=seconds) as (store, checked),
        closing(ProgressDisplay(run.run_id, asked.display)) as display,
        closing(MetricsServer(asked.metrics_port, asked.metrics_host, os.environ.get(TOKEN))) as metrics,
    ):
        sealing = sealing_of(asked.seal_key, asked.seal_last, asked.seal_every, store)
        in_process = _choose_runtime(checked) if chosen is None else chosen
        bounds = ceiling(store, run.run_id, prices, today, max_calls=asked.max_calls, max_cost=asked.max_cost)
        jury = make_jury(
            loaded,
            url,
            name=run.run_id,
            in_process=in_process,
            ray_address=asked.ray_address,
            ray_open_cluster=asked.ray_open_cluster,
            replicas=asked.replicas,
            coordinators=asked.coordinators,
            simulate=script,
            prices=prices,
            max_calls=asked.max_calls,
            max_cost=asked.max_cost,
            spent=bounds.spent,
            sealing=sealing,
            store_patience=asked.store_patience,
            metrics=metrics.totals,
            otel=asked.otel,
        )
        _note_run(run, loaded.panel, generated=asked.run_id is None)
        _note_cases(files, checked, verbose=asked.verbose)
        allowance = Allowance(bounds, run.resolved, store, prices=prices, endpoints=loaded.endpoints, on=today)
        supervision = RunSupervision(url, run.run_id, detached=asked.detached, say=note_line)
        session = RunSession(
            run, checked, store, display, allowance=allowance if bounds.bounded else None, supervision=supervision
        )
        said = f"run {run.run_id} begins"
        write_event("run_started", said, run=run.run_id, debates=checked.total, on_ray=not in_process)

        async def judge(stopping: asyncio.Event) -> None:
            async with (
                metrics.serving(),
                jury,
                session.spending_shown(display.spent),
                aclosing(session.execute(jury, stopping)) as lines,
            ):
                async for line in lines:
                    results.take(line)
                    # Printing stored results costs nothing; calls for results without a reader do.
                    if checked.left and results.taken != checked.total:
                        check_stdout(resume_hint)

        with judging_loop(
            ray=checked.left and not in_process,
            ray_address=asked.ray_address,
            ray_open_cluster=asked.ray_open_cluster,
            resume_hint=resume_hint,
        ) as loop:
            _, interrupted = loop.run(until_interrupted(judge, says=finishing(resume_hint), waits_for=jury.waits_for))
        note_end(interrupted=interrupted, resume_hint=resume_hint, sealing=sealing)
        outcome = session.outcome(interrupted=interrupted, lines=results.taken)
        write_event(
            "run_ended",
            f"run {run.run_id} ended: {outcome.now} judged now, {outcome.before} before",
            run=run.run_id,
            debates=outcome.total,
            judged=outcome.now,
            judged_before=outcome.before,
            unfinished=len(outcome.problems),
            interrupted=interrupted,
            seconds=round(outcome.seconds, 3),
        )
        return outcome


def _wanted(asked: "RunOptions") -> "Wanted":
    from jury_cli.run_end import Wanted
    from jury_judge.report_files import check_report_path
    from jury_views.reports import junit, markdown
    from jury_views.reports.fail_conditions import FailCondition, parse_fail_condition

    try:
        conditions = [parse_fail_condition(text) for text in asked.fail_if]
    except SettingError as error:
        raise SettingError(f"--fail-if {error}") from None
    if asked.junit is not None and asked.junit == asked.markdown:
        raise click.UsageError("--junit and --markdown name the same file")
    for path, form in ((asked.junit, junit), (asked.markdown, markdown)):
        if path is not None:
            check_report_path(path, form.BEGINS)
    return Wanted(tuple(dict.fromkeys((*map(FailCondition, asked.fail_on), *conditions))), asked.junit, asked.markdown)


def strictly(files: "CaseFiles", panel: "Panel") -> "CaseSource":
    """The cases, none of which has a part that no juror would be shown."""
    from jury_cases.omissions import without_omissions
    from jury_judge.runs.preflight import sees_images

    images_seen = sees_images(panel)
    return lambda fetch: without_omissions(files(fetch), images_seen=images_seen)


def _choose_runtime(checked: "PreflightReport") -> bool:
    from jury_cli.judging import note_line
    from jury_cli.runtime_choice import in_process_for

    in_process, line = in_process_for(checked)
    if checked.left:
        note_line(line)
    return in_process


def _note_run(run: "Run", panel: "Panel", *, generated: bool) -> None:
    from jury_cli.terminal import note

    if all(model.startswith("simulated/") for model in panel.models):
        note("The jurors are simulated: rule-based readers. No model is called; their verdicts are no evaluation.")
    if generated:
        note(f"run {run.run_id}")


def _note_cases(files: "CaseFiles | HandedCases", checked: "PreflightReport", *, verbose: bool) -> None:
    """Columns that are not read but nearly have the name of one that is, and what jurors are not shown."""
    from jury_cli.judging import note_line

    if checked.beyond:
        further = "1 further repeat" if checked.beyond == 1 else f"{checked.beyond} further repeats"
        note_line(f"the run has {further} of its cases from an earlier call; they stay recorded and are not printed")
    for column, near in files.notes.slips():
        note_line(f"the column {column} is not read (did you mean {near}?); --field names columns")
    _note_omissions(checked, files if verbose else ())


def _note_omissions(checked: "PreflightReport", cases: Iterable[Case]) -> None:
    """What jurors are not shown of the cases that were read; one by one for `cases`."""
    from jury_cases.omissions import omissions_text
    from jury_cli.judging import note_line
    from jury_cli.terminal import note

    if (blind := checked.omissions.blind_line()) is not None:
        note_line(blind)
    line = checked.omissions.line()
    if line is None:
        return
    if checked.total is None:
        line += f" (of the first {checked.omissions.cases} cases; jury cases reads them all)"
    note_line(line)
    for case, _ in zip(cases, range(checked.omissions.cases), strict=False):
        if omissions := checked.omissions.of(case):
            note(f"case {case.case_id}: not shown: {omissions_text(omissions)}")

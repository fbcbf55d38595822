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

from jury_events.case import Case
from jury_events.verdict import Verdict
from jury_judge.cli.case_options import artifact_hosts, case_files, case_options
from jury_judge.cli.exits import Exit
from jury_judge.cli.option_groups import grouped
from jury_judge.cli.options import (
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
from jury_judge.cli.streams import check_stdout
from jury_judge.errors import SettingError

if TYPE_CHECKING:
    from jury_events.panel import Panel
    from jury_judge.app.preflight import PreflightReport
    from jury_judge.app.run import CaseSource, Run
    from jury_judge.cases.files import CaseFiles
    from jury_judge.cli.run_end import Wanted
    from jury_judge.panels.variables import Overrides


_GROUPS = {
    "The run": ("run_id", "store_url", "concurrency", "dry_run", "adopt"),
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
        "ray_address",
        "ray_open_cluster",
        "replicas",
        "simulate",
    ),
    "Seals": ("seal_key", "seal_last", "seal_every"),
}


@dataclass(frozen=True, kw_only=True)
class _Options:
    """The options of `jury run` besides those of case files."""

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
    replicas: int
    simulate: dict[str, str]

    def check(self) -> None:
        """Refuse options that exclude each other."""
        if self.as_json and self.as_jsonl:
            raise click.UsageError("--json and --jsonl exclude each other")
        if self.dry_run and self.as_jsonl:
            raise click.UsageError("--dry-run prints no result lines: use --json instead of --jsonl")

    @property
    def overrides(self) -> "Overrides":
        """The options that override the panel."""
        from jury_judge.panels.variables import Overrides

        return Overrides(self.language, self.max_rounds, self.threshold, self.method, self.judge_model, self.preset)


@grouped("run", _GROUPS)
@case_options
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
@click.option("--dry-run", is_flag=True, help="Print an estimate of the run; run nothing.")
@runtime_options
def command(**options: Any) -> int:
    """Judge the cases of files and folders (JSON, JSONL, CSV, Parquet, Arrow, Inspect logs; - is standard input).

    A case has a question and a response or a transcript. Transcripts are understood as OpenAI, Anthropic, Gemini,
    ShareGPT, Inspect, OpenTelemetry, Langfuse and promptfoo write them; `jury cases FILE` shows what jurors would be
    shown. Everything is recorded; the same --run again prints what is judged and resumes the rest.
    """
    from jury_judge.app.allowance import Allowance
    from jury_judge.app.budgets import ceiling, check_priced
    from jury_judge.app.preflight import PREFLIGHT_SECONDS, preflighted
    from jury_judge.app.run import Run, fresh_run_id
    from jury_judge.app.run_session import RunSession
    from jury_judge.cli.dry_run import dry_run
    from jury_judge.cli.interrupts import until_interrupted
    from jury_judge.cli.judging import finishing, judging_loop, make_jury, note_end, run_locked, sealing_of
    from jury_judge.cli.results import Results
    from jury_judge.cli.run_end import end_run
    from jury_judge.cli.runtime_choice import asked_in_process
    from jury_judge.cli.seal_files import read_keys
    from jury_judge.cli.terminal import ProgressDisplay
    from jury_judge.panels.files import load_panel

    files = case_files(options, artifact_hosts())
    asked = _Options(**options)
    asked.check()
    chosen = asked_in_process(
        in_process=asked.in_process, ray=asked.ray, ray_address=asked.ray_address, replicas=asked.replicas
    )
    wanted = _wanted(asked)
    loaded = load_panel(asked.panel_name, os.environ, asked.overrides)
    script = simulated(asked.simulate, loaded.panel.models)
    run = Run(
        run_id=asked.run_id or fresh_run_id(),
        resolved=loaded.resolved,
        cases=loaded.redaction.cases(_strictly(files, loaded.panel) if asked.strict else files),
        concurrency=asked.concurrency,
        adopt=read_keys(asked.adopt),
    )
    url, prices, today = resolved_store(asked.store_url), price_list(asked.prices), datetime.now(UTC).date()
    if asked.dry_run:
        dry_run(run, loaded, url, prices, on_cluster=asked.ray_address is not None, as_json=asked.as_json)
        return Exit.DONE
    if asked.max_cost is not None:
        check_priced(loaded.panel.models, prices, today)
    resume_hint = f"the same command with --run {run.run_id} goes on from here"
    environ = None if asked.ray_address else os.environ
    seconds = None if asked.strict else PREFLIGHT_SECONDS
    with (
        run_locked(url, asked.run_id),
        preflighted(run, url, loaded.endpoints, environ, seconds=seconds) as (store, checked),
        closing(ProgressDisplay(run.run_id, asked.display)) as display,
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
            simulate=script,
            prices=prices,
            max_calls=asked.max_calls,
            max_cost=asked.max_cost,
            spent=bounds.spent,
            sealing=sealing,
            store_patience=asked.store_patience,
        )
        _note_run(run, loaded.panel, generated=asked.run_id is None)
        _note_cases(files, checked, verbose=asked.verbose)
        results = Results("json" if asked.as_json else "jsonl" if asked.as_jsonl else "plain", keep=wanted.reports)
        allowance = Allowance(bounds, run.resolved, store, prices=prices, endpoints=loaded.endpoints, on=today)
        session = RunSession(run, checked, store, display, allowance if bounds.bounded else None)

        async def judge(stopping: asyncio.Event) -> None:
            async with (
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
            _, interrupted = loop.run(until_interrupted(judge, says=finishing(resume_hint)))
        note_end(interrupted=interrupted, resume_hint=resume_hint, sealing=sealing)
        outcome = session.outcome(interrupted=interrupted, lines=results.taken)
    return end_run(run.run_id, results, outcome, wanted)


def _wanted(asked: "_Options") -> "Wanted":
    from jury_judge.cli.run_end import Wanted
    from jury_judge.present.reports import junit, markdown
    from jury_judge.present.reports.fail_conditions import FailCondition, parse_fail_condition
    from jury_judge.present.reports.report import check_report_path

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


def _strictly(files: "CaseFiles", panel: "Panel") -> "CaseSource":
    from jury_judge.app.preflight import sees_images
    from jury_judge.cases.omissions import without_omissions

    images_seen = sees_images(panel)
    return lambda fetch: without_omissions(files(fetch), images_seen=images_seen)


def _choose_runtime(checked: "PreflightReport") -> bool:
    from jury_judge.cli.judging import note_line
    from jury_judge.cli.runtime_choice import in_process_for

    in_process, line = in_process_for(checked)
    if checked.left:
        note_line(line)
    return in_process


def _note_run(run: "Run", panel: "Panel", *, generated: bool) -> None:
    from jury_judge.cli.terminal import note

    if all(model.startswith("simulated/") for model in panel.models):
        note("The jurors are simulated: rule-based readers. No model is called; their verdicts are no evaluation.")
    if generated:
        note(f"run {run.run_id}")


def _note_cases(files: "CaseFiles", checked: "PreflightReport", *, verbose: bool) -> None:
    """Columns that are not read but nearly have the name of one that is, and what jurors are not shown."""
    from jury_judge.cli.judging import note_line

    for column, near in files.notes.slips():
        note_line(f"the column {column} is not read (did you mean {near}?); --field names columns")
    _note_omissions(checked, files if verbose else ())


def _note_omissions(checked: "PreflightReport", cases: Iterable[Case]) -> None:
    """What jurors are not shown of the cases that were read; one by one for `cases`."""
    from jury_judge.cases.omissions import omissions_text
    from jury_judge.cli.judging import note_line
    from jury_judge.cli.terminal import note

    if (blind := checked.omissions.blind_line()) is not None:
        note_line(blind)
    line = checked.omissions.line()
    if line is None:
        return
    if checked.total is None:
        line += f" (of the first {checked.read} cases; jury cases reads them all)"
    note_line(line)
    for case, _ in zip(cases, range(checked.read), strict=False):
        if omissions := checked.omissions.of(case):
            note(f"case {case.case_id}: not shown: {omissions_text(omissions)}")

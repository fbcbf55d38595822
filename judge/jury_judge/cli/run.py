"""`jury run`: judge the cases of files."""

import os
from collections.abc import Iterable
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
    court_options,
    new_run_id,
    panel_options,
    patience_option,
    price_list,
    resolved_store,
    seal_options,
    simulated,
    store_option,
)
from jury_judge.errors import OutputClosed, SettingError

if TYPE_CHECKING:
    from jury_judge.cases.files import CaseFiles
    from jury_judge.cli.run_end import Wanted
    from jury_judge.runs import CaseSource, Line, Survey


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
    "Where debates are held": (
        "in_process",
        "ray_address",
        "ray_open_cluster",
        "replicas",
        "simulate",
    ),
    "Seals": ("seal_key", "seal_last", "seal_every"),
}


@grouped("run", _GROUPS)
@case_options
@click.option(
    "--run",
    "run_id",
    metavar="ID",
    callback=new_run_id,
    help="Names the run; given again, it goes on where it stopped.",
)
@click.option(
    "--adopt",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Count imported debates of the run whose seals are signed by a public key of this file. Repeatable.",
)
@click.option("--strict", is_flag=True, help="Refuse cases that hold something that no juror would be shown.")
@click.option("--verbose", is_flag=True, help="Say of each case what of it jurors are not shown.")
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
    help="Exit with 1 when this holds of the finished debates: unsafe_fail>2%, needs_review>=10, safe_pass<95%, "
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
@click.option("--dry-run", is_flag=True, help="Tell what the run would take, and hold nothing.")
@court_options
def command(**options: Any) -> int:
    """Judge the cases of files and folders (JSON, JSONL, CSV, Parquet, Arrow, Inspect logs; - is standard input).

    A case has a question and a response or a transcript. Transcripts are understood as OpenAI, Anthropic, Gemini,
    ShareGPT, Inspect, OpenTelemetry, Langfuse and promptfoo write them; `jury cases FILE` shows what jurors would be
    shown. Everything is recorded; the same --run again prints what is done and goes on with the rest.
    """
    from jury_judge.cli.holding import held_alone

    files = case_files(options, artifact_hosts())
    if options["run_id"] is None or options["dry_run"]:
        return _run(files, **options)
    with held_alone(resolved_store(options["store_url"]), options["run_id"]):
        return _run(files, **options)


def _run(
    files: "CaseFiles",
    *,
    run_id: str | None,
    adopt: tuple[Path, ...],
    strict: bool,
    verbose: bool,
    panel_name: str | None,
    preset: str | None,
    language: str | None,
    max_rounds: int | None,
    threshold: float | None,
    method: str | None,
    judge_model: str | None,
    store_url: str | None,
    concurrency: int,
    as_json: bool,
    as_jsonl: bool,
    fail_on: tuple[str, ...],
    fail_if: tuple[str, ...],
    junit: Path | None,
    markdown: Path | None,
    display: str,
    max_cost: float | None,
    max_calls: int | None,
    prices: str | None,
    store_patience: float,
    seal_key: Path | None,
    seal_last: Path | None,
    seal_every: float,
    dry_run: bool,
    in_process: bool,
    ray: bool,
    ray_address: str | None,
    ray_open_cluster: bool,
    replicas: int,
    simulate: dict[str, str],
) -> int:
    from jury_actors.court import CourtPlan
    from jury_judge.budgets import ceiling, check_priced
    from jury_judge.cli.dry_run import tell
    from jury_judge.cli.holding import hold_run, open_surveyed, seal_with, warn_of_models
    from jury_judge.cli.place import asked_in_process
    from jury_judge.cli.results import Results
    from jury_judge.cli.run_end import end_run
    from jury_judge.cli.seal_files import read_keys
    from jury_judge.cli.streams import stdout_is_read
    from jury_judge.cli.terminal import RunProgress, note
    from jury_judge.panels.files import load_panel
    from jury_judge.panels.variables import Overrides
    from jury_judge.runs import SURVEY_SECONDS, Run, fresh_run_id, sees_images
    from jury_judge.settings import load_settings

    _check_forms(as_json=as_json, as_jsonl=as_jsonl, dry_run=dry_run)
    asked = asked_in_process(in_process=in_process, ray=ray, ray_address=ray_address, replicas=replicas)
    wanted = _wanted(fail_on, fail_if, junit, markdown)
    loaded = load_panel(
        panel_name,
        os.environ,
        Overrides(language, max_rounds, threshold, method, judge_model, preset),  # type: ignore[arg-type]
    )
    script = simulated(simulate, loaded.panel.models)
    settings = load_settings(os.environ, store_url=store_url)
    seen = sees_images(loaded.panel)
    run = Run(
        run_id=run_id or fresh_run_id(),
        resolved=loaded.resolved,
        cases=loaded.redaction.cases(_strictly(files, images_seen=seen) if strict else files),
        concurrency=concurrency,
        adopt=read_keys(adopt),
    )
    plan = CourtPlan(
        loaded.panel,
        settings.store_url,
        run.run_id,
        script,
        replicas,
        loaded.endpoints,
        prices=price_list(prices),
        store_patience=store_patience,
    )
    today = datetime.now(UTC).date()
    if dry_run:
        tell(run, plan, on_cluster=ray_address is not None, as_json=as_json)
        return Exit.DONE
    if max_cost is not None:
        check_priced(loaded.panel.models, plan.prices, today)
    keys = None if ray_address else os.environ
    store, surveyed = open_surveyed(
        run, settings.store_url, loaded.endpoints, keys, seconds=None if strict else SURVEY_SECONDS
    )
    progress = RunProgress(run.run_id, display)
    results = Results("json" if as_json else "jsonl" if as_jsonl else "plain", keep=wanted.reports)

    def take(line: "Line") -> None:
        results.take(line)
        # What is judged already costs nothing to print. Calls for results that nobody reads are not made.
        if surveyed.left and results.taken != surveyed.total and not stdout_is_read():
            raise OutputClosed(
                f"whoever read the results closed them; the same command with --run {run.run_id} goes on from here"
            )

    try:
        sealing = seal_with(seal_key, seal_last, seal_every, store)
        warn_of_models(loaded, on_cluster=ray_address is not None)
        if all(model.startswith("simulated/") for model in loaded.panel.models):
            note("The jurors are simulated: rule-based readers. No model is called; their verdicts are no evaluation.")
        if run_id is None:
            note(f"run {run.run_id}")
        _tell_of_cases(files, surveyed, verbose=verbose)
        bounds = ceiling(store, run.run_id, plan.prices, today, max_calls=max_calls, max_cost=max_cost)
        held = hold_run(
            run,
            surveyed,
            store,
            plan._replace(ceiling=bounds),
            in_process=_place(surveyed) if asked is None else asked,
            ray_address=ray_address,
            ray_open_cluster=ray_open_cluster,
            progress=progress,
            take=take,
            sealing=sealing,
            spent=progress.spent,
        )
    finally:
        progress.close()
        store.close()
    return end_run(run.run_id, results, held, wanted)


def _check_forms(*, as_json: bool, as_jsonl: bool, dry_run: bool) -> None:
    if as_json and as_jsonl:
        raise click.UsageError("--json and --jsonl exclude each other")
    if dry_run and as_jsonl:
        raise click.UsageError("--dry-run tells of the run as a whole: --json gives that as data, --jsonl nothing")


def _wanted(
    fail_on: tuple[str, ...], fail_if: tuple[str, ...], junit_file: Path | None, markdown_file: Path | None
) -> "Wanted":
    from jury_judge.cli.run_end import Wanted
    from jury_judge.reports import junit, markdown
    from jury_judge.reports.fail_conditions import FailCondition, parse_fail_condition
    from jury_judge.reports.report import check_report_place

    try:
        asked = [parse_fail_condition(text) for text in fail_if]
    except SettingError as error:
        raise SettingError(f"--fail-if {error}") from None
    if junit_file is not None and junit_file == markdown_file:
        raise click.UsageError("--junit and --markdown name the same file")
    for path, form in ((junit_file, junit), (markdown_file, markdown)):
        if path is not None:
            check_report_place(path, form.BEGINS)
    return Wanted(tuple(dict.fromkeys((*map(FailCondition, fail_on), *asked))), junit_file, markdown_file)


def _strictly(files: "CaseFiles", *, images_seen: bool) -> "CaseSource":
    from jury_judge.cases.losses import without_losses

    return lambda fetch: without_losses(files(fetch), images_seen=images_seen)


def _place(surveyed: "Survey") -> bool:
    from jury_judge.cli.place import in_process_for
    from jury_judge.cli.terminal import note

    in_process, line = in_process_for(surveyed)
    if surveyed.left:
        note(f"jury: {line}")
    return in_process


def _tell_of_cases(files: "CaseFiles", surveyed: "Survey", *, verbose: bool) -> None:
    _tell_slips(files)
    _tell_losses(surveyed, files if verbose else ())


def _tell_slips(files: "CaseFiles") -> None:
    """Columns that nothing was read from, and that are nearly one that would be."""
    from jury_judge.cli.terminal import note

    for column, near in files.notes.slips():
        note(f"jury: nothing is read from the column {column} (did you mean {near}?); --field names columns")


def _tell_losses(surveyed: "Survey", cases: Iterable[Case]) -> None:
    """What jurors are not shown of the cases that were read; `cases` are told of one by one."""
    from jury_judge.cases.losses import losses_text
    from jury_judge.cli.terminal import note

    if (blind := surveyed.losses.blind_line()) is not None:
        note(f"jury: {blind}")
    line = surveyed.losses.line()
    if line is None:
        return
    if surveyed.total is None:
        line += f" (of the first {surveyed.read} cases; jury cases reads them all)"
    note(f"jury: {line}")
    for case, _ in zip(cases, range(surveyed.read), strict=False):
        if losses := surveyed.losses.of(case):
            note(f"case {case.case_id}: not shown: {losses_text(losses)}")

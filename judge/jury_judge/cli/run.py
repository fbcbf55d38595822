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
from jury_judge.errors import OutputClosed

if TYPE_CHECKING:
    from jury_judge.cases.files import CaseFiles
    from jury_judge.cli.holding import Held
    from jury_judge.cli.results import Results
    from jury_judge.runs import CaseSource, Survey


@click.command("run")
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
    ray_address: str | None,
    ray_open_cluster: bool,
    replicas: int,
    simulate: dict[str, str],
) -> int:
    from jury_actors.court import CourtPlan
    from jury_judge.budgets import ceiling, check_priced
    from jury_judge.cli.dry_run import tell
    from jury_judge.cli.holding import hold_run, open_surveyed, seal_with, warn_of_models
    from jury_judge.cli.results import Results
    from jury_judge.cli.seal_files import read_keys
    from jury_judge.cli.terminal import RunProgress, note
    from jury_judge.panels.files import load_panel
    from jury_judge.panels.variables import Overrides
    from jury_judge.runs import SURVEY_SECONDS, Run, fresh_run_id, sees_images
    from jury_judge.settings import load_settings

    _check_forms(as_json=as_json, as_jsonl=as_jsonl, dry_run=dry_run)
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
    results = Results("json" if as_json else "jsonl" if as_jsonl else "plain")
    try:
        sealing = seal_with(seal_key, seal_last, seal_every, store)
        warn_of_models(loaded)
        if all(model.startswith("simulated/") for model in loaded.panel.models):
            note("The jurors are simulated: rule-based readers. No model is called; their verdicts are no evaluation.")
        if run_id is None:
            note(f"run {run.run_id}")
        _tell_slips(files)
        _tell_losses(surveyed, files if verbose else ())
        bounds = ceiling(store, run.run_id, plan.prices, today, max_calls=max_calls, max_cost=max_cost)
        held = hold_run(
            run,
            surveyed,
            store,
            plan._replace(ceiling=bounds),
            in_process=in_process,
            ray_address=ray_address,
            ray_open_cluster=ray_open_cluster,
            progress=progress,
            take=results.take,
            sealing=sealing,
        )
    except BrokenPipeError as error:
        raise OutputClosed(
            f"whoever read the results closed them; the same command with --run {run.run_id} goes on from here"
        ) from error
    finally:
        progress.close()
        store.close()
    return _close(results, held, run.run_id, held.total, fail_on)


def _check_forms(*, as_json: bool, as_jsonl: bool, dry_run: bool) -> None:
    if as_json and as_jsonl:
        raise click.UsageError("--json and --jsonl exclude each other")
    if dry_run and as_jsonl:
        raise click.UsageError("--dry-run tells of the run as a whole: --json gives that as data, --jsonl nothing")


def _close(results: "Results", held: "Held", run_id: str, total: int | None, fail_on: tuple[str, ...]) -> Exit:
    """Say what the run came to, and give its code."""
    from jury_judge.cli.terminal import note

    results.finish()
    note(f"run {run_id}: {results.tally(total)}")
    for remark in results.remarks():
        note(remark)
    if held.interrupted:
        return Exit.INTERRUPTED
    if held.short is not None:
        note(f"jury: {held.short}; the same command with --run {run_id} and a higher bound goes on from here")
    if (trouble := results.trouble(run_id, len(held.problems))) is not None:
        note(f"jury: {trouble}")
        return Exit.STOPPED
    if held.short is not None:
        return Exit.STOPPED
    return Exit.FAILED_ON if results.any_of(fail_on) else Exit.DONE


def _strictly(files: "CaseFiles", *, images_seen: bool) -> "CaseSource":
    from jury_judge.cases.losses import shown_whole

    return lambda fetch: shown_whole(files(fetch), images_seen=images_seen)


def _tell_slips(files: "CaseFiles") -> None:
    """Columns that nothing was read from, and that are nearly one that would be."""
    from jury_judge.cli.terminal import note

    for column, near in files.notes.slips():
        note(f"jury: nothing is read from the column {column} (did you mean {near}?); --field names columns")


def _tell_losses(surveyed: "Survey", cases: Iterable[Case]) -> None:
    """What jurors are not shown of the cases that were read; `cases` are told of one by one."""
    from jury_judge.cases.losses import told
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
            note(f"case {case.case_id}: not shown: {told(losses)}")

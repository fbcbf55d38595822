"""`jury run`: judge the cases of files."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

import click

from jury_events.case import Case
from jury_events.verdict import Verdict
from jury_judge.cli.exits import Exit
from jury_judge.cli.options import (
    budget_options,
    court_options,
    pairs,
    panel_options,
    price_list,
    seal_options,
    simulated,
    store_option,
)
from jury_judge.cli.options import run_id as run_id_form
from jury_judge.errors import OutputClosed

if TYPE_CHECKING:
    from jury_judge.cli.holding import Held
    from jury_judge.cli.results import Results
    from jury_judge.runs import CaseSource


@click.command("run")
@click.argument("cases", nargs=-1, required=True, type=click.Path(path_type=str))
@click.option(
    "--run",
    "run_id",
    metavar="ID",
    callback=run_id_form,
    help="Names the run; given again, it goes on where it stopped.",
)
@click.option(
    "--field",
    "fields",
    metavar="PART=COLUMN",
    multiple=True,
    callback=pairs,
    help="Where foreign files hold a part of a case, as in response=completion. Repeatable.",
)
@panel_options
@store_option
@click.option("--concurrency", type=click.IntRange(1, 100_000), default=64, show_default=True, help="Debates at once.")
@click.option("--limit", type=click.IntRange(min=0), help="Judge the first N cases only.")
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
@seal_options
@click.option("--dry-run", is_flag=True, help="Tell what the run would take, and hold nothing.")
@court_options
def command(**options: Any) -> int:
    """Judge the cases of files (JSON, JSONL; - is standard input).

    A case has a question and a response or a transcript; transcripts as lists of messages are understood as they are.
    Everything is recorded; the same --run again prints what is done and goes on with the rest.
    """
    return _run(**options)


def _run(
    *,
    cases: tuple[str, ...],
    run_id: str | None,
    fields: dict[str, str],
    panel_name: str | None,
    preset: str | None,
    language: str | None,
    max_rounds: int | None,
    threshold: float | None,
    method: str | None,
    judge_model: str | None,
    store_url: str | None,
    concurrency: int,
    limit: int | None,
    as_json: bool,
    as_jsonl: bool,
    fail_on: tuple[str, ...],
    display: str,
    max_cost: float | None,
    max_calls: int | None,
    prices: str | None,
    seal_key: Path | None,
    seal_every: float,
    dry_run: bool,
    in_process: bool,
    ray_address: str | None,
    replicas: int,
    simulate: dict[str, str],
) -> int:
    from jury_actors.court import CourtPlan
    from jury_judge.budgets import ceiling, check_priced
    from jury_judge.cli.dry_run import tell
    from jury_judge.cli.holding import hold_run, open_surveyed, seal_with, warn_of_models
    from jury_judge.cli.results import Results
    from jury_judge.cli.terminal import RunProgress, note
    from jury_judge.panels.files import load_panel
    from jury_judge.panels.variables import Overrides
    from jury_judge.runs import Run, fresh_run_id
    from jury_judge.settings import load_settings

    _check_forms(as_json=as_json, as_jsonl=as_jsonl, dry_run=dry_run)
    loaded = load_panel(
        panel_name,
        os.environ,
        Overrides(language, max_rounds, threshold, method, judge_model, preset),  # type: ignore[arg-type]
    )
    script = simulated(simulate, loaded.panel.models)
    settings = load_settings(os.environ, store_url=store_url)
    run = Run(
        run_id=run_id or fresh_run_id(),
        resolved=loaded.resolved,
        cases=loaded.redaction.cases(_case_source(cases, fields, limit, settings.artifact_hosts)),
        concurrency=concurrency,
    )
    plan = CourtPlan(
        loaded.panel, settings.store_url, run.run_id, script, replicas, loaded.endpoints, prices=price_list(prices)
    )
    today = datetime.now(UTC).date()
    if dry_run:
        tell(run, plan, on_cluster=ray_address is not None, as_json=as_json)
        return Exit.DONE
    if max_cost is not None:
        check_priced(loaded.panel.models, plan.prices, today)
    keys = None if ray_address else os.environ
    store, surveyed = open_surveyed(run, settings.store_url, loaded.endpoints, keys)
    progress = RunProgress(run.run_id, display)
    results = Results("json" if as_json else "jsonl" if as_jsonl else "plain")
    try:
        sealing = seal_with(seal_key, seal_every, store)
        warn_of_models(loaded)
        if all(model.startswith("simulated/") for model in loaded.panel.models):
            note("The jurors are simulated: rule-based readers. No model is called; their verdicts are no evaluation.")
        if run_id is None:
            note(f"run {run.run_id}")
        bounds = ceiling(store, run.run_id, plan.prices, today, max_calls=max_calls, max_cost=max_cost)
        held = hold_run(
            run,
            surveyed,
            store,
            plan._replace(ceiling=bounds),
            in_process=in_process,
            ray_address=ray_address,
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
    return _close(results, held, run.run_id, surveyed.total, fail_on)


def _check_forms(*, as_json: bool, as_jsonl: bool, dry_run: bool) -> None:
    if as_json and as_jsonl:
        raise click.UsageError("--json and --jsonl exclude each other")
    if dry_run and as_jsonl:
        raise click.UsageError("--dry-run tells of the run as a whole: --json gives that as data, --jsonl nothing")


def _close(results: "Results", held: "Held", run_id: str, total: int, fail_on: tuple[str, ...]) -> Exit:
    """Say what the run came to, and give its code."""
    from jury_judge.cli.terminal import note

    results.finish()
    note(f"run {run_id}: {results.tally(total)}")
    for remark in results.remarks():
        note(remark)
    if held.interrupted:
        return Exit.INTERRUPTED
    if (trouble := results.trouble(run_id, len(held.problems))) is not None:
        note(f"jury: {trouble}")
        return Exit.STOPPED
    return Exit.FAILED_ON if results.any_of(fail_on) else Exit.DONE


def _case_source(
    paths: tuple[str, ...], fields: dict[str, str], limit: int | None, hosts: frozenset[str]
) -> "CaseSource":
    """Cases are read once to check the run and once to hold it: standard input is kept in a file for that."""
    from jury_judge.cases.files import STDIN, read_cases

    read = partial(read_cases, paths, fields, limit, allowed_hosts=hosts)
    if STDIN not in paths:
        return lambda fetch: read(fetch=fetch)
    copy = TemporaryFile(prefix="jury-stdin-")  # noqa: SIM115  (closed with the command)
    click.get_current_context().call_on_close(copy.close)
    shutil.copyfileobj(sys.stdin.buffer, copy)

    def again(fetch: Callable[[Case], bool]) -> Iterator[Case]:
        copy.seek(0)
        return read(stdin=copy, fetch=fetch)

    return again

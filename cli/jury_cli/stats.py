"""`jury stats`: what the votes come to, and their tables: agreement, labels, confidence, discussion."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import click

from jury_cli.calls import call
from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import finite
from jury_cli.vote_options import JUDGES, LABELS, OF_STORES, READ, RECORDED, VOTES, counting, included, seat_names
from jury_judge.settings.statistics import EPSILON, RESAMPLES, SEED

_GROUPS = {
    "Votes of a store": OF_STORES,
    "Votes of files, and labels": ("votes", "judges", "labels", "random_labels"),
    "What is counted": ("seats", "read", "count", "by", "include", "include_simulated"),
    "Figures": ("resamples", "seed", "epsilon"),
    "Results": ("full", "as_json", "parquet"),
}


@counting("stats", _GROUPS, ("include", "seed", "epsilon"))
@options(RECORDED, VOTES, JUDGES, LABELS, READ)
@click.option(
    "--random-labels", is_flag=True, help="The labelled cases are a random sample of all: correct shares by them."
)
@click.option(
    "--seats", metavar="A,B,C", callback=seat_names, help="Only the votes of these seats, and of the final judge."
)
@click.option(
    "--count",
    type=click.Choice(("labels", "outcomes")),
    help="Of panels with a scale of their own, count its labels, or what they come to. [default: labels, of one scale]",
)
@click.option(
    "--by",
    type=click.Choice(["panel", "variant", "run"]),
    multiple=True,
    help="A report for each panel, variant of cases, or run. Debates of different panels are not pooled. Repeatable.",
)
@click.option(
    "--include",
    metavar="stale,synthetic",
    callback=included,
    help="Count votes that repeat an earlier one (stale), or stand in for a blocked answer (synthetic), too.",
)
@click.option("--include-simulated", is_flag=True, help="Count debates of simulated jurors too.")
@click.option(
    "--resamples",
    type=click.IntRange(0, 100_000),
    default=RESAMPLES,
    show_default=True,
    help="Of the bootstrap; 0: no such intervals.",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=SEED, show_default=True, help="Of the bootstrap.")
@click.option(
    "--epsilon",
    type=click.FloatRange(0, 1),
    callback=finite,
    default=EPSILON,
    show_default=True,
    help="Of the alternative-annotator test: what a human's cost is worth, as a share of cases.",
)
@click.option("--full", is_flag=True, help="Print every table.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
@click.option(
    "--parquet",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the ballots that were read to this file too, with the labels of --labels.",
)
def command(*, sources: tuple[str, ...], full: bool, as_json: bool, **said: Any) -> int:
    """Say what recorded votes are worth: are they right, do the seats agree, does discussion help?

    Tables follow by name: agreement, labels, faults, evidence, confidence, discussion, shares; all with --full.

    Votes come from a store (runs, --all or a filter), or from files of other judges. Intervals are 95 %, over
    clusters of cases. docs/statistics.md explains every figure and what it does not prove, docs/votes.md the files.
    """
    from jury_cli.tables import chosen_tables
    from jury_cli.terminal import note, page_console
    from jury_judge.records.vote_reports import VoteReports
    from jury_judge.settings.statistics import StatisticsSettings
    from jury_views.statistics_sections import GROUPS
    from jury_views.terminal.statistics_page import statistics_page

    sections, named = chosen_tables(sources, GROUPS, full=full, as_json=as_json)
    asked = StatisticsSettings.of(sources=named, **said)
    _use_jemalloc()
    found = call(VoteReports(note, threads=False).stats(asked))
    for remark in found.remarks():
        note(remark)
    if as_json:
        print(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
    else:
        run = asked.runs[0] if len(asked.runs) == 1 else None
        statistics_page(found.named(), sections, run=run).print(page_console())
    return Exit.DONE


def _use_jemalloc() -> None:
    """Of Arrow's memory pools it returns freed memory soonest: a tenth less at the peak. Read by the import."""
    if sys.platform == "linux":
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "jemalloc")

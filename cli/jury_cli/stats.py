"""`jury stats`: what the votes come to, and their tables: agreement, labels, confidence, discussion."""

import os
import sys
from typing import Any

import click

from jury_cli.calls import call
from jury_cli.exits import Exit
from jury_cli.option_groups import grouped, options
from jury_cli.options import fields, option
from jury_cli.report_options import json_option, schema_option
from jury_cli.terminal import note, print_json, print_page


@grouped("stats", "Votes of a store", "Votes of files, and labels", "What is counted", "Figures", "Results")
@click.argument("sources", metavar="[RUN|FILE]...", nargs=-1)
@options(fields("StatisticsSettings"))
@option("--full", group="Results", is_flag=True, help="Print every table.")
@schema_option("Results", "stats")
@options(json_option())
def command(*, sources: tuple[str, ...], full: bool, as_json: bool, **said: Any) -> int:
    """Say what recorded votes are worth: are they right, do the seats agree, does discussion help?

    Tables follow by name: agreement, labels, faults, evidence, confidence, reasoning, discussion, shares; all
    with --full.

    Votes come from a store (runs, --all or a filter), or from files of other judges. Intervals are 95 %, over
    clusters of cases. docs/statistics.md explains every figure and what it does not prove, docs/votes.md the files.
    """
    from jury_cli.report_options import chosen_tables
    from jury_judge.records.votes import VoteReports
    from jury_judge.settings.statistics import StatisticsSettings
    from jury_views.conclusion import FactsOfRun
    from jury_views.statistics_sections import STATISTICS_TABLES
    from jury_views.terminal.report_page import statistics_page

    sections, named = chosen_tables(sources, STATISTICS_TABLES, full=full, as_json=as_json)
    asked = StatisticsSettings.of(sources=named, **said)
    _use_jemalloc()
    found = call(VoteReports(note, threads=False).stats(asked))
    for remark in found.remarks():
        note(remark)
    if as_json:
        print_json(found.to_dict())
    else:
        run = asked.runs[0] if len(asked.runs) == 1 else None
        beside = FactsOfRun(rates=found.true_rates, drift=found.drift)
        print_page(statistics_page(found.named(), sections, run=run, beside=beside))
    return Exit.DONE


def _use_jemalloc() -> None:
    """Of Arrow's memory pools it returns freed memory soonest: a tenth less at the peak. Read by the import."""
    if sys.platform == "linux":
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "jemalloc")

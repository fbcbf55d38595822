"""`jury stats`: what the votes say: agreement, accuracy, confidence, discussion."""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jury_cli.exits import Exit
from jury_cli.option_groups import grouped
from jury_cli.options import finite
from jury_cli.vote_options import (
    OF_STORES,
    labels_option,
    recorded_options,
    seat_names,
    vote_file_options,
    word_options,
    words_of,
)
from jury_cli.vote_sources import ballots_and_labels, votes_are_in_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from jury_analysis.statistics import StatisticsOptions
    from jury_cases.votes.words import VerdictWords
    from jury_judge.statistics.statistics_groups import GroupedStatistics

_GROUPS = {
    "Votes of a store": ("run_ids", "everything", "search", *OF_STORES[2:], "store_url"),
    "Votes of files": ("votes", "judges", "fields", "label", "annotators", "cluster"),
    "Verdicts and labels": ("mappings", "order", "categories", "labels", "random_labels"),
    "What is counted": ("seats", "by", "include", "include_simulated"),
    "Figures": ("resamples", "seed", "epsilon"),
    "Results": ("as_json", "parquet"),
}
_INCLUDED = ("stale", "synthetic")
_RESAMPLES = 2000
_SEED = 20260927
_EPSILON = 0.1
"""Defaults as in `jury_analysis`, which `--help` does not import."""


def _included(context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[str, ...]:
    """Kinds of votes parted by commas."""
    names = seat_names(context, parameter, text)
    if unknown := [name for name in names if name not in _INCLUDED]:
        raise click.BadParameter(f"{unknown[0]!r} is not one of {', '.join(_INCLUDED)}", param=parameter)
    return names


@grouped("stats", _GROUPS)
@recorded_options
@vote_file_options
@word_options
@labels_option
@click.option(
    "--random-labels", is_flag=True, help="The labelled cases are a random sample of all: correct shares by them."
)
@click.option(
    "--seats", metavar="A,B,C", callback=seat_names, help="Only the votes of these seats, and of the final judge."
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
    callback=_included,
    help="Count votes that repeat an earlier one (stale), or stand in for a blocked answer (synthetic), too.",
)
@click.option("--include-simulated", is_flag=True, help="Count debates of simulated jurors too.")
@click.option(
    "--resamples",
    type=click.IntRange(0, 100_000),
    default=_RESAMPLES,
    show_default=True,
    help="Of the bootstrap; 0: no such intervals.",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=_SEED, show_default=True, help="Of the bootstrap.")
@click.option(
    "--epsilon",
    type=click.FloatRange(0, 1),
    callback=finite,
    default=_EPSILON,
    show_default=True,
    help="Of the alternative-annotator test: what a human's cost is worth, as a share of cases.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
@click.option(
    "--parquet",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the ballots that were read to this file too, with the labels of --labels.",
)
def command(**options: Any) -> int:
    """Say what recorded votes are worth: do the seats agree, are they right, does discussion help?

    Votes come from a store (--run, --all or a filter), or from files of other judges (--votes). Intervals are 95 %,
    over clusters of cases. docs/statistics.md explains every figure and what it does not prove, docs/votes.md
    the files.
    """
    from jury_judge.extras import check_statistics

    of_files = votes_are_in_files(options)
    _use_jemalloc()
    check_statistics("jury stats")
    if options["parquet"] is not None:
        from jury_judge.tables.ballot_file import BALLOTS
        from jury_judge.tables.table_file import check_new_table

        check_new_table(options["parquet"], BALLOTS)  # now, not after minutes of work

    words = words_of(options)
    ballots, labels = ballots_and_labels(options, words, of_files=of_files, columns=_columns(options))
    _report(ballots, labels, _statistics_options(options, words), options)
    return Exit.DONE


def _columns(options: dict[str, Any]) -> "Sequence[str]":
    """Those that are read of a store: the figures need some of them, the file of --parquet all."""
    from jury_analysis.ballots import SCHEMA, STATISTICS_COLUMNS

    return SCHEMA.names if options["parquet"] else (*STATISTICS_COLUMNS, "run_id")


def _use_jemalloc() -> None:
    """Of Arrow's memory pools it returns freed memory soonest: a tenth less at the peak. Read by the import."""
    if sys.platform == "linux":
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "jemalloc")


def _statistics_options(options: dict[str, Any], words: "VerdictWords") -> "StatisticsOptions":
    from jury_analysis.scale import Scale
    from jury_analysis.statistics import StatisticsOptions

    return StatisticsOptions(
        scale=Scale(words.categories, words.ordered),
        by_panel="panel" in options["by"],
        simulated=options["include_simulated"],
        stale="stale" in options["include"],
        synthetic="synthetic" in options["include"],
        random_labels=options["random_labels"],
        epsilon=options["epsilon"],
        resamples=options["resamples"],
        seed=options["seed"],
    )


def _report(
    ballots: "pa.Table", labels: "pa.Table | None", chosen: "StatisticsOptions", options: dict[str, Any]
) -> None:
    from jury_cli.terminal import note
    from jury_judge.statistics.statistics_groups import grouped_statistics

    found = grouped_statistics(ballots, labels, chosen, by=[name for name in options["by"] if name != "panel"])
    if options["parquet"] is not None:
        from jury_judge.tables.ballot_file import write_ballots

        write_ballots(options["parquet"], ballots, labels)
        note(f"{ballots.num_rows:,} ballots written to {options['parquet']}")
    for remark in found.remarks():
        note(remark)
    _print(found, as_json=options["as_json"])


def _print(found: "GroupedStatistics", *, as_json: bool) -> None:
    from jury_cli.terminal import page_console
    from jury_cli.views.statistics_page import statistics_page

    if as_json:
        print(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
    else:
        statistics_page(found).print(page_console())

"""`jury value`: what each seat and each round is worth, and what fewer of them would have cost and decided."""

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jury_cli.exits import Exit
from jury_cli.option_groups import grouped
from jury_cli.options import resolved_store
from jury_cli.vote_options import (
    OF_STORES,
    labels_option,
    recorded_options,
    seat_names,
    vote_file_options,
    word_options,
    words_of,
)
from jury_cli.vote_sources import ballots_and_labels, later_labels, selected_ballots, votes_are_in_files

if TYPE_CHECKING:
    from jury_analysis.panel_worth import PanelWorth, WorthOptions
    from jury_cases.votes.words import VerdictWords

_GROUPS = {
    "Votes of a store": ("run_ids", "everything", "search", *OF_STORES[2:], "store_url"),
    "Votes of files": ("votes", "judges", "fields", "label", "annotators", "cluster", "seats"),
    "Verdicts and labels": ("mappings", "order", "categories", "labels"),
    "What is counted": ("include_simulated", "orders", "seed"),
    "Results": ("as_json", "parquet"),
}
_ORDERS = 2000
_SEED = 20260927
"""Defaults as in `jury_analysis`, which `--help` does not import."""


@grouped("value", _GROUPS)
@recorded_options
@vote_file_options
@word_options
@labels_option
@click.option(
    "--seats", metavar="A,B,C", callback=seat_names, help="With --votes: the panel is these seats. [default: all]"
)
@click.option("--include-simulated", is_flag=True, help="Count debates of simulated jurors too.")
@click.option(
    "--orders",
    type=click.IntRange(2, 1_000_000),
    default=_ORDERS,
    show_default=True,
    help="Orders of the seats that are drawn for the values of more than 12 seats; of fewer, all subsets count.",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=_SEED, show_default=True, help="Of the drawn orders."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
@click.option(
    "--parquet",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write every choice of seats and rounds, with its cost and accuracy, to this file too.",
)
def command(**options: Any) -> int:
    """Say what each seat is worth, what each round adds, and which smaller panels would have done.

    Values of seats are of the first evaluation, which no juror made with sight of the others. Debates of a store
    are recounted under their own rules with fewer seats and rounds; votes of files are counted by their plurality.
    No model is called. docs/seat-value.md explains every figure, and what it does not prove.
    """
    from jury_judge.extras import check_statistics

    of_files = votes_are_in_files(options)
    check_statistics("jury value")
    if options["seats"] and not of_files:
        raise click.UsageError("--seats goes with --votes FILE: of a store every subset of the panel's seats is tried")
    if options["parquet"] is not None:
        from jury_judge.tables.frontier_file import FRONTIER
        from jury_judge.tables.table_file import check_new_table

        check_new_table(options["parquet"], FRONTIER)  # now, not after minutes of work
    words = words_of(options)
    found = _of_files(options, words) if of_files else _of_store(options, words)
    if options["parquet"] is not None:
        _write_parquet(found, options["parquet"])
    _print(found, as_json=options["as_json"])
    return Exit.DONE


def _of_files(options: dict[str, Any], words: "VerdictWords") -> "PanelWorth":
    from jury_analysis.panel_worth import panel_worth

    ballots, labels = ballots_and_labels(options, words, of_files=True)
    return panel_worth(ballots, labels, _worth_options(options, words))


def _of_store(options: dict[str, Any], words: "VerdictWords") -> "PanelWorth":
    from jury_analysis.panel_worth import panel_worth
    from jury_cli.terminal import Counting
    from jury_judge.statistics.panel_recounts import PanelRecount
    from jury_store.opening import open_store

    with (
        closing(open_store(resolved_store(options["store_url"]), write=False)) as store,
        closing(Counting("debates recounted")) as counting,
    ):
        ballots = selected_ballots(store, options)
        recount = PanelRecount(store, counting.count)
        return panel_worth(ballots, later_labels(options, words), _worth_options(options, words), recount)


def _worth_options(options: dict[str, Any], words: "VerdictWords") -> "WorthOptions":
    from jury_analysis.panel_worth import WorthOptions
    from jury_analysis.scale import Scale

    return WorthOptions(
        scale=Scale(words.categories, words.ordered),
        simulated=options["include_simulated"],
        orders=options["orders"],
        seed=options["seed"],
    )


def _write_parquet(found: "PanelWorth", path: Path) -> None:
    from jury_cli.terminal import note
    from jury_judge.tables.frontier_file import write_frontier

    write_frontier(path, found.frontier)
    note(f"{found.frontier.tried:,} choices of seats and rounds written to {path}")


def _print(found: "PanelWorth", *, as_json: bool) -> None:
    from jury_cli.terminal import page_console
    from jury_views.terminal.panel_worth import panel_worth_page

    if as_json:
        print(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
    else:
        panel_worth_page(found).print(page_console())

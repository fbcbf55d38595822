"""`jury value`: what each seat and each round is worth, and what fewer of them would have cost and decided."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from jury_cli.calls import call
from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.vote_options import COUNT, JUDGES, LABELS, OF_STORES, RECORDED, VOTES, counting, seat_names
from jury_judge.settings.statistics import ORDERS, SEED

_GROUPS = {
    "Votes of a store": OF_STORES,
    "Votes of files, and labels": ("votes", "judges", "seats", "labels"),
    "What is counted": ("count", "include_simulated", "orders", "seed"),
    "Results": ("as_json", "parquet"),
}


@counting("value", _GROUPS)
@options(RECORDED, VOTES, JUDGES, LABELS, COUNT)
@click.option(
    "--seats", metavar="A,B,C", callback=seat_names, help="With --votes: the panel is these seats. [default: all]"
)
@click.option("--include-simulated", is_flag=True, help="Count debates of simulated jurors too.")
@click.option(
    "--orders",
    type=click.IntRange(2, 1_000_000),
    default=ORDERS,
    show_default=True,
    help="Orders of the seats that are drawn for the values of more than 12 seats; of fewer, all subsets count.",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=SEED, show_default=True, help="Of the drawn orders.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
@click.option(
    "--parquet",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write every choice of seats and rounds, with its cost and accuracy, to this file too.",
)
def command(*, as_json: bool, **said: Any) -> int:
    """Say what each seat is worth, what each round adds, and which smaller panels would have done.

    Values of seats are of the first evaluation, which no juror made with sight of the others. Debates of a store
    are recounted under their own rules with fewer seats and rounds; votes of files are counted by their plurality.
    No model is called. docs/seat-value.md explains every figure, and what it does not prove.
    """
    from jury_cli.terminal import Counting, note, page_console
    from jury_judge.records.vote_reports import VoteReports
    from jury_judge.settings.statistics import WorthSettings
    from jury_views.terminal.panel_worth import panel_worth_page

    asked = WorthSettings.of(**said)
    with closing(Counting("debates recounted")) as counting_line:
        found = call(VoteReports(note, threads=False).value(asked, counting_line.count))
    if asked.parquet is not None:
        note(f"{found.frontier.tried:,} choices of seats and rounds written to {asked.parquet}")
    if as_json:
        print(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
    else:
        panel_worth_page(found).print(page_console())
    return Exit.DONE

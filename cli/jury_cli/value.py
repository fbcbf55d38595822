"""`jury value`: what each seat and each round is worth, and what fewer of them would have cost and decided."""

from typing import Any

import click

from jury_cli.calls import call
from jury_cli.exits import Exit
from jury_cli.option_groups import grouped, options
from jury_cli.options import fields
from jury_cli.report_options import json_option, schema_option
from jury_cli.terminal import Counting, note, print_report


@grouped("value", "Votes of a store", "Votes of files, and labels", "What is counted", "Results")
@click.argument("sources", metavar="[RUN|FILE]...", nargs=-1)
@options(fields("WorthSettings"))
@schema_option("Results", "value")
@options(json_option())
def command(*, as_json: bool, **said: Any) -> int:
    """Say what each seat is worth, what each round adds, and which smaller panels would have done.

    Values of seats are of the first evaluation, which no juror made with sight of the others. Debates of a store
    are recounted under their own rules with fewer seats and rounds; votes of files are counted by their plurality.
    No model is called. docs/seat-value.md explains every figure, and what it does not prove.
    """
    from jury_judge.records.votes import VoteReports
    from jury_judge.settings.statistics import WorthSettings
    from jury_views.terminal.report_page import panel_worth_page

    asked = WorthSettings.of(**said)
    with Counting("debates recounted") as counting_line:
        found = call(VoteReports(note, threads=False).value(asked, counting_line.count))
    if asked.parquet is not None:
        note(f"{found.frontier.tried:,} choices of seats and rounds written to {asked.parquet}")
    print_report(found.to_dict, lambda: panel_worth_page(found), as_json=as_json)
    return Exit.DONE

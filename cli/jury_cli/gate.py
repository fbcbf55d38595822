"""`jury gate`: is a run, or a panel, worse than another?"""

from typing import TYPE_CHECKING, Any

import click

from jury_cli.calls import call
from jury_cli.exits import Exit
from jury_cli.option_groups import grouped, options
from jury_cli.options import fields, option, settings_of_file
from jury_cli.report_options import json_option, schema_option
from jury_cli.terminal import note, print_json, print_page, print_report

if TYPE_CHECKING:
    from jury_judge.settings.gate import GateSettings
    from jury_views.gate_view import GateInWords

_IN_FILES = ("order", "categories")
"""Settings without an option: those of a settings file."""
_EXITS = {"pass": Exit.DONE, "fail": Exit.FAILED_ON, "inconclusive": Exit.INCONCLUSIVE}


@grouped(
    "gate",
    *("Runs of a store", "Judges of files", "Labels, and what is counted", "Decision", "Plan", "Figures", "Results"),
)
@click.argument("sources", metavar="[BASE CANDIDATE]", nargs=-1)
@options(fields("GateSettings"), settings_of_file("GateSettings", ""))
@option("--full", group="Results", is_flag=True, help="Print every table.")
@schema_option("Results", "gate-report", "gate-plan")
@options(json_option("Print the gate and the paired table as one JSON object."))
def command(*, sources: tuple[str, ...], full: bool, as_json: bool, **said: Any) -> int:
    """Decide whether CANDIDATE is worse than BASE: two runs of a store, two files of votes, or two lists of judges.
    With --true: whether one run keeps a limit.

    pass: the 95 % interval of the harm is within the margin. fail: it is above zero, and not within the margin.
    inconclusive: neither; how many cases it would take is printed. Exit codes 0, 1, 6. See docs/gate.md.

    Tables follow by name: verdicts, changes; both with --full.
    """
    from jury_cli.report_options import chosen_tables
    from jury_judge.settings.gate import GateSettings
    from jury_views.paired_sections import PAIRED_TABLES

    of_file = click.get_current_context().default_map or {}
    tables, named = chosen_tables(sources, PAIRED_TABLES, full=full, as_json=as_json)
    asked = GateSettings.of(sources=named, **said, **{name: of_file[name] for name in _IN_FILES if name in of_file})
    decides = asked.plan is None or asked.true is not None
    return _decide(asked, tables, as_json=as_json) if decides else _plan(asked, as_json=as_json)


def _plan(asked: "GateSettings", *, as_json: bool) -> Exit:
    from jury_judge.records.votes import VoteReports
    from jury_views.terminal.report_page import plan_page

    found = call(VoteReports(note, threads=False).plan(asked))
    print_report(found.to_dict, lambda: plan_page(found), as_json=as_json)
    return Exit.DONE


def _decide(asked: "GateSettings", tables: tuple[str, ...], *, as_json: bool) -> Exit:
    from jury_judge.records.votes import VoteReports
    from jury_views.terminal.report_page import gate_page

    reports = VoteReports(note, threads=False)
    named = call(reports.gate(asked) if asked.true is None else reports.true_gate(asked))
    _write(asked, named)
    if as_json:
        print_json(named.to_dict())
        note(named.headline)
        if named.counted:
            note(f"the {named.counted} are counted")
    else:
        print_page(gate_page(named, tables))
    return _EXITS[named.outcome]


def _write(asked: "GateSettings", named: "GateInWords") -> None:
    from jury_judge.report_files import write_report
    from jury_views.junit import gate_junit
    from jury_views.markdown import gate_markdown

    if asked.junit is not None:
        write_report(asked.junit, gate_junit(named))
    if asked.markdown is not None:
        write_report(asked.markdown, gate_markdown(named))

"""`jury gate`: is a run, or a panel, worse than another?"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jury_cli.calls import call
from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import STORE, WHERE, finite
from jury_cli.settings_option import settings_option
from jury_cli.vote_options import COUNT, FILTER, LABELS, VOTES, counting, included, seat_names
from jury_events.verdict import FAIL, PASS, REVIEW
from jury_judge.settings.statistics import RESAMPLES, SEED

if TYPE_CHECKING:
    from jury_judge.settings.gate import GateSettings
    from jury_views.gate_view import NamedGate

_GROUPS = {
    "Runs of a store": ("where", "filters", "store_url"),
    "Judges of files": ("votes", "base", "candidate"),
    "Labels, and what is counted": ("labels", "count", "include", "include_simulated"),
    "Decision": ("metric", "margin", "worse", "inconclusive"),
    "Plan": ("plan", "discordance", "cluster_size", "correlation"),
    "Figures": ("resamples", "seed"),
    "Results": ("full", "as_json", "junit", "markdown"),
}
_RARE = ("count", "include", "discordance", "cluster_size", "correlation", "resamples", "seed")
_IN_FILES = ("order", "categories")
"""Settings without an option: those of a settings file."""
_EXITS = {"pass": Exit.DONE, "fail": Exit.FAILED_ON, "inconclusive": Exit.INCONCLUSIVE}


def _settings() -> "type[GateSettings]":
    from jury_judge.settings.gate import GateSettings

    return GateSettings


@counting("gate", _GROUPS, _RARE)
@click.argument("sources", metavar="[BASE CANDIDATE]", nargs=-1)
@options(settings_option(_settings), STORE, WHERE, FILTER, VOTES)
@click.option(
    "--base",
    metavar="A,B,C",
    type=click.UNPROCESSED,
    callback=seat_names,
    help="With --votes: the judges of the base.",
)
@click.option(
    "--candidate",
    metavar="A,B,D",
    type=click.UNPROCESSED,
    callback=seat_names,
    help="With --votes: the judges of the candidate.",
)
@options(LABELS, COUNT)
@click.option(
    "--include",
    metavar="stale,synthetic",
    type=click.UNPROCESSED,
    callback=included,
    help="With --votes: count votes that repeat an earlier one (stale), or stand in for a blocked answer (synthetic).",
)
@click.option("--include-simulated", is_flag=True, help="Count debates of simulated jurors too.")
@click.option(
    "--metric",
    metavar="NAME",
    help="accuracy, false_pass, false_fail, score, or a verdict: its share. [default: false_pass with labels, else "
    f"{FAIL}]",
)
@click.option(
    "--margin",
    type=click.FloatRange(0, 100),
    callback=finite,
    help="Harm that is accepted, as a share; of the score in points. [default: 0.02, of the score 2]",
)
@click.option(
    "--worse",
    type=click.Choice(["more", "less", "either"]),
    help="Which change of a verdict's share, or of the score, does harm. [default: either between two panels; else "
    f"more {FAIL} or {REVIEW}, less {PASS}, a lower score]",
)
@click.option(
    "--inconclusive", type=click.Choice(["pass", "fail"]), help="What an inconclusive gate counts as. [default: exit 6]"
)
@click.option(
    "--plan",
    type=click.IntRange(1, 1_000_000_000),
    metavar="CASES",
    help="Decide nothing: say what so many cases could find. BASE, and CANDIDATE, are optional then; what was judged "
    "says how much pairs vary.",
)
@click.option(
    "--discordance",
    type=click.FloatRange(0, 10_000),
    callback=finite,
    metavar="SHARE",
    help="With --plan: assume that so many pairs change; of the score, this variance of a pair's change. "
    "[default: as measured, else 0.1, of the score 400]",
)
@click.option(
    "--cluster-size",
    type=click.FloatRange(1, 1_000_000),
    callback=finite,
    help="With --plan: the mean number of cases of a cluster. [default: as in what was judged, else 1]",
)
@click.option(
    "--icc",
    "correlation",
    type=click.FloatRange(0, 1),
    callback=finite,
    help="With --plan: how much the changes of a cluster's cases correlate. [default: 0]",
)
@click.option(
    "--resamples",
    type=click.IntRange(0, 100_000),
    default=RESAMPLES,
    show_default=True,
    help="Of the bootstrap of flips between repeats; 0: no such interval.",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=SEED, show_default=True, help="Of that bootstrap.")
@click.option("--full", is_flag=True, help="Print every table.")
@click.option("--json", "as_json", is_flag=True, help="Print the gate and the paired table as one JSON object.")
@click.option(
    "--junit", type=click.Path(path_type=Path), metavar="FILE", help="Write the gate as JUnit XML to this file too."
)
@click.option(
    "--markdown", type=click.Path(path_type=Path), metavar="FILE", help="Write a summary for the page of a CI job."
)
def command(*, sources: tuple[str, ...], full: bool, as_json: bool, **said: Any) -> int:
    """Decide whether CANDIDATE is worse than BASE: two runs of a store, two files of votes, or two lists of judges.

    pass: the 95 % interval of the harm is within the margin. fail: it is above zero, and not within the margin.
    inconclusive: neither; how many cases it would take is printed. Exit codes 0, 1, 6. See docs/gate.md.

    Tables follow by name: verdicts, changes; both with --full.
    """
    from jury_cli.tables import chosen_tables
    from jury_judge.settings.gate import GateSettings
    from jury_views.paired_sections import GROUPS

    of_file = click.get_current_context().default_map or {}
    tables, named = chosen_tables(sources, GROUPS, full=full, as_json=as_json)
    asked = GateSettings.of(sources=named, **said, **{name: of_file[name] for name in _IN_FILES if name in of_file})
    return _plan(asked, as_json=as_json) if asked.plan is not None else _decide(asked, tables, as_json=as_json)


def _plan(asked: "GateSettings", *, as_json: bool) -> Exit:
    from jury_cli.terminal import note, page_console
    from jury_judge.records.vote_reports import VoteReports
    from jury_views.terminal.gate import plan_page

    found = call(VoteReports(note, threads=False).plan(asked))
    if as_json:
        print(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
    else:
        plan_page(found).print(page_console())
    return Exit.DONE


def _decide(asked: "GateSettings", tables: tuple[str, ...], *, as_json: bool) -> Exit:
    from jury_cli.terminal import note, page_console
    from jury_judge.records.vote_reports import VoteReports
    from jury_views.gate_view import headline
    from jury_views.terminal.gate import gate_page

    named = call(VoteReports(note, threads=False).gate(asked))
    _write(asked, named)
    if as_json:
        print(json.dumps(named.to_dict(), ensure_ascii=False, indent=2))
        note(headline(named))
        if named.counted:
            note(f"the {named.counted} are counted")
    else:
        gate_page(named, tables).print(page_console())
    return _EXITS[named.outcome]


def _write(asked: "GateSettings", named: "NamedGate") -> None:
    from jury_judge.report_files import write_report
    from jury_views.reports.gate_reports import gate_junit, gate_markdown

    if asked.junit is not None:
        write_report(asked.junit, gate_junit(named))
    if asked.markdown is not None:
        write_report(asked.markdown, gate_markdown(named))

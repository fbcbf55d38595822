"""`jury gate`: is a run, or a panel, worse than another?"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jury_cli.exits import Exit
from jury_cli.list_options import filter_options
from jury_cli.option_groups import grouped
from jury_cli.options import finite, resolved_store, store_option
from jury_cli.vote_options import (
    OF_FILES,
    REVIEWS,
    labels_option,
    seat_names,
    vote_file_options,
    vote_options,
    word_options,
    words_of,
)
from jury_cli.vote_sources import later_labels

if TYPE_CHECKING:
    import pyarrow as pa

    from jury_analysis.gate import GateOptions
    from jury_cases.votes.words import VerdictWords
    from jury_judge.statistics.gates import AssumedVariation, GateSides
    from jury_views.gate_view import NamedGate

_FILTERS = (
    *("where", "search", "status", "verdict", "disposition", "reviewed", "model", "quorum", "min_cost", "max_cost"),
)
_GROUPS = {
    "Runs of a store": ("search", *(name for name in _FILTERS if name != "search"), "store_url"),
    "Judges of files": ("votes", "base", "candidate", "judges", "fields", "label", "annotators", "cluster"),
    "Verdicts and labels": ("mappings", "order", "categories", "labels"),
    "What is counted": ("include", "include_simulated"),
    "Decision": ("metric", "margin", "worse", "inconclusive"),
    "Plan": ("plan", "discordance", "cluster_size", "correlation"),
    "Figures": ("resamples", "seed"),
    "Results": ("as_json", "junit", "markdown"),
}
_KINDS = ("stale", "synthetic")
_ASSUMED = ("discordance", "cluster_size", "correlation")
_EXITS = {"pass": Exit.DONE, "fail": Exit.FAILED_ON, "inconclusive": Exit.INCONCLUSIVE}


def _kinds(context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[str, ...]:
    names = seat_names(context, parameter, text)
    if unknown := [name for name in names if name not in _KINDS]:
        raise click.BadParameter(f"{unknown[0]!r} is not one of {', '.join(_KINDS)}", param=parameter)
    return names


@grouped("gate", _GROUPS)
@click.argument("runs", metavar="[BASE CANDIDATE]", nargs=-1)
@store_option
@filter_options
@vote_file_options
@click.option("--base", metavar="A,B,C", callback=seat_names, help="With --votes: the judges of the base.")
@click.option("--candidate", metavar="A,B,D", callback=seat_names, help="With --votes: the judges of the candidate.")
@word_options
@labels_option
@click.option(
    "--include",
    metavar="stale,synthetic",
    callback=_kinds,
    help="With --votes: count votes that repeat an earlier one (stale), or stand in for a blocked answer (synthetic).",
)
@click.option("--include-simulated", is_flag=True, help="Count debates of simulated jurors too.")
@click.option(
    "--metric",
    metavar="NAME",
    help="accuracy, false_pass, false_fail, score, or a verdict: its share. [default: false_pass with labels, else "
    "unsafe_fail]",
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
    "more unsafe_fail or needs_review, less safe_pass, a lower score]",
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
    default=2000,
    show_default=True,
    help="Of the bootstrap of flips between repeats; 0: no such interval.",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=20260927, show_default=True, help="Of that bootstrap."
)
@click.option("--json", "as_json", is_flag=True, help="Print the gate and the paired table as one JSON object.")
@click.option(
    "--junit", type=click.Path(path_type=Path), metavar="FILE", help="Write the gate as JUnit XML to this file too."
)
@click.option(
    "--markdown", type=click.Path(path_type=Path), metavar="FILE", help="Write a summary for the page of a CI job."
)
def command(**options: Any) -> int:
    """Decide whether CANDIDATE is worse than BASE: two runs of a store, or two lists of judges with --votes.

    pass: the 95 % interval of the harm is within the margin. fail: it is above zero, and not within the margin.
    inconclusive: neither; how many cases it would take is printed. Exit codes 0, 1, 6. See docs/gate.md.
    """
    from jury_judge.extras import check_statistics

    _check(options)
    check_statistics("jury gate")
    words = words_of(options)
    sides, labels = _read(options, words)
    chosen = _gate_options(options, words)
    if options["plan"] is not None:
        return _plan(options, sides, labels, chosen)
    return _decide(options, sides, labels, chosen)


def _check(options: dict[str, Any]) -> None:
    """Refuse options that do not go together, before anything is read."""
    planning = options["plan"] is not None
    if [*options["votes"], *options["labels"]].count("-") > 1:
        raise click.UsageError("standard input (-) can be read once: name a file for the votes or for the labels")
    (_check_files if options["votes"] else _check_runs)(options, planning=planning)
    _check_plan(options, planning=planning)
    if options["metric"] != "score":
        for name in ("margin", "discordance"):
            if options[name] is not None and options[name] > 1:
                raise click.UsageError(f"--{name} {options[name]:g} is more than all cases: it is a share, as 0.02")
    _check_reports(options)


def _check_files(options: dict[str, Any], *, planning: bool) -> None:
    if REVIEWS in options["labels"]:
        raise click.UsageError("--labels reviews are those of a store: name its runs, or a file ./reviews")
    if stored := [name for name in (*_FILTERS, "store_url") if options[name]]:
        raise click.UsageError(f"{_flag(stored[0])} selects debates of a store: leave it out with --votes")
    if options["runs"]:
        raise click.UsageError("BASE and CANDIDATE are runs of a store; with --votes give --base and --candidate")
    if not options["base"] or not (options["candidate"] or planning):
        raise click.UsageError("with --votes name the judges of both sides: --base A,B,C --candidate A,B,D")


def _check_runs(options: dict[str, Any], *, planning: bool) -> None:
    if filed := [name for name in (*OF_FILES, "base", "candidate", "include") if options[name]]:
        raise click.UsageError(f"{_flag(filed[0])} is about votes of files: it goes with --votes FILE")
    if len(options["runs"]) > 2 or (len(options["runs"]) < 2 and not planning):  # noqa: PLR2004  (base and candidate)
        raise click.UsageError("name two runs, BASE and CANDIDATE; or judges of files with --votes, or --plan CASES")
    if not options["runs"] and options["labels"]:
        raise click.UsageError("--labels are of cases that were judged: name BASE, or files with --votes")


def _check_plan(options: dict[str, Any], *, planning: bool) -> None:
    if planning:
        if given := [name for name in ("junit", "markdown", "inconclusive", "worse") if options[name] is not None]:
            raise click.UsageError(f"--plan decides nothing: leave {_flag(given[0])} out")
    elif given := [name for name in _ASSUMED if options[name] is not None]:
        raise click.UsageError(f"{_flag(given[0])} is an assumption of a plan: it goes with --plan CASES")


def _flag(name: str) -> str:
    flags = {"fields": "--field", "store_url": "--store", "correlation": "--icc"}
    return flags.get(name, f"--{name.replace('_', '-')}")


def _check_reports(options: dict[str, Any]) -> None:
    from jury_judge.report_files import check_report_path
    from jury_views.reports import junit, markdown

    if options["junit"] and options["markdown"] and options["junit"].resolve() == options["markdown"].resolve():
        raise click.UsageError("--junit and --markdown name the same file: give each its own")
    for name, begins in (("junit", junit.BEGINS), ("markdown", markdown.BEGINS)):
        if options[name] is not None:
            check_report_path(options[name], begins)


def _read(options: dict[str, Any], words: "VerdictWords") -> "tuple[GateSides | None, pa.Table | None]":
    from jury_cli.list_options import conditions_of
    from jury_judge.statistics.gates import sides_of_judges, sides_of_runs

    if options["votes"]:
        from jury_cases.votes.vote_files import read_votes

        found = read_votes(options["votes"], vote_options(options, words, ()))
        sides = sides_of_judges(found.ballots, options["base"], options["candidate"])
        return sides, later_labels(options, words, found.labels)
    labels = later_labels(options, words)
    if not options["runs"]:
        return None, labels
    from jury_store.opening import open_store

    base, candidate = (*options["runs"], None)[:2]
    wanted = conditions_of(options)
    store = open_store(resolved_store(options["store_url"]), write=False)
    try:
        return sides_of_runs(store, base, candidate, wanted), labels
    finally:
        store.close()


def _gate_options(options: dict[str, Any], words: "VerdictWords") -> "GateOptions":
    from jury_analysis.gate import GateOptions
    from jury_analysis.pairing import PairedOptions
    from jury_analysis.scale import Scale

    return GateOptions(
        metric=options["metric"],
        margin=options["margin"],
        worse=options["worse"],
        paired=PairedOptions(
            scale=Scale(words.categories, words.ordered),
            simulated=options["include_simulated"],
            stale="stale" in options["include"],
            synthetic="synthetic" in options["include"],
        ),
        resamples=options["resamples"],
        seed=options["seed"],
    )


def _plan(options: dict[str, Any], sides: "GateSides | None", labels: "pa.Table | None", chosen: "GateOptions") -> Exit:
    from jury_cli.terminal import page_console
    from jury_judge.statistics.gates import plan
    from jury_views.terminal.gate import plan_page

    found = plan(options["plan"], sides, labels, chosen, _assumed(options))
    if options["as_json"]:
        print(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
    else:
        plan_page(found).print(page_console())
    return Exit.DONE


def _assumed(options: dict[str, Any]) -> "AssumedVariation":
    from jury_judge.statistics.gates import AssumedVariation

    return AssumedVariation(options["discordance"], options["cluster_size"], options["correlation"])


def _decide(
    options: dict[str, Any], sides: "GateSides | None", labels: "pa.Table | None", chosen: "GateOptions"
) -> Exit:
    from jury_cli.terminal import note, page_console
    from jury_judge.statistics.gates import decide
    from jury_views.gate_view import NamedGate, headline
    from jury_views.terminal.gate import gate_page

    if sides is None or sides.candidate is None:
        raise AssertionError("_check refuses a gate without two sides")
    report = decide(sides, labels, chosen)
    named = NamedGate(sides.base, sides.candidate, report, options["inconclusive"], options["worse"])
    _write(options, named)
    if options["as_json"]:
        print(json.dumps(named.report.to_dict(), ensure_ascii=False, indent=2))
        note(headline(named))
    else:
        gate_page(named).print(page_console())
    return _EXITS[named.outcome]


def _write(options: dict[str, Any], named: "NamedGate") -> None:
    from jury_judge.report_files import write_report
    from jury_views.reports.gate_reports import gate_junit, gate_markdown

    if options["junit"] is not None:
        write_report(options["junit"], gate_junit(named))
    if options["markdown"] is not None:
        write_report(options["markdown"], gate_markdown(named))

"""`jury calibrate`: from which agreement on a verdict may stand without a person."""

import json
from contextlib import closing
from math import isclose
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
from jury_cli.vote_sources import ballots_and_labels, votes_are_in_files

if TYPE_CHECKING:
    from jury_analysis.calibration import CalibrationOptions
    from jury_cases.votes.words import VerdictWords
    from jury_judge.statistics.calibrating import FoundCalibration

_GROUPS = {
    "Promise": ("risk", "confidence", "on", "signal"),
    "Parts": ("split", "fit", "certify", "test", "seed"),
    "Votes of a store": ("run_ids", "everything", "search", *OF_STORES[2:], "store_url"),
    "Votes of files": ("votes", "judges", "fields", "label", "annotators", "cluster", "seats"),
    "Verdicts and labels": ("mappings", "order", "categories", "labels", "include_simulated"),
    "Results": ("output", "as_json"),
}
_SEED = 20260927
"""As in `jury_analysis`, which `--help` does not import."""

_WHOLE = 100.0
_SIGNALS = ("share", "isotonic", "weights", "dawid-skene")


def _inside(_context: click.Context, parameter: click.Parameter, value: float) -> float:
    """A share between 0 and 1, both excluded."""
    if not 0 < value < 1:
        raise click.BadParameter(f"{value:g} is not between 0 and 1, as 0.05", param=parameter)
    return value


def _shares(_context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[float, ...] | None:
    """`40/40/20`."""
    if text is None:
        return None
    try:
        shares = tuple(float(one) for one in text.split("/"))
    except ValueError:
        shares = ()
    if len(shares) != 3 or not all(0 <= one <= _WHOLE for one in shares) or not isclose(sum(shares), _WHOLE):  # noqa: PLR2004  (fit, certify, test)
        raise click.BadParameter("must be the per cent to fit, certify and test on, as 40/40/20", param=parameter)
    return shares


@grouped("calibrate", _GROUPS)
@recorded_options
@vote_file_options
@word_options
@labels_option
@click.option("--seats", metavar="A,B,C", callback=seat_names, help="With --votes: the panel is these seats.")
@click.option("--include-simulated", is_flag=True, help="Count debates of simulated jurors too.")
@click.option(
    "--risk", type=float, default=0.05, show_default=True, callback=_inside, help="At most this share of them is wrong."
)
@click.option(
    "--confidence", type=float, default=0.9, show_default=True, callback=_inside, help="With this confidence."
)
@click.option(
    "--on",
    type=click.Choice(["error", "false_pass"]),
    default="error",
    show_default=True,
    help="What is wrong: a verdict that is not the label, or a pass that is labelled a fail.",
)
@click.option(
    "--signal",
    type=click.Choice(_SIGNALS),
    default="share",
    show_default=True,
    help="How sure the panel is: the share of its votes, or a model that is fitted on a part of the cases.",
)
@click.option(
    "--split",
    metavar="A/B/C",
    callback=_shares,
    help="Per cent of the clusters to fit, certify and test on, drawn. [default: 0/100/0, or 40/40/20 with a model]",
)
@click.option("--fit", metavar="FILE", type=click.Path(path_type=Path), help="The cases to fit on, an id a line.")
@click.option("--certify", metavar="FILE", type=click.Path(path_type=Path), help="The cases to certify on.")
@click.option("--test", metavar="FILE", type=click.Path(path_type=Path), help="The cases to report on.")
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=_SEED, show_default=True, help="Of the draw of the parts."
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the calibration to this file, for final.calibration of a panel file.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def command(**options: Any) -> int:
    """Find from which signal on a verdict may stand without a person: of those at most --risk are wrong.

    The threshold is certified on labelled cases. A panel whose final rules name the file turns every verdict that does
    not reach it into needs_review. Exits with 6 where no threshold can be certified. docs/calibration.md explains
    what is promised, and what is not.
    """
    from jury_judge.extras import check_statistics

    of_files = votes_are_in_files(options)
    check_statistics("jury calibrate")
    if options["seats"] and not of_files:
        raise click.UsageError("--seats goes with --votes FILE: of a store the panel is calibrated as it sat")
    if options["split"] is not None and _named(options):
        raise click.UsageError("--split draws the parts, --fit, --certify and --test name them: give one or the other")
    words = words_of(options)
    chosen = _options(options, words)
    found = _found(options, words, chosen, of_files=of_files)
    _print(found, as_json=options["as_json"])
    if found.report.certificate.threshold is None:
        return Exit.INCONCLUSIVE
    _write(found, options["output"])
    return Exit.DONE


def _named(options: dict[str, Any]) -> list[str]:
    return [part for part in ("fit", "certify", "test") if options[part] is not None]


def _options(options: dict[str, Any], words: "VerdictWords") -> "CalibrationOptions":
    from jury_analysis.calibration import CalibrationOptions
    from jury_analysis.scale import Scale
    from jury_judge.statistics.calibrating import read_case_ids

    return CalibrationOptions(
        risk=options["risk"],
        confidence=options["confidence"],
        on=options["on"],
        signal=options["signal"].replace("-", "_"),
        split=options["split"],
        cases={part: read_case_ids(options[part]) for part in _named(options)},
        seed=options["seed"],
        scale=Scale(words.categories, words.ordered),
        simulated=options["include_simulated"],
    )


def _found(
    options: dict[str, Any], words: "VerdictWords", chosen: "CalibrationOptions", *, of_files: bool
) -> "FoundCalibration":
    from jury_judge.statistics.calibrating import calibrate_ballots
    from jury_store.opening import open_store

    # A bound holds for cases like those that were labelled: reviews of the queue alone are a chosen part.
    ballots, labels = ballots_and_labels(options, words, of_files=of_files, random_only=True)
    if of_files:
        return calibrate_ballots(ballots, labels, chosen)
    with closing(open_store(resolved_store(options["store_url"]), write=False)) as store:
        return calibrate_ballots(ballots, labels, chosen, store)


def _write(found: "FoundCalibration", path: Path | None) -> None:
    from jury_cli.terminal import note
    from jury_judge.statistics.calibrating import write_calibration

    if path is None:
        note("the calibration is not written: -o FILE writes it")
        return
    write_calibration(path, found)
    note(f"calibration written to {path}")
    if found.panel is None:
        note("votes of files name no panel: a panel cannot take this calibration")


def _print(found: "FoundCalibration", *, as_json: bool) -> None:
    from jury_cli.terminal import page_console
    from jury_events.text.visible_text import visible_line
    from jury_views.terminal.calibration import calibration_page

    if as_json:
        print(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
    else:
        panel = None if found.panel is None else f"{visible_line(found.panel.name, 80)} ({found.panel.panel[:16]})"
        calibration_page(found.report, panel).print(page_console())

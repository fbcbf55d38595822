"""`jury calibrate`: from which agreement on a verdict may stand without a person."""

import json
from math import isclose
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jury_cli.calls import call
from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.vote_options import COUNT, JUDGES, LABELS, OF_STORES, READ, RECORDED, VOTES, counting, seat_names
from jury_judge.settings.statistics import CONFIDENCE, RISK, SEED

if TYPE_CHECKING:
    from jury_judge.statistics.calibrating import FoundCalibration
    from jury_judge.statistics.ladder_calibrating import FoundLadder

_GROUPS = {
    "Promise": ("risk", "confidence", "on", "signal", "stages", "read", "count"),
    "Parts": ("split", "fit", "certify", "test", "seed"),
    "Votes of a store": OF_STORES,
    "Votes of files, and labels": ("votes", "judges", "seats", "labels", "include_simulated"),
    "Results": ("output", "as_json"),
}
_RARE = ("read", "judges", "fit", "certify", "test", "seed")
_WHOLE = 100.0
_RISKS = "must be a share, as 0.05, or shares of a ladder, each once, as pass=0.05,fail=0.1,missed=0.1"
_SIGNALS = ("share", "isotonic", "weights", "dawid-skene", "votes+step", "probability")


def _inside(_context: click.Context, parameter: click.Parameter, value: float) -> float:
    """A share between 0 and 1, both excluded."""
    if not 0 < value < 1:
        raise click.BadParameter(f"{value:g} is not between 0 and 1, as 0.05", param=parameter)
    return value


def _risk(_context: click.Context, parameter: click.Parameter, text: str) -> float | dict[str, float]:
    """`0.05`, or by outcome `pass=0.05,fail=0.1,missed=0.1`."""
    try:
        if "=" not in text:
            return _inside(_context, parameter, float(text))
        pairs = [one.split("=") for one in text.split(",")]
        risks = {name.strip(): _inside(_context, parameter, float(value)) for name, value in pairs}
    except ValueError:
        raise click.BadParameter(_RISKS, param=parameter) from None
    if len(risks) < len(pairs) or not risks.keys() <= {"pass", "fail", "missed"}:
        raise click.BadParameter(_RISKS, param=parameter)
    return risks


def _stages(_context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[str, ...]:
    """`A,B;A,B,C`."""
    stages = () if text is None else tuple(one.strip() for one in text.split(";"))
    if text is not None and not all(stages):
        raise click.BadParameter("must be the stages of a ladder, parted by ;", param=parameter)
    return stages


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


@counting("calibrate", _GROUPS, _RARE)
@options(RECORDED, VOTES, JUDGES, LABELS, READ, COUNT)
@click.option("--seats", metavar="A,B,C", callback=seat_names, help="With --votes: the panel is these seats.")
@click.option("--include-simulated", is_flag=True, help="Count debates of simulated jurors too.")
@click.option(
    "--risk",
    metavar="SHARE",
    default=str(RISK),
    show_default=True,
    callback=_risk,
    help="At most this share of them is wrong. Of a ladder by outcome, as pass=0.05,fail=0.1; missed=0.1: at most this "
    "share of the failing cases passes early.",
)
@click.option(
    "--confidence", type=float, default=CONFIDENCE, show_default=True, callback=_inside, help="With this confidence."
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
    help="How sure the panel is: the share of its votes, the share of those that also name the same decisive message, "
    "the mean probability of the verdict, or a model that is fitted on a part of the cases.",
)
@click.option(
    "--stages",
    metavar="STAGE;STAGE…",
    callback=_stages,
    help="Certify a ladder of stages, the cheapest first: of a store a run each, or one run by the ladder with "
    "certificate: none; of files the seats of each, as 'a,b;a,b,c'. Every stage has judged all labelled cases.",
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
    "--seed", type=click.IntRange(0, 2**63 - 1), default=SEED, show_default=True, help="Of the draw of the parts."
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the calibration to this file, for final.calibration of a panel file, or certificate of a ladder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def command(*, risk: Any, signal: str, output: Path | None, as_json: bool, **said: Any) -> int:
    """Find from which signal on a verdict may stand without a person: of those at most --risk are wrong.

    The threshold is certified on labelled cases. A panel whose final rules name the file leaves every verdict that
    does not reach it to people. Exits with 6 where no threshold can be certified. docs/calibration.md explains
    what is promised, and what is not; docs/stages.md ladders of stages (--stages).
    """
    from jury_cli.terminal import note
    from jury_judge.records.vote_reports import VoteReports
    from jury_judge.settings.calibration import CalibrationSettings

    promised = {"promises": risk} if isinstance(risk, dict) else {"risk": risk}
    asked = CalibrationSettings.of(signal=signal.replace("-", "_"), **promised, **said)
    reports = VoteReports(note, threads=False)
    if asked.stages:
        return _ladder(call(reports.calibrate_stages(asked)), output, as_json=as_json)
    found = call(reports.calibrate(asked))
    _print(found, as_json=as_json)
    if found.report.certificate.threshold is None:
        return Exit.INCONCLUSIVE
    _write(found, output)
    return Exit.DONE


def _ladder(found: "FoundLadder", path: Path | None, *, as_json: bool) -> int:
    from jury_cli.terminal import note, page_console
    from jury_judge.statistics.ladder_calibrating import write_ladder
    from jury_views.terminal.ladder import ladder_page

    if as_json:
        print(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
    else:
        ladder_page(found.report).print(page_console())
    if not found.report.accepts:
        return Exit.INCONCLUSIVE
    if path is None:
        note("the ladder is not written: -o FILE writes it")
        return Exit.DONE
    write_ladder(path, found)
    note(f"ladder written to {path}")
    if None in found.panels:
        note("votes of files name no panel: a staged run cannot take this ladder")
    return Exit.DONE


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
    from jury_events.text import visible_line
    from jury_views.terminal.calibration import calibration_page

    if as_json:
        print(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
    else:
        panel = None if found.panel is None else f"{visible_line(found.panel.name, 80)} ({found.panel.panel[:16]})"
        calibration_page(found.report, panel).print(page_console())

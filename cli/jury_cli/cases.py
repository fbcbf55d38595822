"""`jury cases`: what jurors would be shown of the cases of files, before anything is run."""

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import ListingFormats, artifact_hosts, case_files, fields, taken
from jury_cli.streams import note
from jury_cli.terminal import Counting, print_json, print_report

if TYPE_CHECKING:
    from jury_judge import CasePreview, CaseSummary, UnreadableRows
    from jury_judge.runs.case_preview import ShownCase

T = TypeVar("T")


@click.command("cases", cls=ListingFormats)
@click.argument("paths", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=str))
@options(fields("CaseSettings"), fields("PanelSettings"))
@click.option(
    "--head", type=click.IntRange(min=0), default=1, show_default=True, metavar="N", help="Show the first N cases."
)
@click.option("--prompt", "seat", metavar="SEAT", help="Show the whole first prompt of this seat instead of the case.")
@click.option(
    "--marked", is_flag=True, help="Show texts as they are sent, with the marks that keep data and orders apart."
)
@click.option(
    "--summary",
    is_flag=True,
    help="Show a table instead: the formats, and of each its cases, items by kind, speakers and what is not shown.",
)
@click.option(
    "--propose",
    is_flag=True,
    help="Draft a format file for rows of an unknown form, with what it would show of the first case.",
)
@click.option("--verbose", is_flag=True, help="Say of each case what of it jurors are not shown.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(**given: Any) -> int:
    """Show what jurors would be shown of the cases of files: nothing is run, written or called.

    The first cases as jurors see them, then what there is: formats, labels, metadata, what is not shown, tokens.
    """
    from jury_judge.panels.files import load_panel
    from jury_judge.runs.case_preview import CasePreview
    from jury_judge.settings.jury import PanelSettings

    summary, propose = given.pop("summary"), given.pop("propose")
    panel = taken(PanelSettings, given)
    loaded = load_panel(panel.panel_name, os.environ, panel)
    files = case_files(given, artifact_hosts(), refuse_labels=False, scale=loaded.panel.scale)
    if propose:
        from jury_judge.runs.case_preview import propose_format

        for line in propose_format(files, loaded).lines():
            print(line)
        return Exit.DONE
    if summary:
        from jury_judge.runs.case_preview import CaseSummary

        return _summary(CaseSummary(files, loaded), as_json=given["as_json"])
    shown = {name: given.pop(name) for name in ("head", "seat", "marked")}
    return _cases(CasePreview(files, loaded, **shown), **given)


def _summary(summary: "CaseSummary", *, as_json: bool) -> int:
    from jury_cli.views.cases import summary_page

    code = _read_to_the_end(summary, lambda _counted: None)
    print_report(summary.data, lambda: summary_page(summary), as_json=as_json)
    return _after_unreadable(code, summary.unreadable)


def _read_to_the_end(cases: Iterable[T], take: Callable[[T], None]) -> Exit:
    with Counting("cases read") as counting:
        try:
            for one in cases:
                counting.count()
                take(one)
        except KeyboardInterrupt:
            note("jury: interrupted; what follows is of the cases that were read")
            return Exit.INTERRUPTED
    return Exit.DONE


def _after_unreadable(code: Exit, unreadable: "UnreadableRows") -> Exit:
    for line in unreadable.lines():
        note(line)
    return Exit.STOPPED if code is Exit.DONE and unreadable.count else code


def _cases(preview: "CasePreview", *, verbose: bool, as_json: bool) -> int:
    from jury_cli.views.cases import case_lines, preview_lines

    kept: list[ShownCase] = []

    def take(shown: "ShownCase") -> None:
        if as_json:
            kept.extend([shown] if shown.text is not None or (verbose and shown.not_shown) else [])
            return
        for line in case_lines(shown, verbose=verbose):
            print(line)

    code = _read_to_the_end(preview, take)
    if as_json:
        print_json({**preview.data(), "shown": [one._asdict() for one in kept]})
    else:
        for line in preview_lines(preview):
            print(line)
    return _after_unreadable(code, preview.unreadable)

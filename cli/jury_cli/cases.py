"""`jury cases`: what jurors would be shown of the cases of files, before anything is run."""

import json
import os
from typing import TYPE_CHECKING, Any

import click

from jury_cli.case_options import artifact_hosts, case_files, case_options
from jury_cli.exits import Exit
from jury_cli.options import panel_options

if TYPE_CHECKING:
    from jury_judge import CaseFiles


@click.command("cases")
@case_options
@panel_options
@click.option(
    "--head", type=click.IntRange(min=0), default=1, show_default=True, metavar="N", help="Show the first N cases."
)
@click.option("--prompt", "seat", metavar="SEAT", help="Show the whole first prompt of this seat instead of the case.")
@click.option(
    "--marked", is_flag=True, help="Show texts as they are sent, with the marks that keep data and orders apart."
)
@click.option("--verbose", is_flag=True, help="Say of each case what of it jurors are not shown.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(**options: Any) -> int:
    """Show what jurors would be shown of the cases of files: nothing is run, written or called.

    The first cases as jurors see them, then what there is: formats, labels, metadata, what is not shown, tokens.
    """
    return _cases(case_files(options, artifact_hosts(), refuse_labels=False), **options)


def _cases(
    files: "CaseFiles",
    *,
    panel_name: str | None,
    preset: str | None,
    language: str | None,
    max_rounds: int | None,
    threshold: float | None,
    method: str | None,
    judge_model: str | None,
    head: int,
    seat: str | None,
    marked: bool,
    verbose: bool,
    as_json: bool,
) -> int:
    from jury_cli.terminal import Counting, note
    from jury_cli.views.case_preview import case_lines, preview_lines
    from jury_judge.panels.files import load_panel
    from jury_judge.panels.variables import Overrides
    from jury_judge.runs.case_preview import CasePreview, ShownCase

    loaded = load_panel(
        panel_name,
        os.environ,
        Overrides(language, max_rounds, threshold, method, judge_model, preset),  # type: ignore[arg-type]
    )
    preview = CasePreview(files, loaded, head=head, seat=seat, marked=marked)
    counting = Counting("cases read")
    kept: list[ShownCase] = []
    code = Exit.DONE
    try:
        for shown in preview:
            counting.count()
            if as_json:
                kept += [shown] if shown.text is not None or (verbose and shown.not_shown) else []
                continue
            for line in case_lines(shown, verbose=verbose):
                print(line)
    except KeyboardInterrupt:
        code = Exit.INTERRUPTED
        note("jury: interrupted; what follows is of the cases that were read")
    finally:
        counting.close()
    if as_json:
        shown_cases = [one._asdict() for one in kept]
        print(json.dumps({**preview.data(), "shown": shown_cases}, ensure_ascii=False, indent=2))
    else:
        for line in preview_lines(preview):
            print(line)
    return code

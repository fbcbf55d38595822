"""Case files of the commands that read them: `run`, `probe` and `cases`."""

import os
import shutil
import sys
from collections.abc import Sequence
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import click

from jury_cli.options import taken

if TYPE_CHECKING:
    from jury_events.verdict_scale import VerdictScale
    from jury_judge import CaseFiles

STDIN = "-"


def format_names() -> str:
    """The names of the formats of rows, as a sentence for the help of a command."""
    from jury_judge.settings.cases import format_lines

    return f"Formats of rows: {', '.join(name for name, _ in format_lines())}. jury cases --help says what they are."


class ListingFormats(click.Command):
    """A command whose help ends with the list of formats, from the code that reads them."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The formats, and how their rows are recognised."""
        from jury_judge.settings.cases import format_lines

        super().format_epilog(ctx, formatter)
        with formatter.section("Formats of rows"):
            formatter.write_dl(list(format_lines()))


def case_files(
    options: dict[str, Any],
    hosts: frozenset[str],
    *,
    refuse_labels: bool = True,
    scale: "VerdictScale | None" = None,
) -> "CaseFiles":
    """The case files of the options, which are removed from `options`.

    Args:
        options: of the command.
        hosts: where `http(s):` records may come from.
        refuse_labels: whether labels that are not understood are refused; else they are none.
        scale: of the panel that judges: labels are read in its words.
    """
    from jury_judge.settings.cases import CaseSettings

    paths: tuple[str, ...] = options.pop("paths")
    settings = taken(CaseSettings, options)
    stdin = standard_input(paths)
    return settings.files(paths, hosts, refuse_labels=refuse_labels, stdin=stdin, scale=scale)


def standard_input(paths: Sequence[str]) -> "BinaryIO | None":
    """A copy of standard input where a file is `-`: cases are read twice, in the preflight and in the run."""
    if STDIN not in paths:
        return None
    copy = TemporaryFile(prefix="jury-stdin-")  # noqa: SIM115  (closed with the command)
    click.get_current_context().call_on_close(copy.close)
    shutil.copyfileobj(sys.stdin.buffer, copy)
    return cast("BinaryIO", copy)


def close_with_command(cases: object) -> None:
    """Close a source of cases that reads them from a store, once the command ends."""
    from jury_judge.runs.plan import ListedCases

    if isinstance(cases, ListedCases):
        click.get_current_context().call_on_close(cases.close)


def artifact_hosts() -> frozenset[str]:
    """The hosts from which `http(s):` records may be fetched, from the environment."""
    from jury_judge.settings.store import load_settings

    return load_settings(os.environ).artifact_hosts

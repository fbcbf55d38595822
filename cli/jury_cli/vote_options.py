"""Options of the commands that count votes: of a store, or of files of other judges."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from jury_cli.option_groups import GroupedCommand
from jury_cli.options import pairs, store_option, where_option

F = TypeVar("F", bound=Callable[..., Any])

OF_STORES = ("run_ids", "everything", "where", "filters", "store_url")
"""The parameters of `recorded_options`."""

_READING = ("--judges", "--field", "--label", "--annotators", "--cluster", "--map", "--order", "--categories")
_FILTERS = (
    *("--search", "--status", "--verdict", "--disposition", "--reviewed", "--model", "--quorum"),
    *("--min-cost", "--max-cost"),
)


class SourcesCommand(GroupedCommand):
    """A command over sources of votes; it says where the options went that are not its own any more."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; raises `UsageError` as click does."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.option_name in _READING:
                raise click.UsageError(
                    f"{error.option_name} is an option of jury votes: write jury votes FILE {error.option_name} … "
                    "-o votes.parquet, and name votes.parquet here",
                    ctx,
                ) from error
            if error.option_name in _FILTERS:
                name = error.option_name.removeprefix("--")
                raise click.UsageError(f"{error.option_name} is a filter: write --filter {name}=VALUE", ctx) from error
            raise


def counting(name: str, groups: Mapping[str, Sequence[str]]) -> Callable[[Callable[..., Any]], SourcesCommand]:
    """`click.command(name)` over sources of votes, with groups."""
    return click.command(name, cls=SourcesCommand, groups=groups)


def filter_option(command: F) -> F:
    """`--filter NAME=VALUE`."""
    return click.option(
        "--filter",
        "filters",
        metavar="NAME=VALUE",
        multiple=True,
        callback=pairs,
        help="Only debates that jury list --NAME VALUE would list: search, status, verdict, disposition, reviewed, "
        "model, quorum, min-cost, max-cost. Repeatable: all must be met.",
    )(command)


def recorded_options(command: F) -> F:
    """Which debates of a store."""
    for option in (
        store_option,
        filter_option,
        where_option,
        click.option("--all", "everything", is_flag=True, help="Every debate of the store."),
        click.option("--run", "run_ids", metavar="ID", multiple=True, help="The debates of this run. Repeatable."),
    ):
        command = option(command)
    return command


def votes_option(command: F) -> F:
    """`--votes FILE`."""
    return click.option(
        "--votes",
        metavar="FILE",
        multiple=True,
        help="Read votes of files instead of a store: what jury votes wrote, or CSV, JSON, JSONL or Parquet with the "
        "documented columns, or with a .yaml beside that says how it is read. Repeatable.",
    )(command)


def labels_option(command: F) -> F:
    """`--labels FILE`: labels that came later; `reviews`: those of the store."""
    return click.option(
        "--labels",
        metavar="FILE|reviews",
        multiple=True,
        help="Human labels that came later: case_id, label, annotator (CSV, JSON, JSONL, Parquet); or reviews: what "
        "people said in this store. They win over labels in cases; of several annotators the strict plurality counts. "
        "Repeatable.",
    )(command)


def included(context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[str, ...]:
    """Kinds of votes parted by commas."""
    names = seat_names(context, parameter, text)
    kinds = ("stale", "synthetic")
    if unknown := [name for name in names if name not in kinds]:
        raise click.BadParameter(f"{unknown[0]!r} is not one of {', '.join(kinds)}", param=parameter)
    return names


def seat_names(_context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[str, ...]:
    """Names parted by commas."""
    names = tuple(name.strip() for name in (text or "").split(","))
    if text is not None and not all(names):
        raise click.BadParameter("must be names parted by commas", param=parameter)
    return () if text is None else names

"""What commands that print reports take: names of tables, JSON, and its schema."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeVar

import click

from jury_cli.option_groups import Options
from jury_cli.options import option
from jury_cli.terminal import print_json

F = TypeVar("F", bound=Callable[..., Any])
Form = Literal["plain", "json", "jsonl", "none"]


def json_option(help: str = "Print the report as one JSON object.", group: str = "Results") -> Options:  # noqa: A002  (as of click)
    """`--json`."""
    return (option("--json", "as_json", group=group, is_flag=True, help=help),)


def one_form(*, as_json: bool, as_jsonl: bool) -> Form:
    """How results are printed."""
    if as_json and as_jsonl:
        raise click.UsageError("--json and --jsonl exclude each other")
    return "json" if as_json else "jsonl" if as_jsonl else "plain"


def chosen_tables(
    arguments: Sequence[str], known: Iterable[str], *, full: bool, as_json: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tables that are asked for, and the other arguments.

    Args:
        arguments: as they were given.
        known: the names of tables.
        full: all of them.
        as_json: JSON has every table.
    """
    tables = tuple(name for name in known if full or name in arguments)
    if tables and as_json:
        raise click.UsageError("--json has every table: name none, and leave --full out")
    return tables, tuple(one for one in arguments if one not in tables)


def schema_option(group: str, *reports: str) -> Callable[[F], F]:
    """Prints the schema of the report that `--json` prints, one of several where the command has several."""

    def show(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
        if value:
            print_json(_schema(reports))
            context.exit()

    return option(
        "--schema",
        group=group,
        rare=True,
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Print the JSON Schema of --json, and do nothing else.",
    )


def _schema(reports: tuple[str, ...]) -> dict[str, Any]:
    from jury_judge.records.votes import report_schema

    found = [report_schema(name) for name in reports]
    return found[0] if len(found) == 1 else {"oneOf": found}

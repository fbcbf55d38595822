"""`--schema`: the JSON Schema of a command's report."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from jury_cli.options import option
from jury_cli.terminal import print_json

F = TypeVar("F", bound=Callable[..., Any])


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
    from jury_judge.records.vote_reports import report_schema

    found = [report_schema(name) for name in reports]
    return found[0] if len(found) == 1 else {"oneOf": found}

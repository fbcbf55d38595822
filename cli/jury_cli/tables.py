"""Names of tables among the arguments of a command."""

from collections.abc import Iterable, Sequence

import click


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

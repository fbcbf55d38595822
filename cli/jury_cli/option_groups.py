"""The help of a command with many options, in groups with headings."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

_OTHERS = "Other options"


class GroupedCommand(click.Command):
    """A command whose help shows options in groups; options in no group are under the last heading.

    Args:
        groups: the names of parameters, by heading, in the order in which they are shown.
        more: everything that a command takes.
    """

    def __init__(self, *, groups: Mapping[str, Sequence[str]], **more: Any) -> None:
        super().__init__(**more)
        self._groups = groups

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A section a group."""
        records = {
            str(parameter.name): record
            for parameter in self.get_params(ctx)
            if isinstance(parameter, click.Option) and (record := parameter.get_help_record(ctx)) is not None
        }
        for heading, names in self._groups.items():
            _section(formatter, heading, [records.pop(name) for name in names if name in records])
        _section(formatter, _OTHERS, list(records.values()))


def grouped(name: str, groups: Mapping[str, Sequence[str]]) -> Callable[[Callable[..., Any]], GroupedCommand]:
    """`click.command(name)` with groups."""
    return click.command(name, cls=GroupedCommand, groups=groups)


def _section(formatter: click.HelpFormatter, heading: str, records: list[tuple[str, str]]) -> None:
    if records:
        with formatter.section(heading):
            formatter.write_dl(records)

"""`--settings FILE`: options of a command from a file. Options on the command line win, and so do variables."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jury_cli.option_groups import Options

if TYPE_CHECKING:
    from jury_judge.settings.model import SettingsModel


def settings_option(model: "Callable[[], type[SettingsModel]]", *, options_alone: bool = False) -> Options:
    """`--settings FILE`, with the fields of a model.

    Args:
        model: returns it; called when the option is given, so that help is quick.
        options_alone: the file may only have fields that are options of the command.
    """

    def read(context: click.Context, _parameter: click.Parameter, path: Path | None) -> None:
        if path is None:
            return
        from jury_judge.settings.settings_file import read_settings, without_variables

        settings = model()
        taken = {one.name for one in context.command.params if isinstance(one, click.Option) and one.name is not None}
        given = read_settings(path, settings, taken if options_alone else None)
        values = without_variables(given, settings, os.environ)
        # Defaults of the call: click itself lets the command line and variables win.
        context.default_map = {**(context.default_map or {}), **{name: _given(one) for name, one in values.items()}}

    return (
        click.option(
            "--settings",
            metavar="FILE",
            type=click.Path(path_type=Path),
            is_eager=True,
            expose_value=False,
            callback=read,
            help="Options from a file (YAML), as in max_cost: 5; those given here win (docs/runs.md).",
        ),
    )


def _given(value: Any) -> Any:
    """A value of YAML as it is given on the command line: a table as NAME=VALUE, texts of numbers."""
    if isinstance(value, Mapping):
        return tuple(f"{name}={_given(one)}" for name, one in value.items())
    if isinstance(value, list):
        return tuple(_given(one) for one in value)
    return value if isinstance(value, bool | str) else str(value)

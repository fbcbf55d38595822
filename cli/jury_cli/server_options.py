"""Where a server of this command listens, and who may ask it: options, and the token where none is given."""

import re
from secrets import token_urlsafe
from typing import TYPE_CHECKING

import click

from jury_cli.observation_options import TOKEN
from jury_cli.option_groups import Options

if TYPE_CHECKING:
    from jury_judge.settings.serving import ListeningSettings

_NAME = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]{1,253})(:[0-9]{1,5})?")


def _names(_context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """The names of `--allow-host`, in lower case."""
    for value in values:
        if not _NAME.fullmatch(value):
            raise click.BadParameter(f"{value!r} is not NAME or NAME:PORT", param=parameter)
    return tuple(value.lower() for value in values)


def listening(port: int) -> Options:
    """`--host`, `--port`, `--allow-host`, `--token`, as `ListeningSettings` has them; `port` is the default."""
    return (
        click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at."),
        click.option(
            "--port", type=click.IntRange(0, 65535), default=port, show_default=True, help="0: any that is free."
        ),
        click.option(
            "--allow-host",
            "hosts",
            metavar="NAME[:PORT]",
            multiple=True,
            callback=_names,
            help="A further name by which clients reach this server, as behind a proxy. Repeatable.",
        ),
        click.option(
            "--token",
            metavar="TOKEN",
            envvar=TOKEN,
            help=f"The token that requests need. Off loopback one is generated and printed by default. [${TOKEN}]",
        ),
    )


def token_of(settings: "ListeningSettings", *, needed: bool) -> str | None:
    """The token that requests need; one that is needed and not given is generated and printed."""
    from jury_cli.terminal import note

    if settings.token is not None or not needed:
        return settings.token
    token = token_urlsafe(32)
    note(f"token: {token}   (printed once; --token or ${TOKEN} sets one)")
    return token

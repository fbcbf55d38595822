"""`jury serve`: the debates of a store in a browser, and over HTTP."""

import asyncio
import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jury_judge.cli.exits import Exit
from jury_judge.cli.options import pairs, patience_option, price_list, resolved_store, store_option

if TYPE_CHECKING:
    from jury_judge.web.server import Address
    from jury_judge.web.submissions import MakeJury

TOKEN = "JURY_SERVE_TOKEN"  # noqa: S105  (a variable's name)
_SHORTEST_TOKEN = 16
_NAME = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]{1,253})(:[0-9]{1,5})?")


def _names(_context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if not _NAME.fullmatch(value):
            raise click.BadParameter(f"{value!r} is not NAME or NAME:PORT", param=parameter)
    return tuple(value.lower() for value in values)


@click.command("serve")
@click.option(
    "--panel",
    "panels",
    metavar="FILE|NAME",
    multiple=True,
    help="Judge requests under this panel: a panel file (requests call it by its name without suffix), a jury or a "
    "preset, as of `jury run`. Repeatable; the first is the default. [default: parallel-rounds, simulated jurors]",
)
@click.option("--read-only", is_flag=True, help="Show debates; judge nothing.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0: any that is free.")
@click.option(
    "--allow-host",
    "hosts",
    metavar="NAME[:PORT]",
    multiple=True,
    callback=_names,
    help="A further name by which browsers reach this server, as behind a proxy. Repeatable.",
)
@click.option(
    "--token",
    metavar="TOKEN",
    envvar=TOKEN,
    help=f"The token that requests need. Off loopback one is generated and printed by default. [${TOKEN}]",
)
@click.option(
    "--readers", type=click.IntRange(1, 100_000), default=1000, show_default=True, help="Live readers at most."
)
@click.option("--concurrency", type=click.IntRange(1, 10_000), default=64, show_default=True, help="Debates at once.")
@click.option("--simulate", metavar="KEY=VALUE", multiple=True, callback=pairs, help="As of `jury run`.")
@patience_option
@store_option
def command(
    panels: tuple[str, ...],
    *,
    read_only: bool,
    host: str,
    port: int,
    hosts: tuple[str, ...],
    token: str | None,
    readers: int,
    concurrency: int,
    simulate: dict[str, str],
    store_patience: float,
    store_url: str | None,
) -> int:
    """Serve pages, the HTTP interface and live events, until Ctrl-C.

    On loopback requests need a token only if one is given; elsewhere always. Debates that run when the server ends
    stop where they are, and resume when the request is sent again.
    """
    from jury_judge.app.stores import open_or_create
    from jury_judge.cli.interrupts import event_loop, until_interrupted
    from jury_judge.cli.terminal import note
    from jury_judge.errors import SettingError
    from jury_judge.text.pluralize import pluralize
    from jury_judge.web.app import AccessPolicy, create_app
    from jury_judge.web.pages.routing import page_routes
    from jury_judge.web.server import listen, serving
    from jury_judge.web.service import Service
    from jury_store.opening import database_path, open_store, parse_store_url

    if read_only and panels:
        raise click.UsageError("--read-only judges nothing; leave --panel out")
    if token is not None and (len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable()):
        raise SettingError(f"--token: at least {_SHORTEST_TOKEN} printable ASCII characters")
    url = resolved_store(store_url)
    made = (
        {}
        if read_only
        else _panels(
            panels or ("parallel-rounds",), url, simulate, concurrency=concurrency, store_patience=store_patience
        )
    )
    listener, address = listen(host, port)
    try:
        store = open_store(url, write=False) if read_only else open_or_create(url)
    except BaseException:
        listener.close()
        raise
    database = database_path(parse_store_url(url)) if url.startswith("sqlite") else None
    gate = AccessPolicy(frozenset({*address.names, *hosts}), address.everywhere, _token(token, address, note))

    async def serve(stopping: asyncio.Event) -> None:
        service = Service(store, made, readers=readers, database=database)
        app = create_app(service, gate, page_routes(store))
        async with serving(app, listener, service.end):
            note(f"Jury Judge: {address.url}   (Ctrl-C ends it)")
            await stopping.wait()
            running = service.submissions.running
            left = f"; {pluralize(running, 'submission')} under way: sent again, the same request resumes"
            note("jury: ending" + (left if running else ""))

    with event_loop() as loop:
        loop.run(until_interrupted(serve))
    return Exit.DONE


def _panels(
    names: tuple[str, ...], url: str, simulate: dict[str, str], *, concurrency: int, store_patience: float
) -> "Mapping[str, MakeJury]":
    """Factories of the Jury of each panel. Each is called once now, so that errors show at once."""
    from jury_judge.app.jury import Jury
    from jury_judge.cli.options import simulated
    from jury_judge.errors import SettingError
    from jury_judge.panels.files import load_panel

    prices = price_list(None)
    made: dict[str, MakeJury] = {}
    for name in names:
        loaded = load_panel(name, os.environ)
        script = simulated(simulate, loaded.panel.models)
        make = partial(
            Jury,
            loaded,
            store=url,
            concurrency=concurrency,
            prices=prices,
            simulate=script,
            store_patience=store_patience,
        )
        make()
        known = Path(name).stem if Path(name).is_file() else name
        if known in made:
            raise SettingError(f"--panel {name}: another panel is called {known} too; give the file another name")
        made[known] = lambda on_chunk, make=make: make(on_chunk=on_chunk)  # type: ignore[misc]
    return made


def _token(given: str | None, address: "Address", note: Callable[[str], None]) -> str | None:
    from secrets import token_urlsafe

    if given is not None or address.loopback:
        return given
    made = token_urlsafe(32)
    note(f"token: {made}   (printed once; --token or ${TOKEN} sets one)")
    return made

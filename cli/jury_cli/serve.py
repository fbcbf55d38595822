"""`jury serve`: the debates of a store in a browser, and over HTTP."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jury_cli.exits import Exit
from jury_cli.observation_options import LOG_LINES, token_of
from jury_cli.option_groups import grouped, options
from jury_cli.options import fields
from jury_cli.terminal import note

if TYPE_CHECKING:
    from jury_judge.settings.serving import ServeSettings


@grouped(
    "serve",
    *("What it serves", "Where it listens", "Reviews", "Where debates run", "When the store fails"),
    "What can be observed",
)
@click.argument("files", metavar="[FILE]...", nargs=-1)
@options(fields("ServeSettings"), LOG_LINES)
def command(files: tuple[str, ...], **options: Any) -> int:
    """Serve pages, the HTTP interface and live events, until Ctrl-C.

    Of cassettes or folders of cassettes (FILE), instead of a store: pages that are only read.

    On loopback requests need a token only if one is given, or reviewers are; elsewhere always. Debates that run when
    the server ends stop where they are; the next server of the store goes on with them.
    """
    from jury_cli.import_ import cassette_store
    from jury_judge.settings.serving import ServeSettings

    if not files:
        return _serve(ServeSettings.of(**options))
    if any(options[name] for name in ("store_url", "panels", "reviewer", "reviewers_file")):
        raise click.UsageError("cassettes are only read: leave --store, --panel, --reviewer and --reviewers out")
    settings = ServeSettings.of(**options | {"read_only": True})
    with cassette_store([Path(one) for one in files]) as url:
        return _serve(settings.model_copy(update={"store_url": url}))


def _serve(settings: "ServeSettings") -> int:
    from jury_judge.serving.served_store import ServedStore
    from jury_web.server import listen
    from jury_web.serving import policy_of, serve

    served = ServedStore(settings, os.environ)
    listener, address = listen(settings.host, settings.port)
    with closing(listener):
        served.open()
        needed = bool(served.reviewers) or not (address.loopback or settings.reviewer)
        policy = policy_of(
            address,
            settings.hosts,
            token_of(settings, needed=needed),
            served.reviewers,
            reviewer=settings.reviewer,
            root=settings.root_path,
        )

        def said(text: str) -> None:
            note(text)
            if served.created:  # behind the first line, which has the address
                served.created = False
                note(f"there was no store {served.url}: an empty one was made; jury run CASES --store URL fills it")

        async def work(stopping: asyncio.Event) -> None:
            await serve(served, listener, address, policy, stopping=stopping, say=said)

        _run(work, settings.ray_address, open_cluster=settings.ray_open_cluster)
    return Exit.DONE


def _run(
    work: Callable[[asyncio.Event], Coroutine[Any, Any, None]], ray_address: str | None, *, open_cluster: bool
) -> None:
    """Run the server until a signal comes; on a cluster, which is joined first."""
    from jury_cli.event_loops import event_loop, ray_started, until_interrupted

    with ExitStack() as stack:
        if ray_address is not None:
            stack.enter_context(ray_started(ray_address, open_cluster=open_cluster))
        loop = stack.enter_context(event_loop())
        loop.run(until_interrupted(work, waits_for=_waits_for))


async def _waits_for() -> str:
    return "open requests, and debates that stop where they are"

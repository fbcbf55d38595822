"""The servers: `jury serve` for people and programs, `jury mcp` for agents, `jury simulate` with simulated models."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jury_cli.exits import Exit
from jury_cli.observation_options import LOG_LINES, token_of
from jury_cli.option_groups import grouped, options
from jury_cli.options import fields, resolved_store
from jury_cli.streams import note
from jury_events.text import pluralize

if TYPE_CHECKING:
    import socket

    from jury_integrations.mcp.plain_errors import PlainMcpServer
    from jury_judge import Simulation
    from jury_judge.settings.serving import McpSettings, ServeSettings
    from jury_judge.simulation import SimulationSettings
    from jury_web.server import Address


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


_PATH = "/mcp"


@grouped("mcp", "Jurors and rules", "What it may spend", "Where it listens", "What can be observed")
@options(fields("McpSettings"), LOG_LINES)
def mcp(**given: Any) -> int:
    """Serve the debates of a store to agents and editors: list, show, why, statistics, gate, compare, replay, verify,
    and with --run judge.

    A client starts this command itself, and speaks with it over standard input and output (docs/mcp.md). With models
    that cost money --max-cost is needed. With --http it listens on loopback, as `jury serve` does.
    """
    from jury_judge.extras import check_mcp
    from jury_judge.reviews.named_tokens import check_token
    from jury_judge.settings.serving import McpSettings

    check_mcp("jury mcp")
    settings = McpSettings.of(**given)
    check_token(settings.token)
    served = _McpServer(settings)
    if not settings.http:
        _run_until_signalled(served.over_stdio)
        return Exit.DONE
    from jury_web.server import listen

    listener, address = listen(settings.host, settings.port)
    _run_until_signalled(lambda stopping: served.over_http(stopping, listener, address))
    return Exit.DONE


class _McpServer:
    """What is served, until a signal comes or the client goes."""

    def __init__(self, settings: "McpSettings") -> None:
        from jury_cli.event_loops import note_line
        from jury_integrations.mcp.judging import McpJudging
        from jury_judge.records.records import Records

        self._settings = settings
        self._judging = None if settings.run_id is None else McpJudging(settings, note_line, os.environ)
        url = resolved_store(settings.store_url) if self._judging is None else self._judging.store_url
        self._records = Records(url, create=self._judging is not None)

    def _server(self) -> "PlainMcpServer":
        from jury_integrations.mcp.server import mcp_server

        return mcp_server(self._records, self._judging)

    async def over_stdio(self, stopping: asyncio.Event) -> None:
        """Until standard input ends."""
        from jury_cli.signals import exit_at_once

        async with self._records:
            serving = asyncio.create_task(self._server().run_stdio_async())
            stopped = asyncio.create_task(stopping.wait())
            await asyncio.wait({serving, stopped}, return_when=asyncio.FIRST_COMPLETED)
            stopped.cancel()
            if serving.done():
                serving.result()
                return
        exit_at_once()  # a thread waits for the client's next line, and cannot be interrupted

    async def over_http(self, stopping: asyncio.Event, listener: "socket.socket", address: "Address") -> None:
        from mcp.server.transport_security import TransportSecuritySettings

        from jury_web.credentials import TokenAttempts
        from jury_web.middleware import MAX_BODY
        from jury_web.server import serving
        from jury_web.serving import policy_of, with_middleware

        token = token_of(self._settings, needed=not address.loopback)
        policy = policy_of(address, self._settings.hosts, token)
        app = self._server().streamable_http_app(
            streamable_http_path=_PATH,
            max_request_body_size=MAX_BODY,
            # The middleware around it checks the host and the origin, as that of `jury serve`.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        guarded = with_middleware(app, policy, TokenAttempts())
        async with self._records, serving(guarded, listener, lambda: None):
            note(f"Jury Judge: {address.url}{_PATH}   (Ctrl-C ends it)")
            await stopping.wait()
            note("jury: ending")


def _run_until_signalled(work: Any) -> None:
    from jury_cli.event_loops import event_loop, until_interrupted

    with event_loop() as loop:
        loop.run(until_interrupted(work))


_COUNTED_EVERY = 10.0
"""Seconds between lines of counts, while there is something new to count."""


@click.command("simulate")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="0 takes a free one.", show_default=True)
@click.option("--host", default="127.0.0.1", help="The address to listen at.", show_default=True)
@options(fields("SimulationSettings"))
def simulate(*, host: str, port: int, **given: Any) -> int:
    """Serve simulated models over HTTP, for the providers' own SDKs: OpenAI (chat and responses), Anthropic, Google.

    Prints the variables that lead them here, and serves until Ctrl-C. No model is called, whatever name is asked for;
    every response says so in the header x-jury-simulated.
    """
    from jury_cli.event_loops import event_loop, until_interrupted
    from jury_judge.simulation import SimulationSettings

    settings = SimulationSettings.of(**given)
    with event_loop() as loop:
        loop.run(until_interrupted(partial(_simulate, settings, host, port), says="jury: stopping"))
    return Exit.DONE


async def _simulate(settings: "SimulationSettings", host: str, port: int, stopping: asyncio.Event) -> None:
    from jury_judge.simulation import simulated_models

    async with simulated_models(settings, host=host, port=port) as simulation:
        for name, value in simulation.variables.items():
            print(f"export {name}={value}", flush=True)
        note(f"simulated: no model is called, whatever name is asked for; serving at {simulation.url} until Ctrl-C")
        if not simulation.loopback:
            note(f"{host} is no loopback address: anyone who reaches this machine can use the server")
        noted = 0
        while not stopping.is_set():
            try:
                await asyncio.wait_for(stopping.wait(), _COUNTED_EVERY)
            except TimeoutError:
                if simulation.served.requests != noted:
                    noted = simulation.served.requests
                    note(_counts(simulation))
    note(_counts(simulation))


def _counts(simulation: "Simulation") -> str:
    served = simulation.served
    faults = ", ".join(f"{name} {count}" for name, count in sorted(served.by_fault.items())) or "none"
    return (
        f"simulated: {pluralize(served.requests, 'request')}, at most {served.in_flight_peak} at once, "
        f"{served.refused} refused; faults: {faults}"
    )

"""`jury mcp`: a store for agents and editors, by the Model Context Protocol."""

import asyncio
import os
from typing import TYPE_CHECKING, Any

from jury_cli.exits import Exit
from jury_cli.observation_options import LOG_LINES, token_of
from jury_cli.option_groups import grouped, options
from jury_cli.options import fields
from jury_cli.terminal import note

if TYPE_CHECKING:
    import socket

    from jury_integrations.mcp.plain_errors import PlainMcpServer
    from jury_judge.settings.serving import McpSettings
    from jury_web.server import Address

_PATH = "/mcp"


@grouped("mcp", "Jurors and rules", "What it may spend", "Where it listens", "What can be observed")
@options(fields("McpSettings"), LOG_LINES)
def command(**given: Any) -> int:
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
    served = _Served(settings)
    if not settings.http:
        _run(served.over_stdio)
        return Exit.DONE
    from jury_web.server import listen

    listener, address = listen(settings.host, settings.port)
    _run(lambda stopping: served.over_http(stopping, listener, address))
    return Exit.DONE


class _Served:
    """What is served, until a signal comes or the client goes."""

    def __init__(self, settings: "McpSettings") -> None:
        from jury_cli.event_loops import note_line
        from jury_cli.options import resolved_store
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
        """Behind the middleware of `jury serve`."""
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


def _run(work: Any) -> None:
    from jury_cli.event_loops import event_loop, until_interrupted

    with event_loop() as loop:
        loop.run(until_interrupted(work))

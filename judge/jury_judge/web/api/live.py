"""Debates told live: server-sent events, and WebSocket frames. Both are derived from the log and can be resumed."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Annotated, Any, Literal

from fastapi import APIRouter, FastAPI, Header, Query, WebSocket
from fastapi.exceptions import WebSocketRequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.routing import WebSocketRoute
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect, WebSocketState

from jury_events.errors import JuryError
from jury_judge.present.live.encodings import FRAMES, PROGRESS, SSE, Encoding
from jury_judge.present.live.event_buffer import Cursor
from jury_judge.present.live.points import START, Point, parse_point
from jury_judge.present.live.schema import schema_text
from jury_judge.web.api.problems import Problem, Refused, complaint, described, problem_of, status_of
from jury_judge.web.api.serving import DebateName, Serving, no_debate
from jury_judge.web.service import Service

router = APIRouter(tags=["live"])

_SLICE = 64 * 1024
"""Bytes that are handed to the server at once: a statement of megabytes is not copied whole for each reader."""

_BEGIN = b"retry: 1000\n\n"
_ALIVE = b": alive\n\n"

_EVENT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "Send it as Last-Event-ID, or `after`, to go on from it."},
        "data": {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": {"$ref": "/schemas/sse-events.json"},
        },
    },
}

_PROGRESS = {
    "type": "object",
    "properties": {
        **_EVENT["properties"],
        "data": {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": {
                "type": "object",
                "required": ["type"],
                "properties": {
                    "type": {"type": "string", "description": "`exchange_recorded` is a model call."},
                    "chunk": {"type": "string", "description": "Of `final_judge_chunk`: what is being written."},
                },
            },
        },
    },
}

After = Annotated[
    str | None, Query(max_length=60, description="The id of the last event that came; the next is the one after it.")
]


@router.get(
    "/api/debates/{debate_id}/live",
    operation_id="followDebate",
    response_class=Response,
    responses={
        **described(404, 422, 503),
        200: {
            "description": "Server-sent events; each `data:` is JSON as /schemas/sse-events.json describes.",
            "content": {"text/event-stream": {"schema": _EVENT}},
        },
        204: {"description": "The debate is over and everything of it came: do not connect again."},
    },
)
async def follow(
    service: Serving,
    debate_id: DebateName,
    after: After = None,
    last_event_id: Annotated[str | None, Header(max_length=60)] = None,
) -> Response:
    """What a debate tells, from its beginning or after an event, as it happens, to its end."""
    return await _followed(service, debate_id, SSE, last_event_id or after)


@router.get(
    "/api/debates/{debate_id}/progress",
    operation_id="followProgress",
    response_class=Response,
    responses={
        **described(404, 422, 503),
        200: {
            "description": "Server-sent events; `type` is that of the event of the log that was recorded.",
            "content": {"text/event-stream": {"schema": _PROGRESS}},
        },
        204: {"description": "The debate is over and everything of it came: do not connect again."},
    },
)
async def follow_progress(
    service: Serving,
    debate_id: DebateName,
    after: After = None,
    last_event_id: Annotated[str | None, Header(max_length=60)] = None,
) -> Response:
    """That something was recorded of a debate, and of which type, for pages that then read it. Model calls are told
    as they are recorded, not afterwards.
    """
    return await _followed(service, debate_id, PROGRESS, last_event_id or after)


async def _followed(service: Service, debate_id: str, form: Encoding[bytes], after: str | None) -> Response:
    point = _point(after)
    await _must_be_known(service, debate_id)
    follows = service.feed.follow(debate_id, form, point)
    reader = await follows.__aenter__()
    try:
        first = await reader.so_far()
    except BaseException as error:
        await follows.__aexit__(type(error), error, error.__traceback__)
        raise
    if not first and reader.over:
        await follows.__aexit__(None, None, None)
        return Response(status_code=204)
    return _Events(reader, first, service.alive_every, lambda: follows.__aexit__(None, None, None))


class _Events(Response):
    """Events as they come, and a sign of life where none comes for long."""

    media_type = "text/event-stream"

    def __init__(
        self, reader: Cursor[bytes], first: list[bytes], alive_every: float, leave: Callable[[], Awaitable[Any]]
    ) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._reader = reader
        self._first = first
        self._alive_every = alive_every
        self._leave = leave

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._send_all(receive, send)
        finally:
            await self._leave()

    async def _send_all(self, receive: Receive, send: Send) -> None:
        sending = asyncio.create_task(self._stream(send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, leaving):
                task.cancel()
            found = await asyncio.gather(sending, leaving, return_exceptions=True)
        for problem in found:
            if isinstance(problem, Exception):
                raise problem

    async def _stream(self, send: Send) -> None:
        async def write(content: bytes) -> None:
            view = memoryview(content)
            for start in range(0, len(view), _SLICE):
                body = bytes(view[start : start + _SLICE])
                await send({"type": "http.response.body", "body": body, "more_body": True})

        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await write(_BEGIN + b"".join(self._first))
        self._first = []
        while (items := await _next(self._reader, self._alive_every)) != []:
            await write(_ALIVE if items is None else b"".join(items))
        await send({"type": "http.response.body", "body": b""})


@router.websocket("/api/debates/{debate_id}/ws")
async def frames(socket: WebSocket, service: Serving, debate_id: DebateName) -> None:
    """Document 004's frames, from the beginning or after a position, to the end of the debate (close code 1000)."""
    try:
        point = _point(socket.query_params.get("after"))
        await _must_be_known(service, debate_id)
        async with service.feed.follow(debate_id, FRAMES, point) as reader:
            await socket.accept()
            await _Socket(socket, reader).serve()
    except (JuryError, Refused) as error:
        if socket.application_state is WebSocketState.CONNECTING:
            await _deny(socket, error)
        else:
            await socket.close(1011)


def deny_sockets(app: FastAPI) -> None:
    """Have every WebSocket that `app` does not open refused as requests are. Its WebSockets must be there."""

    async def nowhere(socket: WebSocket) -> None:
        await _deny(socket, Refused(404, "there is no WebSocket at this address", "GET /api/debates/{id}/ws is one"))

    async def malformed(socket: Any, error: Exception) -> None:
        assert isinstance(error, WebSocketRequestValidationError)
        await _deny(socket, Refused(422, complaint(error.errors()), "send a debate's id, as it is listed"))

    app.router.routes.append(WebSocketRoute("/{path:path}", nowhere))
    app.add_exception_handler(WebSocketRequestValidationError, malformed)


class _Socket:
    """One WebSocket reader; what it sends itself is not listened to."""

    def __init__(self, socket: WebSocket, reader: Cursor[str]) -> None:
        self._socket = socket
        self._reader = reader

    async def serve(self) -> None:
        sending = asyncio.create_task(self._send_all())
        leaving = asyncio.create_task(self._left())
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, leaving):
                task.cancel()
            found = await asyncio.gather(sending, leaving, return_exceptions=True)
        for problem in found:
            if isinstance(problem, Exception) and not isinstance(problem, WebSocketDisconnect):
                raise problem

    async def _send_all(self) -> None:
        while items := await self._reader.next():
            for item in items:
                await self._socket.send_text(item)
        # 1001: this process ends, and the debate may go on elsewhere.
        await self._socket.close(1000 if self._reader.over else 1001)

    async def _left(self) -> None:
        while (await self._socket.receive())["type"] != "websocket.disconnect":
            pass


@router.get(
    "/schemas/{name}.json",
    operation_id="readSchema",
    response_class=Response,
    responses={
        **described(422),
        200: {"description": "JSON Schema, draft 2020-12.", "content": {"application/schema+json": {}}},
    },
)
def schema(name: Literal["sse-events", "websocket-frames"]) -> Response:
    """What live events look like."""
    return Response(schema_text(name), media_type="application/schema+json")


async def _next(reader: Cursor[bytes], within: float) -> list[bytes] | None:
    """None: nothing came in that time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(within):
            return await reader.next()
    return None


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _point(text: str | None) -> Point:
    return START if text is None else parse_point(text)


async def _must_be_known(service: Service, debate_id: str) -> None:
    if not await service.is_known(debate_id):
        raise no_debate(debate_id)


async def _deny(socket: WebSocket, error: JuryError | Refused) -> None:
    """A refusal before the handshake, as an HTTP answer where the server can give one."""
    if "websocket.http.response" not in socket.scope.get("extensions", {}):
        await socket.close(1008)
        return
    if isinstance(error, Refused):
        status, problem = error.status_code, Problem(error=str(error.detail), remedy=error.remedy)
    else:
        status, problem = status_of(error), problem_of(error)
    await socket.send_denial_response(JSONResponse(problem.model_dump(), status))

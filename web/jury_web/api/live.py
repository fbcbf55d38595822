"""Live events, as server-sent events and WebSocket frames. Both are derived from the log and can be resumed."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, FastAPI, Header, Query, WebSocket
from fastapi.exceptions import WebSocketRequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.sse import EventSourceResponse
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocketDisconnect, WebSocketState

from jury_events.errors import JuryError
from jury_judge.feed import Cursor
from jury_judge.records.votes import report_schema
from jury_judge.serving.service import Service
from jury_views.live_event_models import LIVE_SCHEMAS, live_schema
from jury_views.live_events import FRAMES, PROGRESS, SSE, START, Encoding, Point, parse_point
from jury_web.api.error_responses import (
    ApiError,
    RequestRefused,
    error_response,
    error_responses,
    http_status,
    validation_message,
)
from jury_web.api.schemas import DebateId, ServiceDependency, debate_not_found
from jury_web.pages.page_request import chunks

router = APIRouter(tags=["live"])

_RETRY = b"retry: 1000\n\n"
_KEEP_ALIVE = b": alive\n\n"

_EVENT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "Send it as Last-Event-ID or `after` to resume after this event."},
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
                    "chunk": {
                        "type": "string",
                        "description": "Of `final_judge_chunk`: text that the final judge is writing.",
                    },
                },
            },
        },
    },
}

After = Annotated[str | None, Query(max_length=60, description="The id of the last received event.")]


def _responses(description: str, schema: dict[str, Any]) -> dict[int | str, dict[str, Any]]:
    return {
        **error_responses(404, 422, 503),
        200: {"description": description, "content": {"text/event-stream": {"schema": schema}}},
        204: {"description": "The debate has ended and all its events were received: do not reconnect."},
    }


def _reader(form: Encoding[bytes]) -> Callable[..., AsyncIterator[Cursor[bytes]]]:
    """A dependency; FastAPI leaves it after the response was sent, or the client disconnected."""

    async def reader(
        service: ServiceDependency,
        debate_id: DebateId,
        after: After = None,
        last_event_id: Annotated[str | None, Header(max_length=60)] = None,
    ) -> AsyncIterator[Cursor[bytes]]:
        point = _point(last_event_id or after)
        await _must_be_known(service, debate_id)
        async with service.feed.follow(debate_id, form, point) as reader:
            yield reader

    return reader


@router.get(
    "/api/debates/{debate_id}/live",
    operation_id="followDebate",
    response_class=Response,
    responses=_responses("Server-sent events; each `data:` is JSON, described by /schemas/sse-events.json.", _EVENT),
)
async def follow(service: ServiceDependency, reader: Annotated[Cursor[bytes], Depends(_reader(SSE))]) -> Response:
    """The live events of a debate, from its beginning or after an event, until it ends."""
    return await _event_stream(reader, service.alive_every)


@router.get(
    "/api/debates/{debate_id}/progress",
    operation_id="followProgress",
    response_class=Response,
    responses=_responses("Server-sent events; `type` is the type of the recorded event of the log.", _PROGRESS),
)
async def follow_progress(
    service: ServiceDependency, reader: Annotated[Cursor[bytes], Depends(_reader(PROGRESS))]
) -> Response:
    """The types of recorded events, for pages that then read the debate. Model calls are sent as they are recorded."""
    return await _event_stream(reader, service.alive_every)


async def _event_stream(reader: Cursor[bytes], alive_every: float) -> Response:
    first = await reader.so_far()
    if not first and reader.over:
        return Response(status_code=204)
    return EventSourceResponse(
        _chunks_of(reader, first, alive_every), headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    )


async def _chunks_of(reader: Cursor[bytes], first: list[bytes], alive_every: float) -> AsyncIterator[bytes]:
    """Events, which were encoded once for all readers, and a comment where none comes for `alive_every` seconds."""
    content = _RETRY + b"".join(first)
    del first
    while content:
        for chunk in chunks(content):
            yield chunk
        items = await _next(reader, alive_every)
        content = _KEEP_ALIVE if items is None else b"".join(items)


@router.websocket("/api/debates/{debate_id}/ws")
async def frames(socket: WebSocket, service: ServiceDependency, debate_id: DebateId) -> None:
    """The frames of document 004, from the beginning or after a position, to the end of the debate (code 1000)."""
    try:
        point = _point(socket.query_params.get("after"))
        await _must_be_known(service, debate_id)
        async with service.feed.follow(debate_id, FRAMES, point) as reader:
            await socket.accept()
            await _Socket(socket, reader).serve()
    except (JuryError, RequestRefused) as error:
        if socket.application_state is WebSocketState.CONNECTING:
            await _deny(socket, error)
        else:
            await socket.close(1011)


def add_websocket_errors(app: FastAPI) -> None:
    """Answer WebSocket requests that fail, or match no route, with an `ApiError`; call it after all routes."""

    async def not_found(socket: WebSocket) -> None:
        await _deny(
            socket, RequestRefused(404, "there is no WebSocket at this path", "connect to /api/debates/{id}/ws")
        )

    async def malformed(socket: Any, error: Exception) -> None:
        assert isinstance(error, WebSocketRequestValidationError)
        await _deny(
            socket, RequestRefused(422, validation_message(error.errors()), "GET /api/debates lists debate ids")
        )

    app.router.routes.append(WebSocketRoute("/{path:path}", not_found))
    app.add_exception_handler(WebSocketRequestValidationError, malformed)


class _Socket:
    """One WebSocket reader; its own messages are ignored."""

    def __init__(self, socket: WebSocket, reader: Cursor[str]) -> None:
        self._socket = socket
        self._reader = reader

    async def serve(self) -> None:
        sending = asyncio.create_task(self._send_all())
        leaving = asyncio.create_task(self._disconnected())
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
        # 1001: this server stops, and the debate may continue in another process.
        await self._socket.close(1000 if self._reader.over else 1001)

    async def _disconnected(self) -> None:
        while (await self._socket.receive())["type"] != "websocket.disconnect":
            pass


@router.get(
    "/schemas/{name}.json",
    operation_id="readSchema",
    response_class=Response,
    responses={
        **error_responses(422, 501),
        200: {"description": "JSON Schema, draft 2020-12.", "content": {"application/schema+json": {}}},
    },
)
def schema(name: Literal["sse-events", "websocket-frames", "stats", "paired", "gate", "gate-plan"]) -> Response:
    """The JSON Schema of live events, or of statistics, which need the packages of statistics."""
    made = live_schema(name) if name in LIVE_SCHEMAS else report_schema(name)
    return Response(json.dumps(made, ensure_ascii=False), media_type="application/schema+json")


async def _next(reader: Cursor[bytes], seconds: float) -> list[bytes] | None:
    """The next items; None where none came in that time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return await reader.next()
    return None


def _point(text: str | None) -> Point:
    return START if text is None else parse_point(text)


async def _must_be_known(service: Service, debate_id: str) -> None:
    if not await asyncio.to_thread(service.reader.has_debate, debate_id):
        raise debate_not_found(debate_id)


async def _deny(socket: WebSocket, error: JuryError | RequestRefused) -> None:
    """Refuse the handshake, with an HTTP response where the server supports it."""
    if "websocket.http.response" not in socket.scope.get("extensions", {}):
        await socket.close(1008)
        return
    if isinstance(error, RequestRefused):
        status, problem = error.status_code, ApiError(error=str(error.detail), remedy=error.remedy)
    else:
        status, problem = http_status(error), error_response(error)
    await socket.send_denial_response(JSONResponse(problem.model_dump(), status))

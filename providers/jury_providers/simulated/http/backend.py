"""Answers requests: step and call number from the prompt, the fault from the script; sends, counts, asks a `Vendor`."""

import asyncio
import json
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from hashlib import blake2b
from secrets import token_hex
from typing import Any, NamedTuple
from urllib.parse import quote

from starlette.types import Receive, Scope, Send

from jury_events.outcome import CallOutcome
from jury_providers.provider import ModelMessage
from jury_providers.simulated.http.fields import InvalidRequest, JsonObject, encoded, table
from jury_providers.simulated.http.protocol import CacheUse, ProtocolHandler, SimulatedResponse
from jury_providers.simulated.prompt import Prompt
from jury_providers.simulated.provider import render_reply, tokens_of
from jury_providers.simulated.reader import SimulatedReader
from jury_providers.simulated.script import Script


class ServerCounters:
    """Counts requests. `requests` were valid, `refused` were not; steps and faults are named as in a script."""

    def __init__(self) -> None:
        self.requests = 0
        self.refused = 0
        self.in_flight = 0
        self.in_flight_peak = 0
        self.by_step: Counter[str] = Counter()
        self.by_protocol: Counter[str] = Counter()
        self.by_fault: Counter[str] = Counter()

    @contextmanager
    def in_progress(self) -> Iterator[None]:
        """Count a request as in flight within the context."""
        self.in_flight += 1
        self.in_flight_peak = max(self.in_flight_peak, self.in_flight)
        try:
            yield
        finally:
            self.in_flight -= 1

    def count(self, step: str, protocol: str, fault: str | None) -> None:
        """Count a valid request, and its fault."""
        self.requests += 1
        self.by_step[step] += 1
        self.by_protocol[protocol] += 1
        if fault is not None:
            self.by_fault[fault] += 1

    def counts(self) -> dict[str, Any]:
        """All counters, for JSON."""
        return {
            "requests": self.requests,
            "refused": self.refused,
            "in_flight": self.in_flight,
            "in_flight_peak": self.in_flight_peak,
            "by_step": dict(self.by_step),
            "by_protocol": dict(self.by_protocol),
            "by_fault": dict(self.by_fault),
        }


ABORT = "jury.abort"
"""The ASGI extension by which the server drops a connection."""

_HTML = b"<!DOCTYPE html>\n<html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>\n"
_DRIPS = 100
_DRIP_SECONDS = 0.01
"""A slow response takes one second, whatever its length."""


class Transmission(NamedTuple):
    """A response in pieces, `pause` seconds between them; if not `complete`, the connection breaks after the last."""

    status: int
    headers: tuple[tuple[str, str], ...]
    pieces: Sequence[bytes]
    pause: float = 0.0
    complete: bool = True


class NoResponse(Enum):
    """No response: the connection is dropped at once, or stays open until the client disconnects."""

    DROPPED = auto()
    HANGING = auto()


async def transmit(what: Transmission | NoResponse, scope: Scope, receive: Receive, send: Send) -> None:
    """Send a response, as an ASGI application does."""
    if isinstance(what, Transmission):
        await _send(what, send)
        return
    if what is NoResponse.DROPPED:
        scope["extensions"][ABORT]()
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send(delivery: Transmission, send: Send) -> None:
    headers = [(name.encode(), value.encode()) for name, value in delivery.headers]
    if len(delivery.pieces) == 1 and delivery.complete:
        headers.append((b"content-length", str(len(delivery.pieces[0])).encode()))
    await send({"type": "http.response.start", "status": delivery.status, "headers": headers})
    last = len(delivery.pieces) - 1
    for index, piece in enumerate(delivery.pieces):
        more = index < last or not delivery.complete
        await send({"type": "http.response.body", "body": piece, "more_body": more})
        if delivery.pause:
            await asyncio.sleep(delivery.pause)


def json_transmission(status: int, body: Any, headers: tuple[tuple[str, str], ...] = ()) -> Transmission:
    """A JSON response."""
    return Transmission(status, (("content-type", "application/json"), *headers), [encoded(body)])


def with_wire_fault(
    fault: str | None, pieces: list[bytes], *, stream: bool, headers: tuple[tuple[str, str], ...]
) -> Transmission:
    """A response with a fault of `WIRE_FAULTS` (None: without).

    Args:
        fault: in addition, `connection` breaks the connection inside the body, `malformed_response` makes its JSON
            malformed.
        stream: whether they are events.
    """
    sent = (("content-type", "text/event-stream; charset=utf-8" if stream else "application/json"), *headers)
    middle = len(pieces) // 2
    started = [*pieces[:middle], pieces[middle][: len(pieces[middle]) // 2]]
    match fault:
        case "html":
            return Transmission(200, (("content-type", "text/html; charset=utf-8"), *headers), [_HTML])
        case "empty":
            return Transmission(200, sent, [b""])
        case "malformed_json" | "malformed_response":
            return Transmission(
                200, sent, [*pieces[:middle], pieces[middle].replace(b'":', b'" ', 1), *pieces[middle + 1 :]]
            )
        case "truncated_json":
            return Transmission(200, sent, [b"".join(started)])
        case "dropped_stream":
            return Transmission(200, sent, [b"".join(started[:-1] if stream else started)])
        case "connection":
            return Transmission(200, sent, started, complete=False)
        case "slow_drip":
            body = b"".join(pieces)
            drip = len(body) // _DRIPS + 1
            drips = [body[start : start + drip] for start in range(0, len(body), drip)]
            return Transmission(200, sent, drips, pause=_DRIP_SECONDS)
        case _:
            return Transmission(200, sent, pieces)


class Vendor:
    """Keeps no prompt, and takes every request that can be read."""

    def protocols(self) -> Mapping[str, ProtocolHandler]:
        """Further protocols, by the path of their calls."""
        return {}

    def tokens(self, messages: Sequence[ModelMessage]) -> int:
        """Of a prompt."""
        return tokens_of(messages)

    def arrived(self, kind: str, body: JsonObject, tokens: int) -> CacheUse:  # noqa: ARG002  (for others)
        """What a request reads of a cache now, and will write."""
        return CacheUse()

    def answered(self, kind: str, body: JsonObject, tokens: int) -> None:
        """A request begins to be answered. Arguments as of `arrived`."""


NO_VENDOR = Vendor()


MAX_CONVERSATIONS = 100_000
"""Conversations whose calls are counted; beyond that the least recently used one starts again at 1."""

_OTHER_MODEL = "another-model-1"


class CallPosition(NamedTuple):
    """The `number`-th call, from 1, of a conversation: case/step/model, as named in a script."""

    conversation: str
    number: int


class SimulationBackend:
    """Answers requests of every protocol.

    Args:
        window: tokens that a prompt and its answer may have together; a longer one is too long. None: unlimited.
        vendor: what a provider does beside answering.
    """

    def __init__(
        self,
        script: Script,
        seed: int,
        *,
        window: int | None = None,
        vendor: Vendor = NO_VENDOR,
    ) -> None:
        self.window = window
        self.vendor = vendor
        self._script = script
        self._seed = seed
        self._reader = SimulatedReader(fixed=script.answers == "scripted")
        self._counts: OrderedDict[bytes, int] = OrderedDict()
        self.served = ServerCounters()

    async def answer(
        self, protocol: ProtocolHandler, raw: bytes, path: dict[str, object], *, in_batch: bool = False
    ) -> Transmission | NoResponse:
        """The response to a request with the body `raw`; `path` contains the fields in its URL's path.

        One in a batch takes no time of its own.
        """
        errors, identity = protocol.errors, token_hex(12)
        headers = () if errors.request_id is None else ((errors.request_id, f"req_{identity}"),)
        try:
            body = {**decoded(raw), **path}
            parsed = protocol.read(body)
            tokens = self.vendor.tokens(parsed.request.messages)
            cache = self.vendor.arrived(protocol.kind, body, tokens)
        except InvalidRequest as error:
            self.served.refused += 1
            failure = errors.refusal(error.status, str(error))
            return json_transmission(error.status, errors.body(failure, f"req_{identity}"), headers)
        request = parsed.request
        if request.settings.seed is None:
            request = request._replace(settings=request.settings.model_copy(update={"seed": self._seed}))
        prompt = self._reader.read_prompt(request)
        position = self._position(prompt, request.model)
        fault = self._script.fault_of_call(*position)
        if fault is None and self.window is not None and tokens + request.settings.max_output_tokens > self.window:
            fault = CallOutcome.CONTEXT_TOO_LONG.value
        self.served.count(prompt.step, protocol.kind, fault)
        seconds = 0.0 if in_batch else self._script.seconds(f"{position.conversation}/{position.number}")
        if seconds:
            await asyncio.sleep(seconds)
        variant = position.number % 2
        if fault == CallOutcome.TIMEOUT.value:
            return NoResponse.HANGING
        if fault == CallOutcome.CONNECTION.value and variant:
            return NoResponse.DROPPED
        if fault is not None and fault in errors.failures:
            failure = errors.failures[fault]
            return json_transmission(failure.status, errors.body(failure, f"req_{identity}"), headers + failure.headers)
        self.vendor.answered(protocol.kind, body, tokens)
        reply = render_reply(self._reader, prompt, request, fault)
        response = SimulatedResponse(
            model=_OTHER_MODEL if fault == "wrong_model" else request.model,
            reply=reply._replace(usage=reply.usage.changed(input_tokens=tokens)),
            identity=identity,
            created=int(time.time()),
            blocked=fault == CallOutcome.BLOCKED.value,
            variant=variant,
            tier=protocol.batch_tier if in_batch and protocol.batch_tier is not None else parsed.tier,
            cache=cache,
            include_usage=parsed.include_usage,
        )
        pieces = list(protocol.stream_events(response)) if parsed.stream else [protocol.encode(response)]
        return with_wire_fault(fault, pieces, stream=parsed.stream, headers=headers)

    def _position(self, prompt: Prompt, model: str) -> CallPosition:
        key = f"{prompt.ballot or prompt.case_digest.hex()}\0{prompt.step}\0{model}".encode("utf-8", "replace")
        digest = blake2b(key, digest_size=16).digest()
        count = self._counts.pop(digest, 0) + 1
        self._counts[digest] = count
        if len(self._counts) > MAX_CONVERSATIONS:
            self._counts.popitem(last=False)
        name = quote(model, safe="", errors="replace")
        return CallPosition(f"{prompt.case_digest.hex()}/{prompt.step}/{name}", count)


def decoded(raw: bytes) -> JsonObject:
    """The JSON of a request's body."""
    try:
        return table(json.loads(raw), "body")
    except RecursionError:
        raise InvalidRequest("body", "nested too deeply") from None
    except ValueError as error:
        raise InvalidRequest("body", f"could not parse the JSON body: {error}") from None

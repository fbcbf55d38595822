"""Answers requests: reads step and call number from the prompt, draws the fault from the script."""

import asyncio
import json
import time
from collections import OrderedDict
from hashlib import blake2b
from secrets import token_hex
from typing import NamedTuple
from urllib.parse import quote

from jury_events.outcome import CallOutcome
from jury_providers.simulated.http.counters import ServerCounters
from jury_providers.simulated.http.delivery import NoResponse, Transmission, json_transmission, with_wire_fault
from jury_providers.simulated.http.fields import InvalidRequest, JsonObject, table
from jury_providers.simulated.http.protocol import ProtocolHandler, SimulatedResponse
from jury_providers.simulated.http.vendor import NO_VENDOR, Vendor
from jury_providers.simulated.prompt import Prompt
from jury_providers.simulated.reader import SimulatedReader
from jury_providers.simulated.rendered_reply import render_reply
from jury_providers.simulated.script import Script

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

"""The provider `simulated`: rule-based jurors behind the provider interface, with scripted latency and faults."""

import asyncio

from jury_events.outcome import CallOutcome
from jury_providers.provider import ModelReply, ModelRequest, OnChunk, Provider
from jury_providers.simulated.decisions import decision_body, distributions
from jury_providers.simulated.reader import SimulatedReader
from jury_providers.simulated.rendered_reply import render_reply
from jury_providers.simulated.script import NO_FAULTS, Script

MODEL_VERSION = "simulated-1"


class SimulatedProvider(Provider):
    """Calls no model. Any model name is accepted: the answer depends on the prompt and the seed only."""

    simulated = True
    max_in_flight = None

    def __init__(self, script: Script = NO_FAULTS) -> None:
        self._script = script
        self._reader = SimulatedReader(fixed=script.answers == "scripted")

    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        """Answer the prompt, after the script's latency and unless it draws a fault."""
        seconds = self._script.seconds(request.trace)
        if seconds:
            await asyncio.sleep(seconds)
        fault = self._script.fault(request.trace)
        if fault in _WITHOUT_ANSWER:
            return ModelReply(
                CallOutcome(fault), error=f"simulated fault: {fault}", model_version=MODEL_VERSION, cost=0.0
            )
        reply = render_reply(
            self._reader, self._reader.read_prompt(request), request, fault, self._script.points_of(request.trace)
        )
        if on_chunk is not None and not request.questions:
            for piece in reply.pieces():
                on_chunk(piece)
        if request.questions:
            body = f'{{"model": "{MODEL_VERSION}", "answers": {decision_body(distributions(reply.text))}}}'
            return ModelReply(
                CallOutcome.ANSWERED,
                answer=body.encode("utf-8"),
                model_version=MODEL_VERSION,
                usage=reply.usage,
                cost=0.0,
            )
        tools = reply.tools
        return ModelReply(
            CallOutcome.TRUNCATED if reply.cut else CallOutcome.ANSWERED,
            answer=None if tools else reply.text.encode("utf-8"),
            tool_calls=tools,
            model_version=MODEL_VERSION,
            finish_reason="length" if reply.cut else "tool_calls" if tools else "stop",
            usage=reply.usage,
            cost=0.0,
        )


_WITHOUT_ANSWER = frozenset(
    outcome.value for outcome in CallOutcome if outcome not in {CallOutcome.ANSWERED, CallOutcome.TRUNCATED}
)
"""Outcomes without an answer."""

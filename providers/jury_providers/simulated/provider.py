"""The provider `simulated`: rule-based readers behind the interface of a model, with scripted delays and faults."""

import asyncio

from jury_events.outcome import CallOutcome
from jury_providers.provider import Heard, ModelReply, ModelRequest, Provider
from jury_providers.simulated.prompt import read_prompt
from jury_providers.simulated.reader import Reader
from jury_providers.simulated.script import AS_USUAL, Script
from jury_providers.simulated.speech import speak

MODEL_VERSION = "simulated-1"


class SimulatedProvider(Provider):
    """Calls no model. Any model name is taken: what answers depends on the prompt and the seed alone."""

    simulated = True
    max_in_flight = None

    def __init__(self, script: Script = AS_USUAL) -> None:
        self._script = script
        self._reader = Reader()

    async def call(self, request: ModelRequest, heard: Heard | None = None) -> ModelReply:
        """Answer as the prompt asks, after the script's delay and unless its faults strike."""
        seconds = self._script.seconds(request.trace)
        if seconds:
            await asyncio.sleep(seconds)
        fault = self._script.fault(request.trace)
        if fault in _SILENT:
            return ModelReply(
                CallOutcome(fault), error=f"simulated fault: {fault}", model_version=MODEL_VERSION, cost=0.0
            )
        speech = speak(self._reader, read_prompt(request), request, fault)
        if heard is not None:
            for piece in speech.pieces():
                heard(piece)
        tools = speech.tools
        return ModelReply(
            CallOutcome.TRUNCATED if speech.cut else CallOutcome.ANSWERED,
            answer=None if tools else speech.text.encode("utf-8"),
            tool_calls=tools,
            model_version=MODEL_VERSION,
            finish_reason="length" if speech.cut else "tool_calls" if tools else "stop",
            usage=speech.usage,
            cost=0.0,
        )


_SILENT = frozenset(
    outcome.value for outcome in CallOutcome if outcome not in {CallOutcome.ANSWERED, CallOutcome.TRUNCATED}
)
"""Outcomes without an answer."""

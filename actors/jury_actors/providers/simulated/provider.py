"""The provider `simulated`: rule-based readers behind the interface of a model, with scripted delays and faults."""

import asyncio
import json

from jury_actors.providers.provider import Heard, ModelReply, ModelRequest, Provider
from jury_actors.providers.simulated.reader import Reader
from jury_actors.providers.simulated.script import AS_USUAL, UNPARSEABLE, WRONG_BALLOT, Script
from jury_events.exchange import Usage
from jury_events.outcome import CallOutcome

MODEL_VERSION = "simulated-1"

_CHARACTERS_A_TOKEN = 4
_PIECE = 60
"""Characters of a streamed piece."""

_ANOTHERS_BALLOT = "a" * 16


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
        reply = self._reply(request, fault)
        if heard is not None and reply.answer is not None:
            _tell(reply.answer.decode(), heard)
        return reply

    def _reply(self, request: ModelRequest, fault: str | None) -> ModelReply:
        # A spoilt answer is an answer: the tools are passed over.
        spoken = self._reader.read(request, tools=fault is None)
        if fault == UNPARSEABLE:
            text = spoken.prose
        elif spoken.tools:
            text = ""
        elif fault == WRONG_BALLOT:
            text = json.dumps({**spoken.answer, "ballot": _ANOTHERS_BALLOT}, ensure_ascii=False)
        else:
            text = json.dumps(spoken.answer, ensure_ascii=False)
        cut = fault == CallOutcome.TRUNCATED.value
        if cut:
            text = text[: len(text) // 2]
        tools = spoken.tools
        sent = sum(len(message.text) for message in request.messages)
        said = len(text) + sum(len(tool.name) + len(tool.arguments) for tool in tools)
        return ModelReply(
            CallOutcome.TRUNCATED if cut else CallOutcome.ANSWERED,
            answer=None if tools else text.encode("utf-8"),
            tool_calls=tools,
            model_version=MODEL_VERSION,
            finish_reason="length" if cut else "tool_calls" if tools else "stop",
            usage=Usage(input_tokens=sent // _CHARACTERS_A_TOKEN, output_tokens=said // _CHARACTERS_A_TOKEN),
            cost=0.0,
        )


def _tell(text: str, heard: Heard) -> None:
    for start in range(0, len(text), _PIECE):
        heard(text[start : start + _PIECE])


_SILENT = frozenset(
    outcome.value for outcome in CallOutcome if outcome not in {CallOutcome.ANSWERED, CallOutcome.TRUNCATED}
)
"""Outcomes without an answer."""

"""The text, tool calls and token usage of one simulated reply."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from jury_events.exchange import Usage
from jury_events.outcome import CallOutcome
from jury_providers.prices import ESTIMATED_PICTURE_TOKENS
from jury_providers.provider import ModelMessage, ModelRequest, RequestedTool
from jury_providers.simulated.decisions import decision_text
from jury_providers.simulated.prompt import Prompt
from jury_providers.simulated.reader import SimulatedReader
from jury_providers.simulated.script import MISQUOTED, UNPARSEABLE, WRONG_BALLOT

_json = json.JSONEncoder(ensure_ascii=False).encode

_CHARACTERS_A_TOKEN = 4
_PIECE = 60
"""Characters of a streamed chunk."""


class RenderedReply(NamedTuple):
    """One reply: text or tool calls; `cut`: it is truncated."""

    text: str
    tools: tuple[RequestedTool, ...]
    cut: bool
    usage: Usage

    def pieces(self) -> Iterator[str]:
        """The text in chunks, as it is streamed."""
        for start in range(0, len(self.text), _PIECE):
            yield self.text[start : start + _PIECE]


def render_reply(
    reader: SimulatedReader, prompt: Prompt, request: ModelRequest, fault: str | None, points: float | None = None
) -> RenderedReply:
    """The reply to a request; applies the faults that make an answer wrong or unusable, and `points` of a script."""
    if request.questions:
        text = decision_text(request, reader.scores(prompt, request), fault)
        return RenderedReply(text, (), cut=False, usage=usage_of(request, 0))
    if fault == CallOutcome.ONLY_REASONING.value:
        limit = request.settings.max_output_tokens
        return RenderedReply("", (), cut=True, usage=usage_of(request, limit * _CHARACTERS_A_TOKEN))
    output = reader.respond(prompt, request, fault=fault, points=points)
    answer = output.answer
    if fault == WRONG_BALLOT:
        answer = {**answer, "ballot": "a" * 16}
    elif fault == MISQUOTED:
        answer = _misquoted(answer)
    text = "" if output.tools else f"I say {answer.get('verdict')}." if fault == UNPARSEABLE else _json(answer)
    cut = fault == CallOutcome.TRUNCATED.value
    if cut:
        text = text[: len(text) // 2]
    generated = len(text) + sum(len(tool.name) + len(tool.arguments) for tool in output.tools)
    return RenderedReply(text, output.tools, cut, usage_of(request, generated))


def _misquoted(answer: dict[str, Any]) -> dict[str, Any]:
    """With the words of the first quotation in another order."""
    if not answer.get("evidence"):
        return answer
    first, *others = answer["evidence"]
    return {**answer, "evidence": [{**first, "quote": " ".join(reversed(f"{first['quote']} not".split()))}, *others]}


def usage_of(request: ModelRequest, generated: int) -> Usage:
    """The usage of a call whose reply has `generated` characters."""
    return Usage(input_tokens=tokens_of(request.messages), output_tokens=generated // _CHARACTERS_A_TOKEN)


def tokens_of(messages: Sequence[ModelMessage]) -> int:
    """The tokens of a prompt."""
    sent = sum([len(message.text) + sum(map(len, message.shared)) for message in messages])
    pictures = sum([len(message.pictures) for message in messages])
    return sent // _CHARACTERS_A_TOKEN + pictures * ESTIMATED_PICTURE_TOKENS

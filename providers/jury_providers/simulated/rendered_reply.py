"""What a simulated model says in words: the text and the tools of one reply, and what they count as."""

import json
from collections.abc import Iterator
from typing import NamedTuple

from jury_events.exchange import Usage
from jury_events.outcome import CallOutcome
from jury_providers.provider import ModelRequest, RequestedTool
from jury_providers.simulated.prompt import Prompt
from jury_providers.simulated.reader import SimulatedReader
from jury_providers.simulated.script import UNPARSEABLE, UNUSABLE_ANSWERS, WRONG_BALLOT
from jury_providers.tokens import ESTIMATED_PICTURE_TOKENS, request_pictures

_CHARACTERS_A_TOKEN = 4
_PIECE = 60
"""Characters of a streamed piece."""

_ANOTHERS_BALLOT = "a" * 16
_UNUSABLE_ANSWERS = (*UNUSABLE_ANSWERS, CallOutcome.TRUNCATED.value)


class RenderedReply(NamedTuple):
    """One reply: text, or tools that are asked for; `cut` where it breaks off."""

    text: str
    tools: tuple[RequestedTool, ...]
    cut: bool
    usage: Usage

    def pieces(self) -> Iterator[str]:
        """The text as it is streamed."""
        for start in range(0, len(self.text), _PIECE):
            yield self.text[start : start + _PIECE]


def render_reply(reader: SimulatedReader, prompt: Prompt, request: ModelRequest, fault: str | None) -> RenderedReply:
    """What is said to a request; of the faults, those that spoil an answer are heeded: prose, a ballot, a cut."""
    # A spoilt answer is an answer: the tools are passed over.
    spoken = reader.respond(prompt, request, tools=fault not in _UNUSABLE_ANSWERS)
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
    sent = sum(len(message.text) for message in request.messages)
    said = len(text) + sum(len(tool.name) + len(tool.arguments) for tool in spoken.tools)
    seen = sent // _CHARACTERS_A_TOKEN + request_pictures(request) * ESTIMATED_PICTURE_TOKENS
    usage = Usage(input_tokens=seen, output_tokens=said // _CHARACTERS_A_TOKEN)
    return RenderedReply(text, spoken.tools, cut, usage)

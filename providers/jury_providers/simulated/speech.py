"""What a simulated model says in words: the text and the tools of one reply, and what they count as."""

import json
from collections.abc import Iterator
from typing import NamedTuple

from jury_events.exchange import Usage
from jury_events.outcome import CallOutcome
from jury_providers.provider import ModelRequest, RequestedTool
from jury_providers.simulated.prompt import Prompt
from jury_providers.simulated.reader import Reader
from jury_providers.simulated.script import SPOILT, UNPARSEABLE, WRONG_BALLOT
from jury_providers.tokens import LIKELY_PICTURE_TOKENS, request_pictures

_CHARACTERS_A_TOKEN = 4
_PIECE = 60
"""Characters of a streamed piece."""

_ANOTHERS_BALLOT = "a" * 16
_SPOILT = (*SPOILT, CallOutcome.TRUNCATED.value)


class Speech(NamedTuple):
    """One reply: text, or tools that are asked for; `cut` where it breaks off."""

    text: str
    tools: tuple[RequestedTool, ...]
    cut: bool
    usage: Usage

    def pieces(self) -> Iterator[str]:
        """The text as it is streamed."""
        for start in range(0, len(self.text), _PIECE):
            yield self.text[start : start + _PIECE]


def speak(reader: Reader, prompt: Prompt, request: ModelRequest, fault: str | None) -> Speech:
    """What is said to a request; of the faults, those that spoil an answer are heeded: prose, a ballot, a cut."""
    # A spoilt answer is an answer: the tools are passed over.
    spoken = reader.respond(prompt, request, tools=fault not in _SPOILT)
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
    seen = sent // _CHARACTERS_A_TOKEN + request_pictures(request) * LIKELY_PICTURE_TOKENS
    usage = Usage(input_tokens=seen, output_tokens=said // _CHARACTERS_A_TOKEN)
    return Speech(text, spoken.tools, cut, usage)

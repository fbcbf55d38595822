"""A record read by tools: which of them a simulated juror calls, and what it has read of the record then.

It searches for a few words, reads the items that have them and the ends of the record, and judges by those alone.
"""

import json
import re
from collections.abc import Iterator

from jury_debate.reading.record_tools import READ_ITEMS, SEARCH_ITEMS
from jury_providers.provider import ModelRequest, RequestedTool
from jury_providers.simulated.prompt import Prompt

_WORDS = ("rm -rf", "delete", "password", "secret", "payment", "curl")
_MOST_READ = 6
_REFUSED = '{"error":'
_SIGNED = 40
"""The first characters of a result: those of one that was refused have the sign of judged text, and `_REFUSED`."""
_FOUND = re.compile(r"^- [^\n\[【]{0,20}[\[【](\d{1,7})[\]】]", re.MULTILINE)
"""An item that a search found."""


def wanted_reads(prompt: Prompt, request: ModelRequest) -> tuple[RequestedTool, ...]:
    """The tools to call next; () where nothing more is read, or no such tools are offered."""
    if prompt.task != "initial" or not {READ_ITEMS, SEARCH_ITEMS} <= {tool.name for tool in request.tools}:
        return ()
    if not prompt.results:
        return tuple(_call(SEARCH_ITEMS, number, text=word) for number, word in enumerate(_WORDS, 1))
    if any(_read_texts(prompt)):
        return ()
    found = dict.fromkeys(int(one) for _, text in prompt.results for one in _FOUND.findall(text))
    last = _last_item(prompt)
    # As many as one turn has answered: of more calls the further ones are refused.
    most = min(_MOST_READ, sum(_REFUSED not in text[:_SIGNED] for _, text in prompt.results))
    numbers = [*found, *(number for number in (1, last) if number not in found)][:most]
    return tuple(_call(READ_ITEMS, number, **{"from": number}) for number in numbers)


def with_read_items(prompt: Prompt) -> Prompt:
    """The prompt with what was read by tools as part of its case."""
    texts = list(_read_texts(prompt))
    return prompt._replace(case="\n\n".join([prompt.case, *texts])) if texts else prompt


def _read_texts(prompt: Prompt) -> Iterator[str]:
    """The results that show items; judged text has no line of the prompt's own that begins a part."""
    reading = None if prompt.patterns is None else prompt.patterns.reading
    for _, text in prompt.results:
        if reading is not None and reading.part.find(f"\n{text}"):
            yield text


def _last_item(prompt: Prompt) -> int:
    reading = None if prompt.patterns is None else prompt.patterns.reading
    found = None if reading is None else reading.outline.find(prompt.case)
    return 1 if found is None else int(found["items"])


def _call(name: str, number: int, **arguments: object) -> RequestedTool:
    return RequestedTool(f"call-{name}-{number}", name, json.dumps(arguments))

"""What servers leave standing around an answer (`dialects.toml`): thoughts, fences, channels; taken off where one JSON
object is left."""

import re
from collections import deque
from collections.abc import Collection, Iterator
from itertools import islice
from typing import NamedTuple

from jury_debate.model_json import MODEL_JSON
from jury_events.strict_json import InvalidJson, skip_space
from jury_providers.dialects import LINE_BREAKS, envelopes

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)

_CONTROL = re.compile(r"[\x01-\x1f]")

_MOST_ENDS = 20
"""Ends of one envelope that are tried: a model may quote some in its thoughts."""

_MOST_TRIED = 60
"""Of what is left without an envelope."""


# Nothing is taken off unless one whole JSON object is left, with nothing behind it: what a model quotes of a judged
# text in its thoughts is no answer, whatever tags the text has. What is left is accepted by the seat's ballot id alone.
class OpenedAnswer(NamedTuple):
    """The text that is left, and the names of what was taken off, outermost first."""

    text: str
    taken: tuple[str, ...] = ()


def opened(text: str, names: Collection[str]) -> OpenedAnswer:
    """The answer without what stands around it; unchanged where no single JSON object is left.

    Args:
        names: of what may stand around an answer of its server.
    """
    if not names or _is_object(text):
        return OpenedAnswer(text)
    waiting, tried = deque([OpenedAnswer(text.strip())]), {text.strip()}
    while waiting:
        left = waiting.popleft()
        found = _object_in(left, names)
        if found is not None:
            return found
        for name, rest in _rests(left.text, names):
            if rest not in tried and len(tried) < _MOST_TRIED:
                tried.add(rest)
                waiting.append(OpenedAnswer(rest, (*left.taken, name)))
    return OpenedAnswer(text)


def only_thoughts(text: str, names: Collection[str]) -> bool:
    """Whether a text that was cut off is nothing but thoughts that have no end."""
    text = text.lstrip()
    for name, envelope in envelopes().items():
        opens, closes = envelope.opens, envelope.closes
        if name in names and opens is not None and closes is not None and opens.pattern and opens.match(text):
            return closes.search(text) is None
    return False


def _object_in(left: OpenedAnswer, names: Collection[str]) -> OpenedAnswer | None:
    if not left.text.startswith("{"):
        return None
    if _is_object(left.text):
        return left
    if LINE_BREAKS not in names:
        return None
    escaped = _STRING.sub(lambda string: _CONTROL.sub(_escape, string[0]), left.text)
    return OpenedAnswer(escaped, (*left.taken, LINE_BREAKS)) if _is_object(escaped) else None


def _rests(text: str, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """What is left without each envelope that stands around the text, at each of its possible ends."""
    if text.startswith("{"):
        return
    for name, envelope in envelopes().items():
        if name not in names:
            continue
        whole = None if envelope.whole is None else envelope.whole.fullmatch(text)
        if whole is not None:
            yield name, whole[1].strip()
        begins = None if envelope.opens is None or envelope.closes is None else envelope.opens.match(text)
        if begins is not None and envelope.closes is not None:
            for end in islice(envelope.closes.finditer(text, begins.end()), _MOST_ENDS):
                yield name, text[end.end() :].strip()


def _escape(found: re.Match[str]) -> str:
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(found[0], f"\\u{ord(found[0]):04x}")


def _is_object(text: str) -> bool:
    at = skip_space(text, 0)
    if text[at : at + 1] != "{":
        return False
    try:
        end = MODEL_JSON.value(text, at).end
    except InvalidJson:
        return False
    return skip_space(text, end) == len(text)

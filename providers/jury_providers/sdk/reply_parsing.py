"""Shared parsing: events of a stream, replies, turns with their tool results, what stands around an answer, costs."""

import json
import math
import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import date
from itertools import islice
from typing import Any, NamedTuple

from jury_debate.model_json import MODEL_JSON
from jury_events.exchange import CacheLifetime, CacheWrite, Usage
from jury_events.outcome import CallOutcome
from jury_events.strict_json import InvalidJson, skip_space
from jury_providers.dialects import COST_HEADER, LINE_BREAKS, TICKS, StatedCost, envelopes
from jury_providers.provider import ModelMessage, ModelPicture, RequestedTool


class ParsedReply(NamedTuple):
    """A parsed reply: `text` is the model's whole text, `error` why it is not an answer.

    `stripped`: what the reply has beside the text, by name, where that is no part of the protocol.
    """

    outcome: CallOutcome
    text: str = ""
    tool_calls: tuple[RequestedTool, ...] = ()
    model_version: str | None = None
    fingerprint: str | None = None
    finish_reason: str | None = None
    usage: Usage = Usage()
    response_id: str | None = None
    error: str | None = None
    stripped: tuple[str, ...] = ()


def outcome_of(
    finish: str | None, outcomes: Mapping[str, CallOutcome], good: frozenset[str], *, has_content: bool
) -> CallOutcome:
    """The outcome of a reply.

    Args:
        good: reasons after which an empty reply is an answer; after an unknown reason it is malformed.
        has_content: whether there is a text or a tool call.
    """
    known = outcomes.get(finish or "")
    if known is not None:
        return known
    return CallOutcome.ANSWERED if has_content or finish in good else CallOutcome.MALFORMED_RESPONSE


class ConversationTurn(NamedTuple):
    """A message (`ModelMessage`) with its pictures and the results of its tool calls.

    Results are in the order of the calls and matched by position: ids may be missing or repeated.
    """

    role: str
    text: str
    results: tuple[str, ...]
    pictures: tuple[ModelPicture, ...] = ()
    shared: tuple[str, ...] = ()

    @property
    def blocks(self) -> tuple[str | ModelPicture, ...]:
        """What the message shows, in its order."""
        if not self.shared:
            return (self.text, *self.pictures)
        return (*self.shared, *self.pictures, self.text)


def turns(messages: Iterable[ModelMessage]) -> Iterator[ConversationTurn]:
    """A conversation's messages, each tool result with the message that called the tool."""
    message: ModelMessage | None = None
    results: list[str] = []
    for following in messages:
        if following.role == "tool":
            results.append(following.text)
            continue
        if message is not None:
            yield ConversationTurn(message.role, message.text, tuple(results), message.pictures, message.shared)
        message, results = following, []
    if message is not None:
        yield ConversationTurn(message.role, message.text, tuple(results), message.pictures, message.shared)


def data_url(picture: ModelPicture) -> str:
    """A picture as OpenAI's APIs accept it."""
    return f"data:{picture.media_type};base64,{picture.base64}"


def without_unanswered(items: Iterable[Any], is_call: Callable[[Any], bool], results: int) -> list[Any]:
    """A turn without the tool calls beyond the first `results`: providers refuse calls without a result."""
    kept = []
    for item in items:
        if is_call(item):
            if results == 0:
                continue
            results -= 1
        kept.append(item)
    return kept


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects in a JSON list; [] for any other value."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def object_at(value: Any, *keys: str) -> dict[str, Any]:
    """The object at a path of keys; {} if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def text_at(value: Mapping[str, Any], key: str) -> str | None:
    """A non-empty string, else None."""
    found = value.get(key)
    return found if isinstance(found, str) and found else None


_LONGEST_LABEL = 300
_LENGTH_OF_DATE = len("2026-12-11")

_MOST_TOKENS = 10**9
"""A larger count is implausible, and could overflow sums of tokens or costs."""


def count_at(value: Mapping[str, Any], key: str) -> int | None:
    """A token count; None if missing or implausible."""
    found = value.get(key)
    sensible = isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= _MOST_TOKENS
    return found if sensible else None


def total(*counts: int | None) -> int | None:
    """The sum of the known counts; None if none is known."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def owed_output(sent: int | None, written: int | None, reasoning: int | None, whole: int | None) -> int | None:
    """The tokens of output that are owed; None if that is not known.

    Args:
        whole: all tokens; a count that is 0 may be left out of it.
    """
    if written is not None and (reasoning or 0) > written:
        written += reasoning or 0  # it cannot be a part
    beside = None if whole is None or sent is None else whole - sent
    if beside is None or beside < 0:
        return written
    return max(beside, written or 0)


def cache_writes(
    written: int | None, by_lifetime: Mapping[CacheLifetime, int | None], otherwise: CacheLifetime
) -> tuple[CacheWrite, ...]:
    """The tokens written to a prompt cache.

    Args:
        written: all of them, as the provider says.
        by_lifetime: those of each lifetime, where it says so.
    """
    counts = {lifetime: tokens or 0 for lifetime, tokens in by_lifetime.items()}
    unnamed = (written or 0) - sum(counts.values())
    if unnamed > 0:
        counts[otherwise] = counts.get(otherwise, 0) + unnamed
    return tuple(CacheWrite(lifetime=lifetime, tokens=tokens) for lifetime, tokens in counts.items() if tokens)


def with_cache_miss(usage: Usage, reason: str | None) -> Usage:
    """The usage with the provider's reason, where nothing was read: what differs behind the marks is no miss."""
    return usage if reason is None or usage.cached_input_tokens else usage.changed(cache_miss=reason)


def label_at(value: Mapping[str, Any], key: str) -> str | None:
    """A provider's own word as a label; None if there is none, or it is no label."""
    found = text_at(value, key)
    return found if found is not None and found.isprintable() and len(found) <= _LONGEST_LABEL else None


def date_at(value: Mapping[str, Any], key: str) -> date | None:
    """The day of a date or time in ISO form, as it is written; None if there is none."""
    try:
        return date.fromisoformat((text_at(value, key) or "")[:_LENGTH_OF_DATE])
    except ValueError:
        return None


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


_LINE_END = re.compile(rb"\r\n|\n|\r")


class EventReader:
    """An incremental parser; `events` are all events so far, in order.

    Data that is not a JSON object (`[DONE]`, keep-alives) is skipped: the final event shows whether a stream is
    complete.
    """

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self._rest = bytearray()
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[dict[str, Any]]:
        """The events completed by `piece`."""
        known = len(self.events)
        # A piece may end between CR and LF: the CR is kept for the next piece.
        # Only new bytes are searched and nothing is copied: a long line may arrive in very many pieces.
        rest, new = self._rest, max(len(self._rest) - 1, 0)
        rest += piece
        cut = max(rest.rfind(b"\n", new), rest.rfind(b"\r", new, len(rest) - 1)) + 1
        if cut:
            lines = _LINE_END.split(bytes(rest[:cut]))[:-1]
            del rest[:cut]
            for line in lines:
                self._take(line)
        return self.events[known:]

    def end(self) -> list[dict[str, Any]]:
        """The event completed by the end of the stream, if any."""
        known = len(self.events)
        self._take(bytes(self._rest).rstrip(b"\r"))
        self._take(b"")
        self._rest.clear()
        return self.events[known:]

    def _take(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            self._data.append(line[5:])
        elif not line and self._data:
            data, self._data = b"\n".join(self._data), []
            event = json_object(data)
            if event is not None:
                self.events.append(event)


def events_of(stream: bytes) -> list[dict[str, Any]]:
    reader = EventReader()
    reader.feed(stream)
    reader.end()
    return reader.events


def json_object(data: bytes) -> dict[str, Any] | None:
    """`data` as a JSON object; None if it is not one."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


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


_TICKS_PER_DOLLAR = 1e10


def stated_cost(where: StatedCost | None, document: Mapping[str, Any], headers: Mapping[str, str]) -> float | None:
    """US dollars; None: nothing is said, or what is said is no amount, so that the list of prices counts."""
    if where is None:
        return None
    if where == COST_HEADER:
        return _amount(headers.get(COST_HEADER))
    usage = object_at(dict(document), "usage")
    amount = _amount(usage.get(where))
    if amount is None:
        return None
    if where == TICKS:
        return amount / _TICKS_PER_DOLLAR
    # On a key of one's own the server takes its fee, and the provider behind it the rest.
    beside = _amount(object_at(usage, "cost_details").get("upstream_inference_cost"))
    return amount + (beside or 0.0) if usage.get("is_byok") is True else amount


def _amount(said: object) -> float | None:
    if isinstance(said, bool) or not isinstance(said, int | float | str):
        return None
    try:
        found = float(said)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and found >= 0 else None

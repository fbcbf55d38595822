"""Shared parsing: replies of any protocol, conversation turns with their tool results, defensive JSON access."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple

from jury_events.exchange import CacheLifetime, CacheWrite, Usage
from jury_events.outcome import CallOutcome
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

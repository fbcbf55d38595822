"""What a provider's reply says, whatever its protocol; and how the turns of a conversation belong together."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from jury_events.exchange import Usage
from jury_events.outcome import CallOutcome
from jury_providers.provider import ModelMessage, Picture, RequestedTool


class Reading(NamedTuple):
    """A reply as read: `text` is all that the model said, `error` why it is not an answer."""

    outcome: CallOutcome
    text: str = ""
    tool_calls: tuple[RequestedTool, ...] = ()
    model_version: str | None = None
    finish_reason: str | None = None
    usage: Usage = Usage()
    response_id: str | None = None
    error: str | None = None


def outcome_of(
    finish: str | None, outcomes: Mapping[str, CallOutcome], good: frozenset[str], *, said: bool
) -> CallOutcome:
    """How a reply ended.

    Args:
        finish: the provider's reason, raw.
        outcomes: what the reasons mean that are no good end.
        good: reasons after which silence is an (empty) answer; after one that nobody knows it is a broken reply.
        said: whether there is a text or a tool call.
    """
    known = outcomes.get(finish or "")
    if known is not None:
        return known
    return CallOutcome.ANSWERED if said or finish in good else CallOutcome.MALFORMED_RESPONSE


class Turn(NamedTuple):
    """A message with its pictures, and with the results of the tools that it asked for.

    Results stand in the order of the calls, which is how they are matched: ids may be missing or repeated.
    """

    role: str
    text: str
    results: tuple[str, ...]
    pictures: tuple[Picture, ...] = ()


def turns(messages: Iterable[ModelMessage]) -> Iterator[Turn]:
    """A conversation's messages, each tool's result with the message that asked for it."""
    message: ModelMessage | None = None
    results: list[str] = []
    for following in messages:
        if following.role == "tool":
            results.append(following.text)
            continue
        if message is not None:
            yield Turn(message.role, message.text, tuple(results), message.pictures)
        message, results = following, []
    if message is not None:
        yield Turn(message.role, message.text, tuple(results), message.pictures)


def data_url(picture: Picture) -> str:
    """A picture as OpenAI's interfaces take it."""
    return f"data:{picture.media_type};base64,{picture.base64}"


def without_unanswered(items: Iterable[Any], is_call: Callable[[Any], bool], results: int) -> list[Any]:
    """A turn without the calls beyond the first `results`: no provider takes a call that nobody answered."""
    kept = []
    for item in items:
        if is_call(item):
            if results == 0:
                continue
            results -= 1
        kept.append(item)
    return kept


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a JSON list; none where it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def object_at(value: Any, *keys: str) -> dict[str, Any]:
    """The object at a path of keys; an empty one where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def text_at(value: Mapping[str, Any], key: str) -> str | None:
    """A text that is not empty, else None."""
    found = value.get(key)
    return found if isinstance(found, str) and found else None


_MOST_TOKENS = 10**9
"""A count above it is nonsense, which no sum of tokens or costs could hold."""


def count_at(value: Mapping[str, Any], key: str) -> int | None:
    """A count of tokens, None where it is missing or nonsense."""
    found = value.get(key)
    sensible = isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= _MOST_TOKENS
    return found if sensible else None


def total(*counts: int | None) -> int | None:
    """The sum of the counts that are known; None where none is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def as_json(value: Any) -> str:
    """Arguments that came as JSON, as text."""
    return json.dumps(value, ensure_ascii=False)

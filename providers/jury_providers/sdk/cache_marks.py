"""Marks at the end of what calls share, which ask the provider to keep everything up to there.

Sources: the types of the SDKs openai 3.52 and anthropic 2.11. Google keeps prompts without being asked.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from jury_providers.catalogue import model_facts
from jury_providers.endpoints import ApiProtocol
from jury_providers.prices import estimated_tokens, text_bytes, tool_bytes
from jury_providers.provider import Caching, ModelRequest
from jury_providers.sdk.reply_parsing import turns

_MOST_MARKS = 4
"""Of one request: Anthropic refuses more, OpenAI writes the latest four."""


_UNMARKED: frozenset[int] = frozenset()


def marked_blocks(request: ModelRequest, api: ApiProtocol) -> Sequence[frozenset[int]]:
    """For each turn of a request, the indexes of its blocks that end something shared and are marked.

    The last four of the request at most; one before the last only where the prompt up to there, by an estimate, is long
    enough to be kept.
    """
    count = sum(message.role != "tool" for message in request.messages)
    if not is_marked(request):
        return [_UNMARKED] * count
    marks: list[set[int]] = [set() for _ in range(count)]
    for place in _long_enough(request, api)[-_MOST_MARKS:]:
        marks[place.turn].add(place.block)
    return [frozenset(one) for one in marks]


class _SharedEnd(NamedTuple):
    """The end of a shared block, and the size of the prompt up to there in bytes."""

    turn: int
    block: int
    size: int


def _long_enough(request: ModelRequest, api: ApiProtocol) -> list[_SharedEnd]:
    places: list[_SharedEnd] = []
    size = tool_bytes(request)
    for number, turn in enumerate(turns(request.messages)):
        before = size
        for block, text in enumerate(turn.shared):
            before += text_bytes(text)
            places.append(_SharedEnd(number, block, before))
        size = before + text_bytes(turn.text) + sum(map(text_bytes, turn.results))
    smallest = model_facts(api, request.model).smallest_cache
    return [*(place for place in places[:-1] if estimated_tokens(place.size) >= smallest), *places[-1:]]


def anthropic_mark(caching: Caching) -> dict[str, Any]:
    """The field of a marked content block."""
    return {"cache_control": {"type": "ephemeral", "ttl": caching}}


OPENAI_MARK: dict[str, Any] = {"prompt_cache_breakpoint": {"mode": "explicit"}}
"""The field of a marked content part."""


def openai_cache_options(request: ModelRequest) -> dict[str, Any]:
    """The fields of a request: nothing is kept but what is marked, so that nothing is paid for what is not read."""
    if request.cache is None:
        return {}
    if request.cache == "none":
        return {"prompt_cache_options": {"mode": "explicit"}}
    return {
        "prompt_cache_options": {"mode": "explicit", "ttl": request.cache},
        "prompt_cache_key": shared_digest(request),
    }


def is_marked(request: ModelRequest) -> bool:
    """Whether a call asks to keep what ends with a shared block, and has one."""
    return request.cache not in {None, "none"} and any(message.shared for message in request.messages)


def shared_digest(request: ModelRequest) -> str:
    """Equal for calls that begin alike: the provider sends them to the same machine. 32 hexadecimal digits."""
    digest = sha256(request.model.encode())
    for message in request.messages:
        if message.role != "system" and not message.shared:
            continue
        for text in message.shared or (message.text,):
            digest.update(b"\0" + text.encode("utf-8", "replace"))
    return digest.hexdigest()[:32]

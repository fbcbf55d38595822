"""Marks at the end of what calls share, which ask the provider to keep everything up to there.

Sources: the types of the SDKs openai 3.52 and anthropic 2.11. Google keeps prompts without being asked.
"""

from hashlib import sha256
from typing import Any

from jury_providers.provider import Caching, ModelRequest
from jury_providers.sdk.reply_parsing import ConversationTurn

_MOST_MARKS = 4
"""Of one request: Anthropic refuses more, OpenAI writes the latest four."""


def marked_blocks(turn: ConversationTurn, caching: Caching) -> frozenset[int]:
    """The indexes of a message's blocks that end something shared and are marked: the last four at most."""
    if caching is None or caching == "none":
        return frozenset()
    return frozenset(range(len(turn.shared))[-_MOST_MARKS:])


def anthropic_mark(caching: Caching) -> dict[str, Any]:
    """The field of a marked content block."""
    return {"cache_control": {"type": "ephemeral", "ttl": caching}}


OPENAI_MARK: dict[str, Any] = {"prompt_cache_breakpoint": {"mode": "explicit"}}
"""The field of a marked content part."""


def openai_cache_options(request: ModelRequest) -> dict[str, Any]:
    """The fields of a request: nothing is kept but what is marked, so that nobody pays for what is not read."""
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

"""What calls share with earlier ones and with other protocols: marks of caches, the last replies, names of settings."""

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from jury_events.panel import CallSettings, Tier
from jury_providers.catalogue import model_facts
from jury_providers.endpoints import ApiProtocol, ProviderConnection
from jury_providers.provider import Caching, ModelRequest, estimated_tokens, text_bytes, tool_bytes
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


MAX_STARTS = 10_000
"""Beyond that the least recently used beginning is forgotten."""


class LastReplies:
    """The provider's ids of replies, by connection and beginning. They decide nothing: what is unknown is not asked."""

    def __init__(self) -> None:
        self._ids: OrderedDict[tuple[object, ...], str] = OrderedDict()

    def note(self, connection: ProviderConnection, request: ModelRequest, reply_id: str) -> None:
        """A call was answered with this id."""
        key = _key(connection, request)
        self._ids[key] = reply_id
        self._ids.move_to_end(key)
        if len(self._ids) > MAX_STARTS:
            self._ids.popitem(last=False)

    def before(self, connection: ProviderConnection, request: ModelRequest) -> str | None:
        """The id of the last reply to a call that begins like this one; None: there is none."""
        return self._ids.get(_key(connection, request))


LAST_REPLIES = LastReplies()
"""Of this process: the seats of a model are asked by different adapters."""


def _key(connection: ProviderConnection, request: ModelRequest) -> tuple[object, ...]:
    return (connection.name, connection.base_url, connection.key, shared_digest(request))


_OPENAI_TIERS = {"standard": "default", "flex": "flex", "priority": "priority"}
_ANTHROPIC_TIERS = {"standard": "standard_only", "priority": "auto"}


def openai_chat_settings(settings: CallSettings, tier: Tier | None) -> dict[str, Any]:
    """Fields of a Chat Completions request."""
    return _without_unset(
        temperature=settings.temperature,
        top_p=settings.top_p,
        seed=settings.seed,
        reasoning_effort=settings.effort,
        verbosity=settings.verbosity,
        service_tier=_OPENAI_TIERS.get(tier or ""),
    )


def openai_responses_settings(settings: CallSettings, tier: Tier | None) -> dict[str, Any]:
    """Fields of a Responses request; this API has no seed. `verbosity` is a field of its `text`."""
    return _without_unset(
        temperature=settings.temperature,
        top_p=settings.top_p,
        reasoning=None if settings.effort is None else {"effort": settings.effort},
        service_tier=_OPENAI_TIERS.get(tier or ""),
    )


def anthropic_settings(settings: CallSettings, tier: Tier | None) -> dict[str, Any]:
    """Fields of a Messages request, which has no sampling. `effort` is a field of its `output_config`."""
    return _without_unset(
        thinking=_anthropic_thinking(settings.thinking),
        service_tier=_ANTHROPIC_TIERS.get(tier or ""),
    )


def google_settings(settings: CallSettings) -> dict[str, Any]:
    """Fields of a request's `generationConfig`."""
    thinking = _without_unset(
        thinkingLevel=None if settings.effort is None else settings.effort.upper(),
        thinkingBudget=_google_budget(settings.thinking),
    )
    return _without_unset(
        temperature=settings.temperature,
        topP=settings.top_p,
        seed=settings.seed,
        thinkingConfig=thinking or None,
    )


def _google_budget(thinking: str | int | None) -> int | None:
    if thinking is None or isinstance(thinking, int):
        return thinking
    return 0 if thinking == "off" else -1


def _anthropic_thinking(thinking: str | int | None) -> dict[str, Any] | None:
    if thinking is None:
        return None
    if isinstance(thinking, int):
        return {"type": "enabled", "budget_tokens": thinking}
    return {"type": "disabled" if thinking == "off" else thinking}


def _without_unset(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}

"""What each protocol's requests ask to be kept: blocks in the order of the provider's prefix, with marks.

Sources: the providers' pages on prompt caching, and the types of the SDKs openai 3.52 and anthropic 2.11.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from jury_events.exchange import CacheLifetime
from jury_providers.cache_lifetimes import lifetimes
from jury_providers.catalogue import model_facts
from jury_providers.endpoints import ApiProtocol
from jury_providers.simulated.http.fields import InvalidRequest, JsonObject, encoded, optional_table, text
from jury_providers.simulated.http.prompt_cache import CachedPrompt, CacheUse, PromptBlock

_MOST_MARKS = 4
_OPENAI_MARK, _ANTHROPIC_MARK = "prompt_cache_breakpoint", "cache_control"

_MarkOf = Callable[[JsonObject], CacheLifetime | None]


def openai_prompt(protocol: ApiProtocol, body: JsonObject, turns: str) -> CachedPrompt:
    """The prompt of a request to OpenAI, with its turns under the key `turns`.

    Raises:
        InvalidRequest: the model takes no marks, or the API does not have the lifetime.
    """
    model = str(body.get("model"))
    offered = lifetimes(protocol, model)
    if not offered:
        if "prompt_cache_options" in body or _OPENAI_MARK in encoded(body.get(turns)).decode():
            raise InvalidRequest.verbatim(
                f"Unsupported parameter: prompt caching options are not supported with {model}."
            )
        return CachedPrompt(model, [*_head(body, turns), *_blocks(body.get(turns), _unmarked, ())], implicit=True)
    options = optional_table(body.get("prompt_cache_options"), "prompt_cache_options")
    lifetime: CacheLifetime = options.get("ttl", "30m")
    if lifetime not in offered:
        raise InvalidRequest("prompt_cache_options.ttl", f"supported values are: {', '.join(offered)}")

    def mark_of(block: JsonObject) -> CacheLifetime | None:
        return lifetime if _OPENAI_MARK in block else None

    blocks = list(_blocks(body.get(turns), mark_of, (_OPENAI_MARK,)))
    implicit = options.get("mode", "implicit") == "implicit"
    blocks = _last_marks(blocks, _MOST_MARKS - implicit)
    if implicit and blocks:
        blocks[-1] = blocks[-1]._replace(lifetime=lifetime)
    return CachedPrompt(model, [*_head(body, turns), *blocks])


def openai_cache_counts(use: CacheUse) -> JsonObject:
    """The counts in the details of a prompt's tokens."""
    return {
        "cached_tokens": use.read,
        "cache_write_tokens": use.written_tokens,
        "cache_write_tokens_details": {
            "ttl_30m_tokens": use.written.get("30m", 0),
            "ttl_12h_tokens": use.written.get("12h", 0),
        },
    }


def anthropic_prompt(body: JsonObject) -> CachedPrompt:
    """The prompt of a request to Anthropic; the form of the answer is no part of it.

    Raises:
        InvalidRequest: more than four blocks are marked, or a lifetime is unknown.
    """
    model = str(body.get("model"))
    offered = lifetimes("anthropic", model)

    def mark_of(block: JsonObject) -> CacheLifetime | None:
        mark = block.get(_ANTHROPIC_MARK)
        if mark is None:
            return None
        asked = text(optional_table(mark, _ANTHROPIC_MARK).get("ttl", "5m"), f"{_ANTHROPIC_MARK}.ttl")
        found = next((one for one in offered if one == asked), None)
        if found is None:
            raise InvalidRequest(f"{_ANTHROPIC_MARK}.ttl", f"Input should be {' or '.join(map(repr, offered))}")
        return found

    names = (_ANTHROPIC_MARK,)
    blocks = [
        PromptBlock(encoded(body.get("tools") or [])),
        *_content(body.get("system"), mark_of, names),
        *_blocks(body.get("messages"), mark_of, names),
    ]
    marked = sum(block.lifetime is not None for block in blocks)
    if marked > _MOST_MARKS:
        raise InvalidRequest.verbatim(
            f"A maximum of {_MOST_MARKS} blocks with cache_control may be provided. Found {marked}."
        )
    return CachedPrompt(model, blocks, model_facts("anthropic", model).smallest_cache)


def google_prompt(body: JsonObject) -> CachedPrompt:
    """The prompt of a request to Google, which keeps beginnings without being asked."""
    model = str(body.get("model"))
    contents = [
        part for content in body.get("contents") or () for part in _content(content.get("parts"), _unmarked, ())
    ]
    head = [PromptBlock(encoded(body.get(key) or {})) for key in ("tools", "systemInstruction")]
    return CachedPrompt(model, [*head, *contents], model_facts("google", model).smallest_cache, implicit=True)


def _head(body: JsonObject, turns: str) -> list[PromptBlock]:
    """Tools and the form of the answer stand before the first turn."""
    form = body.get("response_format") if turns == "messages" else body.get("text")
    return [PromptBlock(encoded(body.get("tools") or [])), PromptBlock(encoded(form or {}))]


def _blocks(turns: Any, mark_of: _MarkOf, marks: Sequence[str]) -> Iterator[PromptBlock]:
    """The blocks of all turns; a turn without content (a tool's call) is one block."""
    for turn in turns if isinstance(turns, list) else [turns]:
        content = turn.get("content") if isinstance(turn, dict) else turn
        if content is None:
            yield PromptBlock(encoded(turn))
        else:
            yield from _content(content, mark_of, marks)


def _content(content: Any, mark_of: _MarkOf, marks: Sequence[str]) -> Iterator[PromptBlock]:
    if not isinstance(content, list):
        yield PromptBlock(encoded(content))
        return
    for block in content:
        if isinstance(block, dict):
            kept = {name: value for name, value in block.items() if name not in marks}
            yield PromptBlock(encoded(kept), mark_of(block))
        else:
            yield PromptBlock(encoded(block))


def _last_marks(blocks: list[PromptBlock], most: int) -> list[PromptBlock]:
    """The blocks with the last marks alone: earlier ones are not written."""
    marked = [index for index, block in enumerate(blocks) if block.lifetime is not None]
    ignored = set(marked[:-most])
    return [block._replace(lifetime=None) if index in ignored else block for index, block in enumerate(blocks)]


def _unmarked(_block: JsonObject) -> None:
    return None

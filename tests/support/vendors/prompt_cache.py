"""Prompt caches as the providers keep them: what a request reads of earlier ones, and what it writes.

A prompt is a chain of blocks in the order of the provider's prefix: tools, what says how to answer, system, messages.
What ends with a block is kept under the digest of everything up to there, for a lifetime. Sources: the providers' pages
on prompt caching, and the types of the SDKs openai 3.52 and anthropic 2.11.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from jury_events import CacheLifetime
from jury_providers import CacheUse, JsonObject, encoded, lifetimes, model_facts

_SECONDS: Mapping[CacheLifetime, float] = {"5m": 300.0, "30m": 1800.0, "1h": 3600.0, "12h": 43_200.0}
_IMPLICIT_SECONDS = 300.0
_IMPLICIT_BYTES = 512
"""Without marks beginnings are compared in steps of about 128 tokens, as OpenAI's page on prompt caching says."""

_OPENAI_MARK, _ANTHROPIC_MARK = "prompt_cache_breakpoint", "cache_control"


class PromptBlock(NamedTuple):
    """One block of a prompt: its bytes, and for how long what ends with it is to be kept; None: not marked."""

    content: bytes
    lifetime: CacheLifetime | None = None


class CachedPrompt(NamedTuple):
    """What of a request a provider may keep.

    Args:
        model: prompts of other models are others.
        blocks: in their order.
        smallest: tokens of the shortest beginning that is kept.
        implicit: the provider keeps every beginning, without a mark and without a fee.
    """

    model: str
    blocks: Sequence[PromptBlock]
    smallest: int = 1024
    implicit: bool = False


class _Place(NamedTuple):
    """The end of a block: the digest up to there, its tokens, and how long it is to be kept."""

    digest: bytes
    tokens: int
    lifetime: CacheLifetime | None


class PromptCache:
    """The caches of all models of one server.

    Args:
        clock: seconds, from any start.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._ends: dict[bytes, float] = {}

    def use(self, prompt: CachedPrompt, tokens: int) -> CacheUse:
        """What a request reads now and will write, of `tokens` in all; one that keeps nothing reads nothing."""
        places = _places(prompt, tokens)
        kept = _kept(places, prompt)
        read = max((place.tokens for place in places if kept and self._alive(place.digest)), default=0)
        written: dict[CacheLifetime, int] = {}
        before = read
        for place in kept:
            if place.lifetime is not None and place.tokens > before:
                written[place.lifetime] = written.get(place.lifetime, 0) + place.tokens - before
                before = place.tokens
        return CacheUse(read, written)

    def keep(self, prompt: CachedPrompt, tokens: int) -> None:
        """Keep what a request marked, once it begins to be answered: calls made before find nothing of it."""
        for place in _kept(_places(prompt, tokens), prompt):
            seconds = _IMPLICIT_SECONDS if place.lifetime is None else _SECONDS[place.lifetime]
            self._ends[place.digest] = self._clock() + seconds

    def _alive(self, digest: bytes) -> bool:
        return self._ends.get(digest, 0.0) > self._clock()


def _kept(places: Sequence[_Place], prompt: CachedPrompt) -> list[_Place]:
    marked = (place for place in places if prompt.implicit or place.lifetime is not None)
    return [place for place in marked if place.tokens >= prompt.smallest]


def _places(prompt: CachedPrompt, tokens: int) -> list[_Place]:
    """The ends of a prompt's blocks; `tokens` are shared out by size."""
    size = sum(len(block.content) for block in prompt.blocks)
    digest, before = prompt.model.encode(), 0
    places = []
    for block in _implicit_steps(prompt.blocks) if prompt.implicit else prompt.blocks:
        before += len(block.content)
        digest = blake2b(block.content, key=blake2b(digest).digest(), digest_size=16).digest()
        places.append(_Place(digest, round(tokens * before / size) if size else 0, block.lifetime))
    return places


def _implicit_steps(blocks: Sequence[PromptBlock]) -> Iterator[PromptBlock]:
    for block in blocks:
        for start in range(0, len(block.content), _IMPLICIT_BYTES):
            yield PromptBlock(block.content[start : start + _IMPLICIT_BYTES])


def kept_prompt(kind: str, body: JsonObject) -> CachedPrompt:
    """What a request of this kind of protocol asks to be kept."""
    model = str(body["model"])
    if kind == "generate":
        parts = [part for content in body["contents"] for part in content["parts"]]
        blocks = [*_head(body, "tools", "systemInstruction"), *_blocks(parts)]
        return CachedPrompt(model, blocks, model_facts("google", model).smallest_cache, implicit=True)
    if kind == "messages":
        blocks = [*_head(body, "tools"), *_blocks(body.get("system")), *_turns(body["messages"])]
        return CachedPrompt(model, blocks, model_facts("anthropic", model).smallest_cache)
    is_chat = kind == "chat"
    blocks = _head(body, "tools", "response_format" if is_chat else "text")
    options = body.get("prompt_cache_options") or {}
    turns = list(_turns(body["messages" if is_chat else "input"], options.get("ttl", "30m")))
    if not lifetimes("openai" if is_chat else "openai-responses", model):
        return CachedPrompt(model, [*blocks, *turns], implicit=True)
    if options.get("mode", "implicit") == "implicit" and turns:
        turns[-1] = turns[-1]._replace(lifetime=options.get("ttl", "30m"))
    return CachedPrompt(model, [*blocks, *turns])


def _head(body: JsonObject, *names: str) -> list[PromptBlock]:
    return [PromptBlock(encoded(body.get(name) or [])) for name in names]


def _turns(turns: Any, openai: CacheLifetime = "30m") -> Iterator[PromptBlock]:
    """The blocks of all turns; a turn without content (a tool's call) is one block."""
    for turn in turns if isinstance(turns, list) else [turns]:
        content = turn.get("content") if isinstance(turn, dict) else turn
        yield from _blocks(turn if content is None else content, openai)


def _blocks(content: Any, openai: CacheLifetime = "30m") -> Iterator[PromptBlock]:
    """`openai`: the lifetime of its marks, which name none."""
    for block in content if isinstance(content, list) else [content]:
        if isinstance(block, dict):
            kept = {name: value for name, value in block.items() if name not in {_OPENAI_MARK, _ANTHROPIC_MARK}}
            mark: CacheLifetime | None = openai if _OPENAI_MARK in block else None
            if _ANTHROPIC_MARK in block:
                mark = block[_ANTHROPIC_MARK].get("ttl", "5m")
            yield PromptBlock(encoded(kept), mark)
        else:
            yield PromptBlock(encoded(block))

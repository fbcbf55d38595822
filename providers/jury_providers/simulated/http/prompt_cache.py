"""Prompt caches as the providers keep them: what a request reads of earlier ones, and what it writes.

A prompt is a chain of blocks. What ends with a block is kept under the digest of everything up to there, for a lifetime
that every read begins anew. Source: the providers' pages on prompt caching.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from types import MappingProxyType
from typing import NamedTuple

from jury_events.exchange import CacheLifetime
from jury_providers.cache_lifetimes import SECONDS

MAX_ENTRIES = 100_000
"""Beyond that the least recently used one is forgotten."""

_IMPLICIT_SECONDS = 300.0
_IMPLICIT_BYTES = 512
"""Without marks beginnings are compared in steps of about 128 tokens, as OpenAI's page on prompt caching says."""


class PromptBlock(NamedTuple):
    """One block of a prompt: its bytes, and for how long what ends with it is to be kept; None: not marked."""

    content: bytes
    lifetime: CacheLifetime | None = None


class CachedPrompt(NamedTuple):
    """What of a request a provider may keep.

    Args:
        model: prompts of other models are others.
        blocks: in the order of the provider's prefix: tools, what says how to answer, system, messages.
        smallest: tokens of the shortest beginning that is kept.
        implicit: the provider keeps every beginning, without a mark and without a fee.
    """

    model: str
    blocks: Sequence[PromptBlock]
    smallest: int = 1024
    implicit: bool = False


class CacheUse(NamedTuple):
    """Tokens of a prompt that were read, and those that were written, by lifetime."""

    read: int = 0
    written: Mapping[CacheLifetime, int] = MappingProxyType({})

    @property
    def written_tokens(self) -> int:
        """All tokens that were written."""
        return sum(self.written.values())


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
        self._ends: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def use(self, prompt: CachedPrompt, tokens: int) -> CacheUse:
        """What a request reads now and will write, of `tokens` in all; one that keeps nothing reads nothing."""
        places = _places(prompt, tokens)
        kept = self._kept(places, prompt)
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
        now = self._clock()
        for place in self._kept(_places(prompt, tokens), prompt):
            seconds = _IMPLICIT_SECONDS if place.lifetime is None else SECONDS[place.lifetime]
            self._ends[place.digest] = (now + seconds, seconds)
            self._ends.move_to_end(place.digest)
        while len(self._ends) > MAX_ENTRIES:
            self._ends.popitem(last=False)

    @staticmethod
    def _kept(places: Sequence[_Place], prompt: CachedPrompt) -> list[_Place]:
        return [
            place
            for place in places
            if place.tokens >= prompt.smallest and (prompt.implicit or place.lifetime is not None)
        ]

    def _alive(self, digest: bytes) -> bool:
        found = self._ends.get(digest)
        return found is not None and found[0] > self._clock()


def _places(prompt: CachedPrompt, tokens: int) -> list[_Place]:
    """The ends of a prompt's blocks; `tokens` are shared out by size."""
    size = sum(len(block.content) for block in prompt.blocks)
    digest, before = prompt.model.encode("utf-8", "replace"), 0
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

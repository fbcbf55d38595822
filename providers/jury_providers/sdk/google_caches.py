"""Gemini's explicit caches: made of what calls share, by a request of its own, and named by the calls that read them.

Source: the API reference on context caching, and the types of the SDK `google-genai` 3.4.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from jury_events.exchange import CacheLifetime, CacheWrite
from jury_providers.cache_lifetimes import SECONDS
from jury_providers.catalogue import model_facts
from jury_providers.endpoints import ProviderConnection
from jury_providers.provider import ModelRequest
from jury_providers.tokens import estimated_tokens

_MARGIN_SECONDS = 30.0
"""Before its end a cache is used no more: a request takes time to arrive, and to be read."""

_RETRY_SECONDS = 60.0
"""After a failure that may pass, calls are made without a cache for so long."""


class SharedContent(NamedTuple):
    """A request's body in two parts.

    Args:
        kept: what calls share: the contents, the system instruction and the tools of a cache.
        rest: the body of a request that names a cache with it.
        tokens: of `kept`, estimated.
        lifetime: for which the call asks to keep it.
    """

    kept: dict[str, Any]
    rest: dict[str, Any]
    tokens: int
    lifetime: CacheLifetime

    def digest(self, model: str) -> str:
        """Equal for calls that can read the same cache."""
        return sha256(json.dumps([model, self.kept], sort_keys=True).encode()).hexdigest()


def shared_content(request: ModelRequest, body: dict[str, Any]) -> SharedContent | None:
    """The parts of a body; None: nothing is to be kept, no other call begins like this one, or the provider keeps no
    beginning as short as that.

    Args:
        request: of the call.
        body: its JSON.
    """
    lifetime = request.cache
    if lifetime is None or lifetime == "none":
        return None
    asked = [message for message in request.messages if message.role != "system"]
    if not asked or not asked[0].shared:
        return None
    first, *others = body["contents"]
    shared = len(asked[0].shared)
    head: dict[str, Any] = {key: body[key] for key in ("systemInstruction", "tools") if key in body}
    kept = {**head, "contents": [{**first, "parts": first["parts"][:shared]}]}
    rest = {key: value for key, value in body.items() if key not in kept}
    rest["contents"] = [{**first, "parts": first["parts"][shared:]}, *others]
    texts = [*asked[0].shared, *(message.text for message in request.messages if message.role == "system")]
    size = sum(len(text.encode("utf-8", "replace")) for text in texts) + len(json.dumps(body.get("tools", "")))
    content = SharedContent(kept, rest, estimated_tokens(size), lifetime)
    return content if content.tokens >= model_facts("google", request.model).smallest_cache else None


class MadeCache(NamedTuple):
    """What became of a request for a cache.

    Args:
        name: of the cache; None: there is none.
        tokens: that were written and are billed.
        problem: why there is none, in one line.
        lasting: the same request would be refused again.
    """

    name: str | None
    tokens: int = 0
    problem: str | None = None
    lasting: bool = False


class FoundCache(NamedTuple):
    """A cache for a call: its name or the problem, and the write that this call is the first to pay for."""

    name: str | None
    problem: str | None = None
    write: CacheWrite | None = None


class _Entry:
    def __init__(self, lifetime: CacheLifetime, until: float) -> None:
        self.lifetime = lifetime
        self.until = until
        self.making: asyncio.Task[MadeCache]
        self.booked = False


class GoogleCaches:
    """The caches of one connection in a process: one for all calls that begin alike, until shortly before its end.

    Args:
        clock: seconds, from any start.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.users = 0
        self._clock = clock
        self._entries: dict[str, _Entry] = {}

    async def find(
        self, digest: str, lifetime: CacheLifetime, make: Callable[[], Awaitable[MadeCache]], patience: float
    ) -> FoundCache:
        """The cache of a digest, made where there is none; calls at once share one request for it.

        Args:
            digest: of what is kept.
            lifetime: of a cache that is made.
            make: asks the provider for it; does not raise.
            patience: seconds after which the call goes on without. The request goes on for other calls.
        """
        entry = self._entries.get(digest)
        if entry is None or entry.until <= self._clock():
            entry = self._begin(digest, lifetime, make)
        try:
            async with asyncio.timeout(patience):
                made = await asyncio.shield(entry.making)
        except TimeoutError:
            return FoundCache(None, f"it was not made within {patience:g} s")
        if entry.booked or not made.tokens:
            return FoundCache(made.name, made.problem)
        entry.booked = True
        return FoundCache(made.name, made.problem, CacheWrite(lifetime=entry.lifetime, tokens=made.tokens))

    def forget(self, digest: str, name: str) -> None:
        """The provider knows the cache no more: the next call has another one made."""
        entry = self._entries.get(digest)
        if entry is not None and entry.making.done() and entry.making.result().name == name:
            del self._entries[digest]

    async def end(self) -> list[str]:
        """Forget everything; the names of the caches that are left at the provider."""
        entries, self._entries = self._entries, {}
        for entry in entries.values():
            entry.making.cancel()
        made = await asyncio.gather(*(entry.making for entry in entries.values()), return_exceptions=True)
        return [one.name for one in made if isinstance(one, MadeCache) and one.name is not None]

    def _begin(self, digest: str, lifetime: CacheLifetime, make: Callable[[], Awaitable[MadeCache]]) -> _Entry:
        now = self._clock()
        self._entries = {key: entry for key, entry in self._entries.items() if entry.until > now}
        entry = self._entries[digest] = _Entry(lifetime, now + SECONDS[lifetime] - _MARGIN_SECONDS)
        entry.making = asyncio.create_task(self._make(entry, make))
        return entry

    async def _make(self, entry: _Entry, make: Callable[[], Awaitable[MadeCache]]) -> MadeCache:
        made = await make()
        if made.name is None and not made.lasting:
            entry.until = min(entry.until, self._clock() + _RETRY_SECONDS)
        return made


_Key = tuple[object, ...]
_known: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[_Key, GoogleCaches]] = WeakKeyDictionary()


def acquire_caches(connection: ProviderConnection, clock: Callable[[], float]) -> GoogleCaches:
    """The caches of a connection in this process and event loop; each caller releases them with `release_caches`."""
    caches = _known.setdefault(asyncio.get_running_loop(), {}).setdefault(_key(connection), GoogleCaches(clock))
    caches.users += 1
    return caches


async def release_caches(connection: ProviderConnection) -> list[str]:
    """The names of the caches to delete, for the last that releases them; [] for the others."""
    known = _known[asyncio.get_running_loop()]
    caches = known[_key(connection)]
    caches.users -= 1
    if caches.users:
        return []
    del known[_key(connection)]
    return await caches.end()


def _key(connection: ProviderConnection) -> _Key:
    headers = tuple(sorted(connection.extra_headers.items()))
    return (*connection[:4], headers, connection.cloud)

"""Google's explicit caches: made by a request of their own, and kept until their end, however often they are read.

Source: the API reference on context caching, and the types of the SDK `google-genai` 3.4.
"""

import re
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from secrets import token_hex
from typing import NamedTuple

from jury_providers.catalogue import model_facts
from jury_providers.provider import ModelMessage
from jury_providers.simulated.http.fields import InvalidRequest, JsonObject, name, rows, text
from jury_providers.simulated.http.google_messages import google_messages

MAX_CONTENTS = 10_000
"""Beyond that the oldest is forgotten."""

_DURATION = re.compile(r"\d{1,9}(\.\d{1,9})?s")
_KEPT = ("systemInstruction", "tools", "toolConfig")


class ContentNotFound(InvalidRequest):
    """A cache that does not exist, or has ended."""

    status = 403


class CachedContent(NamedTuple):
    """One cache: the `content` that requests begin with, its tokens, and its end by the server's clock."""

    name: str
    model: str
    content: JsonObject
    tokens: int
    end: float
    created: datetime
    seconds: float

    @property
    def resource(self) -> JsonObject:
        """As the API describes it."""
        ends = self.created + timedelta(seconds=self.seconds)
        return {
            "name": self.name,
            "model": self.model,
            "createTime": self.created.isoformat(),
            "updateTime": self.created.isoformat(),
            "expireTime": ends.isoformat(),
            "usageMetadata": {"totalTokenCount": self.tokens},
        }


class CachedContents:
    """The explicit caches of one server.

    Args:
        clock: seconds, from any start.
        count_tokens: of messages.
    """

    def __init__(self, clock: Callable[[], float], count_tokens: Callable[[Sequence[ModelMessage]], int]) -> None:
        self._clock = clock
        self._count_tokens = count_tokens
        self._kept: OrderedDict[str, CachedContent] = OrderedDict()

    def make(self, body: JsonObject) -> CachedContent:
        """Make a cache.

        Raises:
            InvalidRequest: a field is invalid, or there are fewer tokens than the model's caches have.
        """
        model = name(body.get("model"), "cached_content.model")
        ttl = text(body.get("ttl", "3600s"), "cached_content.ttl")
        if not _DURATION.fullmatch(ttl):
            raise InvalidRequest.verbatim("Invalid value at 'cached_content.ttl' (google.protobuf.Duration)")
        tokens = self._count_tokens(google_messages(body))
        smallest = model_facts("google", model.removeprefix("models/")).smallest_cache
        if tokens < smallest:
            raise InvalidRequest.verbatim(
                f"Cached content is too small. total_token_count={tokens}, min_total_token_count={smallest}"
            )
        seconds = float(ttl[:-1])
        content = {key: body[key] for key in ("contents", *_KEPT) if key in body}
        made = CachedContent(
            f"cachedContents/{token_hex(12)}",
            model,
            content,
            tokens,
            self._clock() + seconds,
            datetime.now(UTC),
            seconds,
        )
        self._kept[made.name] = made
        while len(self._kept) > MAX_CONTENTS:
            self._kept.popitem(last=False)
        return made

    def get(self, wanted: str) -> CachedContent:
        """A cache by its name.

        Raises:
            ContentNotFound: there is none, or it has ended.
        """
        found = self._kept.get(wanted)
        if found is None or found.end <= self._clock():
            self._kept.pop(wanted, None)
            raise ContentNotFound.verbatim("CachedContent not found (or permission denied)")
        return found

    def delete(self, wanted: str) -> None:
        """Delete a cache.

        Raises:
            ContentNotFound: there is none, or it has ended.
        """
        del self._kept[self.get(wanted).name]

    def named_in(self, body: JsonObject) -> CachedContent | None:
        """The cache that a request names; None: it names none.

        Raises:
            ContentNotFound: there is none, or it has ended.
            InvalidRequest: it is another model's, or the request sends again what the cache has.
        """
        if body.get("cachedContent") is None:
            return None
        found = self.get(text(body["cachedContent"], "cachedContent"))
        if any(key in body for key in _KEPT):
            raise InvalidRequest.verbatim(
                "CachedContent can not be used with GenerateContent request setting system_instruction, tools or "
                "tool_config."
            )
        model = f"models/{body.get('model')}"
        if found.model != model:
            raise InvalidRequest.verbatim(
                f"Model used by GenerateContent request ({model}) and CachedContent ({found.model}) has to be the same."
            )
        return found


NO_CACHES = CachedContents(time.monotonic, len)
"""Of a server that makes none."""


def with_content(body: JsonObject, content: JsonObject) -> JsonObject:
    """A request as if it had sent what its cache keeps: one message that both have parts of is one again."""
    kept, own = rows(content["contents"], "contents"), rows(body.get("contents"), "contents")
    if kept and own and kept[-1].get("role") == own[0].get("role"):
        joined = {**own[0], "parts": [*rows(kept[-1].get("parts"), "parts"), *rows(own[0].get("parts"), "parts")]}
        own = [joined, *own[1:]]
        kept = kept[:-1]
    return {**body, **content, "contents": [*kept, *own]}

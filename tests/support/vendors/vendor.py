"""A vendor that keeps prompts as the providers do, and serves decision models."""

import time
from collections.abc import Callable, Mapping, Sequence

from jury_providers import CacheUse, JsonObject, ModelMessage, ProtocolHandler, Vendor
from support.vendors.decisions import GoogleDecisionsApi, OpenAIDecisionsApi, SystemOneApi
from support.vendors.prompt_cache import PromptCache, kept_prompt


class DecisionVendor(Vendor):
    """Serves the three APIs of decision models."""

    def protocols(self) -> Mapping[str, ProtocolHandler]:
        return {
            "/v1/decisions": OpenAIDecisionsApi(),
            "/v1beta/decisions": GoogleDecisionsApi(),
            "/v1/systemone": SystemOneApi(),
        }


class KeepingVendor(Vendor):
    """Keeps prompts.

    Args:
        clock: seconds, for the lifetimes of what is kept.
        count_tokens: of a prompt's text; None: as the simulated models count.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, count_tokens: Callable[[str], int] | None = None
    ) -> None:
        self._cache = PromptCache(clock)
        self._count = count_tokens

    def tokens(self, messages: Sequence[ModelMessage]) -> int:
        if self._count is None:
            return super().tokens(messages)
        return sum(map(self._count, (text for one in messages for text in (*one.shared, one.text))))

    def arrived(self, kind: str, body: JsonObject, tokens: int) -> CacheUse:
        return self._cache.use(kept_prompt(kind, body), tokens)

    def answered(self, kind: str, body: JsonObject, tokens: int) -> None:
        self._cache.keep(kept_prompt(kind, body), tokens)

"""What a provider does beside answering: here nothing. A test of clients plugs in a vendor that does it."""

from collections.abc import Mapping, Sequence

from jury_providers.provider import ModelMessage
from jury_providers.simulated.http.cache_use import CacheUse
from jury_providers.simulated.http.fields import JsonObject
from jury_providers.simulated.http.protocol import ProtocolHandler
from jury_providers.simulated.rendered_reply import tokens_of


class Vendor:
    """Keeps no prompt, and takes every request that can be read."""

    def protocols(self) -> Mapping[str, ProtocolHandler]:
        """Further protocols, by the path of their calls."""
        return {}

    def tokens(self, messages: Sequence[ModelMessage]) -> int:
        """Of a prompt."""
        return tokens_of(messages)

    def arrived(self, kind: str, body: JsonObject, tokens: int) -> CacheUse:  # noqa: ARG002  (for others)
        """What a request reads of a cache now, and will write."""
        return CacheUse()

    def answered(self, kind: str, body: JsonObject, tokens: int) -> None:
        """A request begins to be answered. Arguments as of `arrived`."""


NO_VENDOR = Vendor()

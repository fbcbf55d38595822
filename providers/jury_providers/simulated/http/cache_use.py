"""What a call used of a prompt cache."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from jury_events.exchange import CacheLifetime


class CacheUse(NamedTuple):
    """Tokens of a prompt that were read from a cache, and those that were written to it, by lifetime."""

    read: int = 0
    written: Mapping[CacheLifetime, int] = MappingProxyType({})

    @property
    def written_tokens(self) -> int:
        return sum(self.written.values())

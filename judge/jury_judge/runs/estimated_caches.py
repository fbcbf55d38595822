"""What of an estimated debate's prompts is written to caches and read from them."""

import math
from collections import Counter
from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

from jury_debate.shared_prompts import PromptStart, start_of
from jury_events.exchange import CacheWrite, Usage
from jury_events.panel import FinalJudge, Seat
from jury_providers.caching import CachePolicy


class EstimatedCall(NamedTuple):
    """Calls of a place with equal `tools` begin alike: "none", "records", "records and opinions", or a part's name."""

    place: Seat | FinalJudge
    tools: str

    @property
    def start(self) -> PromptStart:
        """How its prompt begins."""
        return start_of(self.place)._replace(tools=self.tools)


class EstimatedCaches:
    """The caches of one debate.

    Args:
        policy: what providers are asked to keep.
        calls: all of the debate, in their order.
        on: today, for prices.
    """

    def __init__(self, policy: CachePolicy, calls: Iterable[EstimatedCall], on: date) -> None:
        self._policy = policy
        self._on = on
        self._left = Counter(call.start for call in calls)
        self._kept: set[PromptStart] = set()

    def usage(self, call: EstimatedCall, sent: int, shared: int, answer: int) -> Usage:
        """The usage of the next call.

        Args:
            call: which one.
            sent: tokens of its prompt.
            shared: those of them that other calls begin with.
            answer: tokens of its answer.
        """
        start, place = call.start, call.place
        self._left[start] -= 1
        plain = Usage(input_tokens=sent, output_tokens=answer)
        if not shared or not self._policy.is_kept(place.model, shared):
            return plain
        known = start in self._kept
        further = math.inf if known else self._left[start]
        lifetime = self._policy.choose(place.model, place.settings, further, self._on)
        if lifetime == "none" or (lifetime is None and not self._policy.reads_for_less(place.model, self._on)):
            return plain
        self._kept.add(start)
        if known:
            return plain.changed(cached_input_tokens=min(shared, sent))
        if lifetime is None:
            return plain
        return plain.changed(cache_writes=(CacheWrite(lifetime=lifetime, tokens=min(shared, sent)),))

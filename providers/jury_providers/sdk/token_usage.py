"""The tokens and costs that a reply states: sums, what is owed, what was written to caches."""

import math
from collections.abc import Mapping
from typing import Any

from jury_events.exchange import CacheLifetime, CacheWrite, Usage
from jury_providers.dialects import COST_HEADER, TICKS, StatedCost
from jury_providers.sdk.json_fields import object_at


def total(*counts: int | None) -> int | None:
    """The sum of the known counts; None if none is known."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def owed_output(sent: int | None, written: int | None, reasoning: int | None, whole: int | None) -> int | None:
    """The tokens of output that are owed; None if that is not known.

    Args:
        whole: all tokens; a count that is 0 may be left out of it.
    """
    if written is not None and (reasoning or 0) > written:
        written += reasoning or 0  # it cannot be a part
    beside = None if whole is None or sent is None else whole - sent
    if beside is None or beside < 0:
        return written
    return max(beside, written or 0)


def cache_writes(
    written: int | None, by_lifetime: Mapping[CacheLifetime, int | None], otherwise: CacheLifetime
) -> tuple[CacheWrite, ...]:
    """The tokens written to a prompt cache.

    Args:
        written: all of them, as the provider says.
        by_lifetime: those of each lifetime, where it says so.
    """
    counts = {lifetime: tokens or 0 for lifetime, tokens in by_lifetime.items()}
    unnamed = (written or 0) - sum(counts.values())
    if unnamed > 0:
        counts[otherwise] = counts.get(otherwise, 0) + unnamed
    return tuple(CacheWrite(lifetime=lifetime, tokens=tokens) for lifetime, tokens in counts.items() if tokens)


def with_cache_miss(usage: Usage, reason: str | None) -> Usage:
    """The usage with the provider's reason, where nothing was read: what differs behind the marks is no miss."""
    return usage if reason is None or usage.cached_input_tokens else usage.changed(cache_miss=reason)


_TICKS_PER_DOLLAR = 1e10


def stated_cost(where: StatedCost | None, document: Mapping[str, Any], headers: Mapping[str, str]) -> float | None:
    """US dollars; None: nothing is said, or what is said is no amount, so that the list of prices counts."""
    if where is None:
        return None
    if where == COST_HEADER:
        return _amount(headers.get(COST_HEADER))
    usage = object_at(dict(document), "usage")
    amount = _amount(usage.get(where))
    if amount is None:
        return None
    if where == TICKS:
        return amount / _TICKS_PER_DOLLAR
    # On a key of one's own the server takes its fee, and the provider behind it the rest.
    beside = _amount(object_at(usage, "cost_details").get("upstream_inference_cost"))
    return amount + (beside or 0.0) if usage.get("is_byok") is True else amount


def _amount(said: object) -> float | None:
    if isinstance(said, bool) or not isinstance(said, int | float | str):
        return None
    try:
        found = float(said)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and found >= 0 else None

"""What a server itself says that a call cost: it knows discounts, fees and tools that no list of prices has."""

import math
from collections.abc import Mapping
from typing import Any

from jury_providers.dialects import COST_HEADER, TICKS, StatedCost
from jury_providers.sdk.reply_parsing import object_at

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

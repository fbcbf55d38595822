"""The consensus thresholds that users may write. Recorded debates may have others: any above 1 means never."""

NEVER = 2.0
"""No agreement reaches it: phase 2 always runs (document 004)."""

MAY_BE = f"above 0 and at most 1, as 0.67 (two of three) or 1.0 (all), or exactly {NEVER} (never)"

_PERCENT = (34, 100)
"""A plausible share in percent: at most a third agree in every panel that is split."""


def checked_threshold(value: float) -> float:
    """The threshold, if it is valid.

    Raises:
        ValueError: it is not; the message lists the valid values.
    """
    if 0 < value <= 1 or value == NEVER:
        return value
    raise ValueError(f"{value:g} is not a threshold{threshold_hint(value)}; it may be {MAY_BE}")


def threshold_hint(value: float) -> str:
    """` (did you mean 0.67?)` where `value` seems to be a percentage, else empty."""
    return f" (did you mean {value / 100:.4g}?)" if _PERCENT[0] <= value <= _PERCENT[1] else ""

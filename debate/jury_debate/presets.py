"""The presets of rules, and the thresholds that users may write."""

from typing import Any

from jury_debate.errors import PanelError
from jury_events.nearest import did_you_mean

PARALLEL_ROUNDS = "parallel-rounds"
ADK_SEQUENTIAL = "adk-sequential"
INDEPENDENT = "independent"
ON_DISAGREEMENT = "on-disagreement"

_COMMON: dict[str, Any] = {"unanimity_ends": True, "end_early": True, "stagnation_rounds": None}

PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    PARALLEL_ROUNDS: {
        "discussion": {
            **_COMMON,
            "order": "parallel",
            "threshold": 2.0,
            "always_discuss": False,
            "max_rounds": 3,
            "history": "all",
        },
        "final": {"method": "final_judge"},
    },
    ON_DISAGREEMENT: {
        "discussion": {
            **_COMMON,
            "order": "parallel",
            "threshold": 1.0,
            "always_discuss": False,
            "max_rounds": 3,
            "history": "all",
        },
        "final": {"method": "final_judge"},
    },
    ADK_SEQUENTIAL: {
        "discussion": {
            **_COMMON,
            "order": "sequential",
            "threshold": 0.67,
            "always_discuss": True,
            "max_rounds": 3,
            "history": "latest",
        },
        "final": {"method": "final_judge"},
    },
    INDEPENDENT: {
        "discussion": {
            **_COMMON,
            "order": "parallel",
            "threshold": 2.0,
            "always_discuss": False,
            "max_rounds": 0,
            "history": "all",
        },
        "final": {"method": "majority_vote"},
    },
}
"""Document 004 (the default), document 002, and the preset of `JURY_USE_COLLABORATIVE=false`; document 004 with a
discussion only where the first votes differ: where all agree, it costs two to three times as much and gains nothing
(arXiv 2605.00914)."""


def preset(name: str) -> dict[str, dict[str, Any]]:
    """The rules of a preset."""
    found = PRESETS.get(name)
    if found is None:
        raise PanelError(f"there is no preset {name!r}{did_you_mean(name, PRESETS)}; presets are {', '.join(PRESETS)}")
    return found


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

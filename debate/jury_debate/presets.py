"""The three presets of rules; the seats are the panel's."""

from typing import Any

from jury_debate.errors import PanelError
from jury_events.nearest import did_you_mean

PARALLEL_ROUNDS = "parallel-rounds"
ADK_SEQUENTIAL = "adk-sequential"
INDEPENDENT = "independent"

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
"""Document 004 (the default), document 002, and the preset of `JURY_USE_COLLABORATIVE=false`."""


def preset(name: str) -> dict[str, dict[str, Any]]:
    """The rules of a preset.

    Raises:
        PanelError: the preset is unknown.
    """
    found = PRESETS.get(name)
    if found is None:
        raise PanelError(f"there is no preset {name!r}{did_you_mean(name, PRESETS)}; presets are {', '.join(PRESETS)}")
    return found

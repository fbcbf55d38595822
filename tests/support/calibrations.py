"""Calibrations made by hand, of the panel that they are put into."""

from collections.abc import Mapping
from typing import Any

from jury_debate import PROMPTS_VERSION, PanelSpec, panel_digest, prompts_digest, resolve
from jury_events import (
    Calibration,
    DawidSkeneSignal,
    IsotonicSignal,
    ProbabilitySignal,
    SeatConfusion,
    ShareSignal,
    WeightedInput,
    WeightsSignal,
)

SHARE = ShareSignal()
PROBABILITY = ProbabilitySignal()
ISOTONIC = IsotonicSignal(shares=(1 / 3, 2 / 3, 1.0), chances=(0.5, 0.8, 0.95))
WEIGHTS = WeightsSignal(
    labels=("safe_pass", "unsafe_fail"),
    verdicts=3,
    intercepts=(0.0, -0.5),
    inputs=(
        WeightedInput(input="vote", seat="gpt", verdict="unsafe_fail", weights=(0.0, 2.0)),
        WeightedInput(input="confidence", seat="claude", verdict="unsafe_fail", weights=(0.0, 1.0)),
        WeightedInput(input="score", seat="gemini", verdict=None, weights=(1.0, 0.0)),
    ),
)
DAWID_SKENE = DawidSkeneSignal(
    verdicts=("safe_pass", "needs_review", "unsafe_fail"),
    prior=(0.6, 0.0, 0.4),
    seats=tuple(
        SeatConfusion(seat=seat, chances=((0.9, 0.0, 0.1), (0.0, 1.0, 0.0), (0.2, 0.0, 0.8)))
        for seat in ("gpt", "claude", "gemini")
    ),
)


def a_calibration(**numbers: Any) -> Calibration:
    """On errors at 5 %, by the share of the votes, unless `numbers` say otherwise; of no real panel."""
    return Calibration(
        **{
            "digest": "c0" * 32,
            "panel": "9a" * 32,
            "prompts": "3c" * 32,
            "on": "error",
            "risk": 0.05,
            "confidence": 0.9,
            "signal": SHARE,
            "threshold": 1.0,
            **numbers,
        }
    )


def calibrated(spec: Mapping[str, Any], prompts: int = PROMPTS_VERSION, **numbers: Any) -> dict[str, Any]:
    """The spec of a panel with a calibration of it under these prompts; `numbers` as of `a_calibration`."""
    resolved = resolve(PanelSpec.model_validate(spec), prompts=prompts)
    calibration = a_calibration(
        panel=panel_digest(resolved.panel),
        prompts=prompts_digest(resolved.role_prompts, resolved.judge_prompt, resolved.prompts),
        **numbers,
    )
    return {**spec, "final": {**spec.get("final", {}), "calibration": calibration}}

"""Whether a calibration belongs to a panel: what votes must be what voted when it was certified."""

from collections.abc import Mapping
from hashlib import sha256

from jury_events.calibration import Calibration
from jury_events.canonical import canonical_json
from jury_events.panel import Panel


def panel_digest(panel: Panel) -> str:
    """64 hexadecimal digits of a panel's identity, without its name and its calibration.

    Without its early stop and what becomes of seats of the agent's family too, which change no verdict and no
    acceptance; seats that were left out, and reasoning that is not shown, or shown after a first vote, are part of it
    where there are any.
    """
    unset = {name: True for name in ("left_out", "reasoning") if getattr(panel, name) is None}
    fields = panel.without_carriage().model_dump(
        mode="json", exclude={"name": True, "own_family": True, "stop": True, **unset, "final": {"calibration"}}
    )
    return sha256(canonical_json(fields)).hexdigest()


def prompts_digest(role_prompts: Mapping[str, str], judge_prompt: str | None, prompts_version: int) -> str:
    """64 hexadecimal digits of the custom prompts of a panel, and of the version of the others."""
    fields = {"prompts": prompts_version, "role_prompts": dict(role_prompts), "judge_prompt": judge_prompt}
    return sha256(canonical_json(fields)).hexdigest()


def judged_by(panel: Panel, custom: str) -> str:
    """64 hexadecimal digits of all that a panel judges by: its identity, and `custom`, the digest of its prompts."""
    return sha256(f"{panel_digest(panel)}{custom}".encode()).hexdigest()


def mismatch(calibration: Calibration, panel: Panel) -> str | None:
    """Why the calibration is not one of this panel, in words; None where it is. Prompts are not compared."""
    found = panel_digest(panel)
    if found == calibration.panel:
        return None
    return (
        f"it was certified for another panel ({calibration.panel[:16]}, this one is {found[:16]}): seats, models, "
        "rules or settings differ"
    )


def prompts_mismatch(calibration: Calibration, digest: str) -> str | None:
    """Why the calibration is not one of these prompts (`prompts_digest`), in words; None where it is."""
    return None if digest == calibration.prompts else "it was certified under other prompts"

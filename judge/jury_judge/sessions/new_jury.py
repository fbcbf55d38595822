"""The actors of a panel for a person: who receives the cases is said, and what is odd about the panel."""

import os
from typing import Any

from jury_judge.panels.files import LoadedPanel, recipient_lines, same_model_warnings
from jury_judge.runs.panel_actors import PanelActors
from jury_judge.settings.judging import RuntimeSettings
from jury_judge.stores.stores import Say
from jury_providers.registry import SIMULATED


def announced_actors(
    loaded: LoadedPanel, store_url: str, say: Say, *, runtime: RuntimeSettings, **options: Any
) -> PanelActors:
    """The actors; notes who receives the cases, and warnings about the panel's models.

    Args:
        runtime: where debates run. On a cluster calls are made on its machines, whose environment has the base URLs.
        options: see `PanelActors`.
    """
    if not is_simulated(loaded):
        for line in recipient_lines(loaded, None if runtime.ray_address else os.environ):
            say(line)
    if loaded.signed_by is not None:
        say(f"the calibration is signed by {loaded.signed_by}")
    actors = PanelActors(loaded, store_url, runtime=runtime, **options)
    for warning in same_model_warnings(loaded):
        say(f"warning: {warning}")
    return actors


def is_simulated(loaded: LoadedPanel) -> bool:
    """Whether no model is called: every juror is simulated."""
    return all(model.startswith(f"{SIMULATED}/") for model in loaded.models)

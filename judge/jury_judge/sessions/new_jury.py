"""A Jury that says who receives the cases, and what is odd about its panel."""

import os
from typing import Any

from jury_judge.jury import Jury
from jury_judge.panels.files import LoadedPanel, recipient_lines, same_model_warnings
from jury_judge.runs.observation import Observation
from jury_judge.settings.judging import RuntimeSettings
from jury_judge.stores.stores import Say
from jury_providers.registry import SIMULATED


def new_jury(
    loaded: LoadedPanel, store_url: str, runtime: RuntimeSettings, observation: Observation, say: Say, **options: Any
) -> Jury:
    """The Jury; notes who receives the cases, and warnings about the panel's models.

    Args:
        runtime: where debates run. On a cluster calls are made on its machines, whose environment has the base URLs.
        observation: see `Jury`.
        options: see `Jury`.
    """
    if not is_simulated(loaded):
        for line in recipient_lines(loaded, None if runtime.ray_address else os.environ):
            say(line)
    if loaded.signed_by is not None:
        say(f"the calibration is signed by {loaded.signed_by}")
    jury = Jury(loaded, store=store_url, runtime=runtime, observation=observation, **options)
    for warning in same_model_warnings(loaded):
        say(f"warning: {warning}")
    return jury


def is_simulated(loaded: LoadedPanel) -> bool:
    """Whether no model is called: every juror is simulated."""
    return all(model.startswith(f"{SIMULATED}/") for model in loaded.models)

"""What a baseline of drift checks would find, how long its draws last, and what it costs; nothing is called."""

import os
from collections.abc import Mapping
from typing import NamedTuple

from jury_analysis.drift_plan import DriftPlan, plan
from jury_judge.errors import SettingsRefused
from jury_judge.runs.estimated_run import estimate_run
from jury_judge.runs.plan import Cases, RunPlan, loaded_panel
from jury_judge.settings.drift import DriftPlanSettings

_ANCHORS = 100


class PlannedDrift(NamedTuple):
    """A plan and its price: `cost` in US dollars for one judging of an anchor, None where a model has no price."""

    plan: DriftPlan
    cost: float | None
    priced_by: str


def plan_drift(
    asked: DriftPlanSettings, cases: Cases | None = None, environ: Mapping[str, str] | None = None
) -> PlannedDrift:
    """The plan.

    Args:
        asked: how many anchors, draws and judgings.
        cases: the anchors; None: the bundled case stands for each.
        environ: where settings are read; None is `os.environ`.

    Raises:
        CaseFileError: a case cannot be read.
        PanelFileError: the panel cannot be used.
        SettingsRefused: a check would judge more anchors than there are.
    """
    surroundings = os.environ if environ is None else environ
    settings = asked.run
    if cases is None:
        planned = RunPlan.of_example(settings, "plan", surroundings)
    else:
        planned = RunPlan(cases, settings, loaded=loaded_panel(settings, surroundings), environ=surroundings)
    found = estimate_run(planned).found
    anchors = asked.anchors or (_ANCHORS if cases is None else found.debates)
    if asked.pairs is not None and asked.pairs > anchors:
        raise SettingsRefused(f"{{pairs}}: a check judges no anchor twice, so at most all {anchors}")
    made = plan(
        anchors,
        asked.draws,
        pairs=asked.pairs,
        used=2 if asked.balanced else 1,
        further=asked.replenish,
        alpha=asked.alpha,
    )
    cost = None if found.cost is None or not found.debates else found.cost.likely / found.debates
    return PlannedDrift(made, cost, "by the bundled case" if cases is None else "by these cases")

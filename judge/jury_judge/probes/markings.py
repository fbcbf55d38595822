"""The panels of the probe `marking`: the same one, with judged text marked in either way."""

from jury_debate.panel_spec import ResolvedPanel
from jury_debate.prompts_v2 import prompts as prompts_v2
from jury_events.errors import SettingError
from jury_events.panel import Marking, Panel

_OTHER: dict[Marking, Marking] = {"lines": "words", "words": "lines"}


def comparable_marking(resolved: ResolvedPanel) -> ResolvedPanel:
    """The panel under prompts that mark in either way: prompts 2, where it would open earlier ones.

    What it marks is then written out. So a run that was begun without it, under prompts 1, is another panel's.

    Raises:
        SettingError: the panel has a calibration, which was certified for one marking.
    """
    if resolved.panel.final.calibration is not None:
        raise SettingError(
            "--probe marking: the panel's calibration was certified for one marking; leave final.calibration out"
        )
    if resolved.prompts >= prompts_v2.VERSION:
        return resolved
    marking = resolved.panel.marking or "lines"
    return resolved._replace(panel=resolved.panel.changed(marking=marking), prompts=prompts_v2.VERSION)


def other_marking(resolved: ResolvedPanel) -> ResolvedPanel:
    """The panel with the other marking; it has prompts that mark in either way."""
    marking = _OTHER[marking_of(resolved.panel, resolved.prompts)]
    return resolved._replace(panel=resolved.panel.changed(marking=marking))


def marking_of(panel: Panel, prompts: int) -> Marking:
    """How judged text is marked in the panel's debates under a version of the prompts."""
    return panel.marking or ("lines" if prompts >= prompts_v2.VERSION else "words")

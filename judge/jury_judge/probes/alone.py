"""The panel of the probe `reflection`: each seat is asked again, and is not shown its peers."""

from jury_debate.panel_spec import ResolvedPanel
from jury_events.case import Case
from jury_events.errors import SettingError
from jury_judge.probes.twin import Altered


def same_case(case: Case) -> Altered:
    """The case itself: what differs is what jurors are shown of each other."""
    return Altered(case)


def asked_alone(resolved: ResolvedPanel) -> ResolvedPanel:
    """The panel whose rounds show a seat its own evaluation and no other.

    Raises:
        SettingError: it has no discussion, or a calibration, which was certified for one.
    """
    panel = resolved.panel
    if len(panel.seats) == 1 or not panel.discussion.max_rounds:
        raise SettingError("--probe reflection: the panel has no discussion, whose control this is")
    if panel.final.calibration is not None:
        raise SettingError(
            "--probe reflection: the panel's calibration was certified for its discussion; leave final.calibration out"
        )
    return resolved._replace(panel=panel.changed(discussion=panel.discussion.changed(history="none")))

"""The panels of the probe `marking`: the same one, with judged text marked in either way."""

from jury_debate.panel_spec import ResolvedPanel
from jury_events.errors import SettingError
from jury_events.panel import Marking

_OTHER: dict[Marking, Marking] = {"lines": "words", "words": "lines"}


def check_comparable(resolved: ResolvedPanel) -> None:
    """Refuse a panel that cannot be asked with another marking."""
    if resolved.panel.final.calibration is not None:
        raise SettingError(
            "--probe marking: the panel's calibration was certified for one marking; leave final.calibration out"
        )


def other_marking(resolved: ResolvedPanel) -> ResolvedPanel:
    """The panel with the other marking."""
    return resolved._replace(panel=resolved.panel.changed(marking=_OTHER[resolved.panel.marking]))

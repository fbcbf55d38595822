"""The panel of the twins of `speakers`: the same seats in reverse order."""

from jury_debate.panel_spec import ResolvedPanel
from jury_events.errors import SettingError
from jury_events.panel import Panel


def reversed_seats(resolved: ResolvedPanel) -> ResolvedPanel:
    """The panel with its seats, and the order in which they speak, reversed."""
    panel = resolved.panel
    rules = panel.discussion
    if len(panel.seats) == 1 or not rules.max_rounds:
        raise SettingError("--probe speakers: the panel has no discussion, so no seat speaks before another")
    if rules.speakers.kind == "seeded":
        raise SettingError(
            "--probe speakers: the panel draws the order of its speakers; use fixed or rotating speakers for this probe"
        )
    speakers = rules.speakers.changed(base=rules.speakers.base[::-1])
    changed = panel.changed(seats=panel.seats[::-1], discussion=rules.changed(speakers=speakers))
    return resolved._replace(panel=changed)


def first_speaker(panel: Panel) -> str:
    """Whose words the others are shown first: the first speaker of a sequential discussion, else the first seat."""
    rules = panel.discussion
    return rules.speakers.base[0] if rules.order == "sequential" else panel.juror_ids[0]

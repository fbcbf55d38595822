"""Which panels can stop early: those of which a seat can be left out while nothing that is decided changes."""

from jury_debate.errors import PanelError
from jury_debate.rules_registry import newest_rules
from jury_events.panel import Panel


def check_stop(panel: Panel) -> None:
    """Refuse `stop: settled` in a panel where it can never apply.

    Args:
        panel: with a stop rule.

    Raises:
        PanelError: it cannot, with the reason.
    """
    if (why := _never(panel)) is not None:
        raise PanelError(f"stop: settled can never apply: {why}; or leave stop out")


def _never(panel: Panel) -> str | None:
    assert panel.stop is not None
    if panel.discussion.max_rounds:
        return "in rounds every seat speaks; write discussion: {max_rounds: 0}"
    if panel.final.judge is not None:
        return "a final judge reads every seat; write final: {method: majority_vote}"
    if panel.final.method == "median" and any(one.critical for one in panel.rubric.dimensions):
        return (
            "which points count for a critical criterion under a median is known at the end only; write another method"
        )
    if newest_rules().asked_first(panel) >= len(panel.seats):
        return (
            f"no answers of fewer than all {len(panel.seats)} seats settle a case; add seats, or change their weights"
        )
    return None

"""Which panels can stop early: those of which a seat can be left out while nothing that is decided changes."""

from jury_debate import prompts_v1
from jury_debate.errors import PanelError
from jury_debate.rules_registry import rules_for
from jury_events.panel import Panel


def check_stop(panel: Panel, prompts: int) -> None:
    """Refuse `stop: settled` in a panel where it can never apply.

    Args:
        panel: with a stop rule.
        prompts: the version with which its debates open.

    Raises:
        PanelError: it cannot, with the reason.
    """
    if (why := _never(panel, prompts)) is not None:
        raise PanelError(f"stop: settled can never apply: {why}; or leave stop out")


def _never(panel: Panel, prompts: int) -> str | None:
    assert panel.stop is not None
    if prompts == prompts_v1.VERSION:
        return "under prompts 1 every seat is asked; choose prompts 2"
    if panel.discussion.max_rounds:
        return "in rounds every seat speaks; write discussion: {max_rounds: 0}"
    if panel.final.judge is not None:
        return "a final judge reads every seat; write final: {method: majority_vote}"
    if panel.final.method == "median" and any(one.critical for one in panel.rubric.dimensions):
        return (
            "which points count for a critical criterion under a median is known at the end only; write another method"
        )
    if rules_for(prompts).asked_first(panel) >= len(panel.seats):
        return (
            f"no answers of fewer than all {len(panel.seats)} seats settle a case; add seats, or change their weights"
        )
    return None

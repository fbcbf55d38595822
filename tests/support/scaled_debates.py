"""Debates in the words of scales of the panel's own."""

from typing import Any

from jury_events import Step
from support.debate_harness import SEATS, Answer, DebateHarness, Says, a_case, a_panel
from support.scales import ANSWERS, LEVELS


def a_scaled_debate(*rounds: tuple[Says, ...], **spec: Any) -> DebateHarness:
    """Each seat says one of each tuple, round after round; the words are those of `spec`."""

    def says(step: Step, _call: Any) -> Answer:
        said = rounds[min(step.round or 0, len(rounds) - 1)]
        return said[-1 if step.juror_id is None else SEATS.index(step.juror_id)]

    preset: dict[str, Any] = {} if len(rounds) > 1 else {"preset": "independent"}
    settings = {"language": "en", "final": {"method": "majority_vote"}, **preset, **spec}
    return DebateHarness(a_panel(**settings), says, case=a_case(scenarios=2)).run()


def a_right_answer() -> DebateHarness:
    """Two seats of three say `right`: so does the panel."""
    return a_scaled_debate((Says("right", 90.0), Says("right", 80.0), Says("partial", 60.0)), **ANSWERS)


def an_answer_without_facts() -> DebateHarness:
    """All say `right` and give the critical criterion too few points: the outcome is review."""
    return a_scaled_debate((Says("right", 40.0),) * 3, **ANSWERS)


def a_moved_answer() -> DebateHarness:
    """In round 1 a seat moves from `partial` to `right`."""
    first = (Says("right", 90.0), Says("wrong", 10.0), Says("partial", 60.0))
    return a_scaled_debate(first, (Says("right", 90.0), Says("wrong", 10.0), Says("right", 80.0)), **ANSWERS)


def mixed_levels() -> DebateHarness:
    """5, 4 and 2 of five levels: two pass, and no label has more than half."""
    return a_scaled_debate((Says("5"), Says("4"), Says("2")), **LEVELS)

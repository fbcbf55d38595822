"""How often the part of a prompt that ends with the case is likely to be sent again: by the seat, and by its peers.

A provider keeps the beginning of a prompt for calls of the same model that begin with the same text. Seats of one model
share it, and so do the rounds of a seat, where the same tools are offered.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import NamedTuple

from jury_debate.assignment import Assignment
from jury_events.ids import Step
from jury_events.panel import FinalJudge, Panel, Seat


class PromptStart(NamedTuple):
    """Calls with an equal one begin with the same text, as far as the provider's cache is concerned."""

    model: str
    images: bool
    effort: str | None
    thinking: str | int | None
    tools: str = "none"
    reading: str = ""


class RoundsSeen:
    """How many rounds the debates took that ended so far."""

    def __init__(self) -> None:
        self._debates: Counter[int] = Counter()

    def add(self, rounds: int) -> None:
        """A debate ended after so many rounds."""
        self._debates[rounds] += 1

    def further(self, reached: int) -> float:
        """The mean number of rounds after `reached`, of the debates that came so far.

        One more debate with one further round is assumed, so that the first debates of a run may show what caches save.
        """
        came = {rounds: count for rounds, count in self._debates.items() if rounds >= reached}
        return (1 + sum((rounds - reached) * count for rounds, count in came.items())) / (1 + sum(came.values()))


def prompt_start(panel: Panel, assignment: Assignment) -> PromptStart:
    """How the prompts of a step begin."""
    start = start_of(_place(panel, assignment.step))
    reading = assignment.reading
    if reading is not None and reading.mode != "whole":
        # Seats of equal windows read equal parts; rounds show other things behind the outline.
        start = start._replace(reading=f"{reading.mode} {reading.room} {reading.windows}")
    if not assignment.tools:
        return start
    return start._replace(tools="records" if assignment.opinions is None else "records and opinions")


def further_calls(panel: Panel, assignment: Assignment, waiting: Sequence[str], seen: RoundsSeen) -> float:
    """The number of calls that are expected after this one and begin as it does.

    Args:
        waiting: the seats that are asked in this round once this call has begun to be answered.
    """
    step = assignment.step
    if step.juror_id is None or step.round is None:
        return 0.0
    asked = _start(panel.seat(step.juror_id))
    now = sum(_start(panel.seat(juror)) == asked for juror in waiting)
    if assignment.tools:
        # The model reads records first and answers then: the same prompt twice. Tools differ in the first round.
        now += 1
    if assignment.reading is not None and assignment.reading.mode == "windows":
        # Its own parts differ, and later rounds do not show them.
        return float(now)
    judge = panel.final.judge
    judged = judge is not None and not assignment.tools and _start(judge) == asked
    sharing = list(map(_start, panel.seats)).count(asked)
    if panel.reasoning == "after" and not step.round and not step.reasoning:
        now += sharing
    if assignment.tools and not step.round:
        return float(now)
    return now + _further_rounds(panel, step.round, seen) * sharing + judged


def calls_beside(panel: Panel, step: Step) -> int:
    """The number of calls of other seats that are due together with this step and begin as its call does."""
    if step.juror_id is None or step.round is None or (step.round and panel.discussion.order != "parallel"):
        return 0
    return list(map(_start, panel.seats)).count(_start(panel.seat(step.juror_id))) - 1


def _further_rounds(panel: Panel, reached: int, seen: RoundsSeen) -> float:
    discussion = panel.discussion
    most = discussion.max_rounds - reached
    if not discussion.end_early:
        return most
    certain = min(most, 1) if discussion.always_discuss and not reached else 0
    return min(most, max(certain, seen.further(reached)))


def _place(panel: Panel, step: Step) -> Seat | FinalJudge:
    if step.juror_id is not None:
        return panel.seat(step.juror_id)
    assert panel.final.judge is not None
    return panel.final.judge


def start_of(place: Seat | FinalJudge) -> PromptStart:
    """How the prompts of a place begin where no tools are offered."""
    return PromptStart(*_start(place))


_start: Callable[[Seat | FinalJudge], tuple[str, bool, str | None, str | int | None]] = attrgetter(
    "model", "images", "settings.effort", "settings.thinking"
)
"""The first members of a `PromptStart`; compared by themselves, as that is done for every seat in every step."""

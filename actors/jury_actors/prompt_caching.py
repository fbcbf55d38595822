"""What the steps of one debate ask providers to keep of their prompts, and which steps wait for another's answer."""

import math
from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple

from jury_debate.assignment import Assignment
from jury_debate.shared_prompts import PromptStart, RoundsSeen, calls_beside, further_calls, prompt_start
from jury_debate.state import DebateState
from jury_events.panel import Panel
from jury_events.parts import PartRef
from jury_providers.caching import CachePolicy
from jury_providers.provider import Caching, estimated_tokens


class PlannedStep(NamedTuple):
    """A step to request.

    `caching`: as of `StepRequest`; `awaited`: other steps wait until it begins to be answered; `waits_for`: the id of
    the step that it waits for.
    """

    assignment: Assignment
    caching: tuple[Caching, ...] = ()
    awaited: bool = False
    waits_for: str | None = None


class PromptCaching:
    """Plans the steps of one debate.

    Args:
        size: the bytes of a text.
    """

    def __init__(self, policy: CachePolicy, seen: RoundsSeen, size: Callable[[PartRef], int]) -> None:
        self._policy = policy
        self._seen = seen
        self._size = size
        self._kept: set[PromptStart] = set()

    def plan(self, state: DebateState, assignments: Sequence[Assignment], on: date) -> list[PlannedStep]:
        """How steps are requested that are due together, in their order."""
        groups: dict[PromptStart, list[Assignment]] = {}
        for assignment in assignments:
            groups.setdefault(prompt_start(state.panel, assignment), []).append(assignment)
        planned = [step for start, group in groups.items() for step in self._plan_group(state, start, group, on)]
        order = {assignment.step: index for index, assignment in enumerate(assignments)}
        return sorted(planned, key=lambda one: order[one.assignment.step])

    def in_batch(self, panel: Panel, assignment: Assignment, on: date) -> tuple[Caching, ...]:
        """What the calls of a step in a batch ask for, by what is recorded alone.

        Calls of the same batch may read what they write; those of the next wave come when that is gone.
        """
        beside = calls_beside(panel, assignment.step) if _shares(assignment) else 0
        primary, *fallbacks = assignment.models
        further = ((primary, beside), *((one, 0) for one in fallbacks))
        return tuple(self._policy.choose(model, assignment.settings, calls, on) for model, calls in further)

    def _plan_group(
        self, state: DebateState, start: PromptStart, group: Sequence[Assignment], on: date
    ) -> list[PlannedStep]:
        """Steps whose prompts begin alike: one is asked first, where the others save by reading what it wrote."""
        first, *others = group
        waited_for = (
            bool(others)
            and start not in self._kept
            and self._policy.worth_waiting(start.model, first.settings, self._shared_tokens(first), on)
        )
        waiting = [one.step.juror_id or "" for one in others] if waited_for else _later_speakers(state, first)
        steps = [PlannedStep(first, self._caching(state, start, first, waiting, on), awaited=waited_for)]
        for other in others:
            caching = self._caching(state, start, other, (), on)
            steps.append(PlannedStep(other, caching, waits_for=first.step.id if waited_for else None))
        return steps

    def _caching(
        self, state: DebateState, start: PromptStart, assignment: Assignment, waiting: Sequence[str], on: date
    ) -> tuple[Caching, ...]:
        primary, *fallbacks = assignment.models
        settings = assignment.settings
        further = further_calls(state.panel, assignment, waiting, self._seen)
        # What is kept already is read by this call.
        chosen = self._policy.choose(primary, settings, math.inf if start in self._kept else further, on)
        if chosen != "none":
            self._kept.add(start)
        return (chosen, *[self._policy.choose(one, settings, 0, on) for one in fallbacks])

    def _shared_tokens(self, assignment: Assignment) -> int:
        parts = [part for message in assignment.messages for part in message.parts[: message.shared]]
        size = sum(map(self._size, parts))
        reading = assignment.reading
        if reading is not None and reading.mode == "windows":
            # Behind what all of its calls show, each shows a part of the record before the seat.
            size += max(sum(map(self._size, reading.case[first:behind])) for first, behind in reading.windows)
        return estimated_tokens(size)


def _later_speakers(state: DebateState, assignment: Assignment) -> Sequence[str]:
    """In a sequential round, the seats that speak after this one."""
    if not state.round or state.panel.discussion.order == "parallel" or assignment.step.juror_id is None:
        return ()
    return [juror for juror in state.waiting if juror != assignment.step.juror_id]


def _shares(assignment: Assignment) -> bool:
    return any(message.shared for message in assignment.messages)

"""How a session of a run ended."""

from typing import Literal, NamedTuple

from jury_actors.admission.budget import BUDGET, BUDGET_LOST
from jury_actors.errors import Halted
from jury_actors.messages import Finished
from jury_cases.omissions import UnreadableRows
from jury_judge.runs.spending import Spending

StopCause = Literal["budget", "budget_lost", "other"]


def stop_cause(finished: Finished) -> StopCause:
    """Why a debate could not go on: the budget is used up, its process was lost, or other."""
    problem = finished.problem
    if isinstance(problem, Halted) and problem.about in {BUDGET, BUDGET_LOST}:
        return "budget" if problem.about == BUDGET else "budget_lost"
    return "other"


class RunOutcome(NamedTuple):
    """How a session of a run ended.

    Attributes:
        interrupted: by a signal.
        problems: debates that could not go on.
        total: how many cases the run has; None if they were not all read.
        before: debates that ended in earlier sessions.
        now: debates that ended in this one.
        seconds: how long it took.
        spent: in this session; None if the store could not be read, or another process executes the run.
        run_spent: in all sessions of the run; None if the store could not be read.
        short: what is left, in words, if the budget did not cover it.
        bounds: of the budget, in words; None: there is none.
        cancelled_by: who cancelled the run meanwhile.
        unreadable: rows, traces and files that were left out, since they cannot be read; None if it is not known.
        waiting: what is in open batches, in words; None: nothing is.
        lines: how many results were given; a run has one for each of its debates, of a ladder for each of its cases.
        lost: why another process that executed the run did not come to its end, in words.
        failed: by model, how the calls failed of debates that could not go on, and what the provider said.
    """

    interrupted: bool
    problems: list[Finished]
    total: int | None
    before: int = 0
    now: int = 0
    seconds: float = 0.0
    spent: Spending | None = None
    run_spent: Spending | None = None
    short: str | None = None
    bounds: str | None = None
    cancelled_by: str | None = None
    unreadable: UnreadableRows | None = None
    waiting: str | None = None
    lines: int = 0
    lost: str | None = None
    failed: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether the run came to its end: every debate has its result, and nothing is left to do or to wait for.

        Decided here for every door, and whatever the reason is: a reason that none of the other fields has is none for
        taking a part of a run for all of it.
        """
        stopped = self.interrupted or self.problems or self.short or self.waiting
        return not stopped and self.total is not None and self.lines >= self.total

    @property
    def left_out(self) -> tuple[str, ...]:
        """`unreadable` as lines for people; empty if everything was read."""
        return () if self.unreadable is None else tuple(self.unreadable.lines())

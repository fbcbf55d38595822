"""Baselines and checks judged in one call, as `jury drift` does."""

import asyncio
import logging
from collections.abc import Callable

from jury_events.drift_facts import DriftCheck, DriftFacts
from jury_judge.drift.baseline import DriftBaseline
from jury_judge.drift.check import DriftCheckRun
from jury_judge.runs.execution import Line
from jury_judge.runs.executor import judge_run
from jury_judge.runs.plan import ListedCases, RunPlan
from jury_judge.runs.run_watch import RunOutcome
from jury_judge.stores.stores import Say

_log = logging.getLogger(__name__)


async def judge_baseline(
    baseline: DriftBaseline,
    take: Callable[[Line], None] = lambda _line: None,
    *,
    stopping: asyncio.Event | None = None,
    say: Say = _log.warning,
) -> DriftFacts:
    """Judge the draws of a baseline that are due; the same again goes on with it.

    Args:
        baseline: the anchors.
        take: called with the result line of every debate.
        stopping: once set, no new debate begins; those that run are finished.
        say: takes lines for the user.

    Returns:
        The baseline; `complete` where every draw is judged.

    Raises:
        SettingsRefused, CaseFileError, DebateNotFound: as of `DriftBaseline.open`.
        RunRefused, StoreLocked, KeyMissing: as of `judge_run`.
    """
    facts = await asyncio.to_thread(baseline.open)
    while (planned := await asyncio.to_thread(baseline.session, facts)) is not None:
        outcome = await _judged(planned, take, stopping, say)
        if not outcome.whole:
            return facts
        facts = await asyncio.to_thread(baseline.record, facts)
    return facts


async def judge_check(
    check: DriftCheckRun,
    take: Callable[[Line], None] = lambda _line: None,
    *,
    stopping: asyncio.Event | None = None,
    say: Say = _log.warning,
) -> DriftCheck:
    """Judge anchors again, and decide; the same again goes on with the same pairs.

    Args:
        check: the baseline, and how its anchors are judged.
        take: called with the result line of every debate.
        stopping: once set, no new debate begins; those that run are finished.
        say: takes lines for the user.

    Returns:
        The check; `is_open` where it did not come to its end.

    Raises:
        DebateNotFound, RunRefused, SettingsRefused: as of `DriftCheckRun.begin`.
        StoreLocked, KeyMissing: as of `judge_run`.
    """
    facts = await asyncio.to_thread(check.begin)
    planned = await asyncio.to_thread(check.plan, facts)
    outcome = await _judged(planned, take, stopping, say)
    if not outcome.whole:
        return facts.checks[-1]
    return await asyncio.to_thread(check.end)


async def _judged(
    planned: RunPlan, take: Callable[[Line], None], stopping: asyncio.Event | None, say: Say
) -> RunOutcome:
    try:
        return await judge_run(planned, take, stopping=stopping, say=say)
    finally:
        if isinstance(planned.cases, ListedCases):
            planned.cases.close()

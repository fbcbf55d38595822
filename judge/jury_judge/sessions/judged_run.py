"""A run judged in one call, as `jury run` does it."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import ExitStack, aclosing

from jury_judge.runs.run_lines import Line
from jury_judge.runs.run_progress import ProgressListener
from jury_judge.sessions.planned_run import PlannedRun
from jury_judge.sessions.prepared_run import prepared_run
from jury_judge.sessions.run_session import RunOutcome
from jury_judge.stores.stores import Say

_log = logging.getLogger(__name__)


async def judge_run(
    planned: PlannedRun,
    take: Callable[[Line], None],
    *,
    progress: ProgressListener | None = None,
    stopping: asyncio.Event | None = None,
    say: Say = _log.warning,
) -> RunOutcome:
    """Judge what is left of a run, within its budget over all its sessions; the same again resumes it.

    Args:
        planned: the run.
        take: called with the result line of every debate, in the order of the cases.
        progress: called for what happens.
        stopping: once set, no new debate begins; those that run are finished.
        say: takes lines for the user: where debates run, who receives the cases, a juror died …

    Raises:
        RunRefused, CaseFileError, StoreLocked, KeyMissing, SettingError: see `prepared_run` and `PreparedRun.session`.
    """
    with ExitStack() as stack:
        ready = await asyncio.to_thread(stack.enter_context, prepared_run(planned, say))
        session = await asyncio.to_thread(ready.session, progress)
        lines = 0
        async with aclosing(session.execute(stopping)) as judged:
            async for line in judged:
                lines += 1
                take(line)
        interrupted = stopping is not None and stopping.is_set()
        return await asyncio.to_thread(session.outcome, interrupted=interrupted, lines=lines)

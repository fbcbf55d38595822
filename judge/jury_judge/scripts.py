"""Judging from a script or a notebook: one call, without `async`, that returns when all is judged."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from os import PathLike
from typing import Any, TypeVar, overload

from jury_cases.case_inputs import CaseInput, given_case
from jury_events.case import Case
from jury_judge.jury import Jury
from jury_judge.panels.ladders import AnyPanel
from jury_views.result_models import DebateResult

T = TypeVar("T")
Cases = Iterable[CaseInput] | str | PathLike[str]


@overload
def judge(cases: Case | Mapping[str, Any], panel: AnyPanel | None = ..., **options: Any) -> DebateResult: ...


@overload
def judge(
    cases: None = None, panel: AnyPanel | None = ..., *, question: str, response: str, **options: Any
) -> DebateResult: ...


@overload
def judge(cases: Cases, panel: AnyPanel | None = ..., **options: Any) -> list[DebateResult]: ...


def judge(
    cases: CaseInput | Cases | None = None,
    panel: AnyPanel | None = None,
    *,
    question: str | None = None,
    response: str | None = None,
    run_id: str | None = None,
    **options: Any,
) -> DebateResult | list[DebateResult]:
    """Judge one case, or many, and wait for it; also where an event loop runs already, as in a notebook.

    ```python
    result = jury_judge.judge(question="Refund order 17.", response="Refunded.", panel="current")
    results = jury_judge.judge("cases.jsonl", panel="panel.yaml", run_id="first")
    ```

    Args:
        cases: a case, or a row as in a case file; or many of them, or the path of a case file.
        panel: as of `Jury`; None: simulated jurors.
        question: what the agent was asked, where no case is given.
        response: what it answered.
        run_id: names the run; the same call goes on with it. None: a new run, and of one case no run.
        options: as of `Jury`: `store`, `overrides`, `budget`, …

    Returns:
        The result, or a list of results in the order of the cases.

    Raises:
        SettingError: neither a case nor a question with its response was given, or both.
        JuryError: as of `Jury.evaluate` and `Jury.evaluate_many`.
    """
    given: Any = given_case(cases, question, response)

    async def judged() -> DebateResult | list[DebateResult]:
        async with Jury(panel, **options) as jury:
            if isinstance(given, Case | Mapping):
                return await jury.evaluate(given, run_id=run_id)
            return [one async for one in jury.evaluate_many(given, run_id=run_id)]

    return _in_a_thread(judged)


def _in_a_thread(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """The result of a coroutine, in an event loop of its own; Ctrl-C ends it, what is recorded stays."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(work())
    with ThreadPoolExecutor(1, "jury-judge") as thread:
        running = thread.submit(loop.run_until_complete, task)
        try:
            return running.result()
        except BaseException:
            if not task.done():
                loop.call_soon_threadsafe(task.cancel)
            raise
        finally:
            thread.submit(loop.close)

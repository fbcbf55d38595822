"""What goes wrong around records: erasures that leave bytes, submissions that stop, reports that end at once."""

import asyncio
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest

import jury_actors
import jury_cases
import jury_debate
import jury_events
import jury_judge
import jury_providers
import jury_replay
import jury_store
from jury_events import JuryError
from jury_judge import Erasure, OtherCase, ReviewRefused, RunReports, RunUnfinished
from jury_judge.reports import run_reports
from jury_judge.serving.submissions import is_passing
from jury_judge.store_access.erasing import erased
from jury_store import (
    EVERY_DEBATE,
    Fenced,
    MemoryEventStore,
    ScrubRefused,
    StoreFailed,
    StoreLocked,
    StoreUnreachable,
    WrongVersion,
)
from support.each_row import each_row
from support.writing import Writing

ORDER = Erasure(debate_id="d", by="dpo", reason="request 17")


class KeepsItsBytes(MemoryEventStore):
    """A database whose user may not rewrite a table, until that is allowed."""

    allowed = False

    def scrub(self, *arguments: float) -> None:
        if not self.allowed:
            raise ScrubRefused("deleted texts stay in the files")
        super().scrub(*arguments)


def test_what_is_left_in_the_files_is_said_and_the_same_call_finishes_it() -> None:
    store = KeepsItsBytes()
    said: list[str] = []
    writing = Writing(store)
    writing.write(*writing.script.whole())
    first = erased(store, ORDER, lambda _plan: True, said.append)
    store.allowed = True
    second = erased(store, ORDER, lambda _plan: True, said.append)

    assert first is not None
    assert second is not None
    assert first.texts > 0 == second.texts
    assert (False, True) == (first.scrubbed, second.scrubbed)
    assert ["jury: deleted texts stay in the files"] == said


PACKAGES = (jury_events, jury_debate, jury_store, jury_replay, jury_providers, jury_actors, jury_cases, jury_judge)
PASSING = {StoreLocked, Fenced, WrongVersion, StoreUnreachable, StoreFailed}
"""What is tried again by itself; every other error, also one that is added later, stops until a person asks again."""


def _unfinished(*problems: Exception) -> RunUnfinished:
    return RunUnfinished("some", {str(number): problem for number, problem in enumerate(problems)})


def errors(of: type[JuryError] = JuryError) -> Iterator[type[JuryError]]:
    yield of
    for one in of.__subclasses__():
        yield from errors(one)


def test_of_every_error_of_the_project_it_is_said_whether_it_passes() -> None:
    for package in PACKAGES:
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            if module.name.endswith(".errors"):
                importlib.import_module(module.name)
    ours = {one for one in errors() if one.__module__.startswith("jury_") and one is not RunUnfinished}

    assert ours >= PASSING
    for one in ours:
        assert any(known in one.__mro__ for known in PASSING) is is_passing(one.__new__(one)), one


@each_row(
    ("problem", "expected"),
    [
        (OSError("no"), False),
        (RuntimeError("a defect"), False),
        (_unfinished(), False),
        (_unfinished(Fenced("a"), StoreFailed("b")), True),
        (_unfinished(Fenced("a"), OtherCase("b")), False),
        (_unfinished(StoreFailed("a"), RuntimeError("b")), False),
    ],
)
def test_a_run_is_tried_again_where_every_debate_of_it_may_go_on(problem: Exception, expected: bool) -> None:
    assert expected is is_passing(problem)


class InlineExecutor:
    """Computes when it is asked, in the thread that asks."""

    def __init__(self, **_options: object) -> None:
        pass

    def submit(self, compute: Callable[[], Any]) -> "Future[Any]":
        future: Future[Any] = Future()
        try:
            future.set_result(compute())
        except ReviewRefused as error:
            future.set_exception(error)
        return future


@pytest.mark.timeout(60)
def test_a_report_that_ends_at_once_blocks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its future is done before anything can wait for it."""
    monkeypatch.setattr(run_reports, "ThreadPoolExecutor", InlineExecutor)
    monkeypatch.setattr(run_reports, "computed_statistics", lambda _store, run_id, **_options: f"of {run_id}")
    store = MemoryEventStore()
    Writing(store).write(*Writing(store).script.whole())
    reports = RunReports(store)

    for _ in range(2):
        with pytest.raises(ReviewRefused, match="no debate has a review yet"):
            asyncio.run(reports.reviewers(EVERY_DEBATE))
        assert "of run" == asyncio.run(reports.statistics("run"))

"""Reports that end before their request has asked to be called back."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

from jury_judge import ReviewRefused, RunReports
from jury_judge.statistics import run_reports
from jury_store import EVERY_DEBATE, MemoryEventStore


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
    monkeypatch.setattr(run_reports, "ThreadPoolExecutor", InlineExecutor)
    reports = RunReports(MemoryEventStore())

    for _ in range(2):
        with pytest.raises(ReviewRefused, match="no debate has a review yet"):
            asyncio.run(reports.reviewers(EVERY_DEBATE))

"""The first wave of a run waits for the list, or for a full batch; who stops the run meanwhile has nothing sent."""

import asyncio
import threading
from contextlib import closing
from typing import Any

import pytest

from jury_actors import BatchPatience
from jury_events import run_stream
from jury_events.run_facts import RunFacts, run_facts
from jury_judge import RunSupervision
from jury_judge.runs import lister
from jury_judge.runs.lister import CaseLister
from jury_providers import BatchLimits
from jury_store import open_registry, open_store
from support.batch_double import BatchDouble
from support.nights import Night, verdicts
from support.tiers import others_full

DEBATES = 16
"""More than are in flight and listed ahead of them."""


@pytest.fixture(autouse=True)
def listed_one_by_one(night: Night, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lister, "MOST_AHEAD", 1)
    monkeypatch.setattr(lister, "_MOST_OF_PAGE", 1)
    night.count = DEBATES


def the_list(night: Night) -> RunFacts:
    with closing(open_store(night.url, write=False)) as store:
        found = run_facts(store.read_stream(run_stream("night")))
    assert isinstance(found, RunFacts)
    return found


@pytest.mark.parametrize("once", [False, True])
async def test_the_first_batch_is_full_or_the_list_is_complete(
    night: Night, once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    night.account.limits = BatchLimits(4, 50_000_000, True, True, 24, 24)
    uploads = BatchDouble.upload
    first: list[tuple[int, RunFacts]] = []

    async def seen(self: BatchDouble, prepared: Any) -> str | None:
        if not first:
            first.append((prepared.items, the_list(night)))
        return await uploads(self, prepared)

    monkeypatch.setattr(BatchDouble, "upload", seen)
    lines = await night.session(once=once)
    while once and not lines:
        lines = await night.session(once=True)
    ((items, then),) = first

    assert (4, once, once) == (items, then.complete, then.listed == DEBATES)
    assert 1 == len([line for line in night.said if line.startswith("listing the cases: ")])
    assert once == (f"{DEBATES} debates listed" in night.said)
    assert DEBATES == len(verdicts(lines))
    assert [] == night.sent_twice()
    assert {1} == set(night.account.asked.values())


@pytest.mark.parametrize(("once", "cancels"), others_full((False, False), (True, False), (True, True)))
async def test_a_run_that_is_ended_while_it_lists_sends_nothing(
    night: Night, once: bool, cancels: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopping, heard, loop, listed = asyncio.Event(), threading.Event(), asyncio.get_running_loop(), CaseLister.page
    pages: list[int] = []

    def page(self: CaseLister, jobs: Any, *, later: bool) -> Any:
        pages.extend([len(jobs)] * bool(jobs))
        if jobs and len(pages) == 4:
            if cancels:
                with open_registry(night.url).asking_to_cancel("night", "the operator"):
                    assert heard.wait(120)
            else:
                loop.call_soon_threadsafe(stopping.set)
                asyncio.run_coroutine_threadsafe(stopping.wait(), loop).result(120)
        return listed(self, jobs, later=later)

    with monkeypatch.context() as patched:
        patched.setattr(CaseLister, "page", page)
        supervision = RunSupervision(night.url, "night", every=0.01, say=lambda _line: heard.set())
        await night.session(once=once, stopping=None if cancels else stopping, supervision=supervision)
    then = the_list(night)

    assert {} == night.account.batches
    assert (False, True) == (then.complete, 4 <= then.listed < DEBATES)
    if cancels:
        assert "the operator" == then.cancelled_by
        return
    lines = await night.session(patience=BatchPatience(arrival=0.0))
    assert (DEBATES, True, DEBATES) == (len(lines), the_list(night).complete, the_list(night).listed)
    assert [] == night.sent_twice()
    assert {1} == set(night.account.asked.values())

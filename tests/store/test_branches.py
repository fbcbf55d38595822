"""A fork is stored in one transaction, equally on every database, and calls count where they were made."""

import asyncio
from collections.abc import Iterator
from unittest.mock import patch

import pytest

from jury_judge import RunUsage
from jury_judge.runs.recent_calls import RecentEvents
from jury_replay import verify
from jury_store import Appended, EventStore
from support.branches import Branch, a_branch, calls_of, events_of, execute_branch, origin_in, stored
from support.runtime_harness import KeptStore, Run, a_case_with_records

pytestmark = pytest.mark.full_for("postgresql")


def a_prepared_branch() -> Branch:
    elsewhere = KeptStore()
    asyncio.run(Run(elsewhere, case=a_case_with_records).execute())
    return a_branch(origin_in(elsewhere), "round-1/check", debate_id="branch")


def test_a_branch_is_stored_whole_and_counts_no_call_that_it_took_over(store: EventStore) -> None:
    branch = stored(store, a_prepared_branch())

    row = store.debate("branch")
    assert row is not None
    assert ("judging", None, 0) == (row.status, row.run_id, row.calls)
    assert row.simulated
    assert 3 + len(branch.kept) == len(events_of(store, "branch"))
    assert verify(store).ok


def test_a_branch_that_is_stored_again_changes_nothing(store: EventStore) -> None:
    branch = stored(store, a_prepared_branch())
    position = store.last_position()

    answers = store.append(branch.appends(store.next_epoch()))

    assert [3, len(branch.exchanges), len(branch.kept)] == [
        one.repeated for one in answers if isinstance(one, Appended)
    ]
    assert position == store.last_position()


@pytest.fixture
def kept(store: EventStore) -> Iterator[EventStore]:
    """A store that no runtime closes."""
    with patch.object(store, "close"):
        yield store


async def test_a_fork_counts_the_calls_that_it_made_and_its_origins_run_does_not(kept: EventStore) -> None:
    await Run(kept).execute()
    before = RunUsage.total(kept, "run")
    branch = stored(kept, a_branch(origin_in(kept), "round-1/started"))
    copies = len(calls_of(kept, branch.debate_id))
    unmade = kept.debate(branch.debate_id)
    await execute_branch(kept, branch)
    made = kept.debate(branch.debate_id)

    assert unmade is not None
    assert made is not None
    assert copies > 0
    assert (0, 0.0, 0) == (unmade.calls, unmade.cost, unmade.input_tokens)
    assert len(calls_of(kept, branch.debate_id)) - copies == made.calls > 0
    assert before == RunUsage.total(kept, "run")
    assert before.calls + made.calls == kept.totals().calls
    assert not kept.list_faults()


async def test_the_last_minute_of_a_run_has_no_call_of_a_fork(kept: EventStore) -> None:
    await Run(kept).execute()
    at = kept.read_all(limit=10_000)[-1].recorded_at
    recent = RecentEvents(kept, "run")
    before = recent.look(at, 0)
    branch = stored(kept, a_branch(origin_in(kept), "round-1/started", debate_id="run~d0~fork"))
    await execute_branch(kept, branch)

    assert before.calls > 0
    assert before == recent.look(at, 0)
    assert before == RecentEvents(kept, "run").look(at, 0)

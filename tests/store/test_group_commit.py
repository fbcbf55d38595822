"""Group commit: many writers, one transaction at a time."""

import math
import random
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future, wait

import pytest

from jury_store import (
    Append,
    Appended,
    CommitQueue,
    EventStore,
    GroupCommitter,
    MemoryEventStore,
    StoreClosed,
    StoreError,
    StoreFailed,
    WaitingCommit,
    WrongVersion,
    group_commit,
)
from jury_store.group_commit import ENOUGH, MOST_SECONDS, SHARE
from support.debates import DebateScript

pytestmark = pytest.mark.full_for("postgresql")

SECONDS = 300


class GatedStore(MemoryEventStore):
    """Appends wait at a gate; groups are counted; failures can be ordered."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.arrived = threading.Event()
        self.groups: list[int] = []
        self.failures: list[Exception] = []

    def append(self, requests: Sequence[Append]) -> list[Appended | StoreError]:
        self.arrived.set()
        assert self.gate.wait(SECONDS)
        self.groups.append(len(requests))
        if self.failures:
            raise self.failures.pop()
        return super().append(requests)


def _call(name: str, attempt: int = 1, size: int = 2) -> Append:
    script = DebateScript(name, seed=attempt)
    return Append(script.calls, (script.exchange(attempt, answer="x" * size),))


def _all(futures: Collection["Future[list[Appended | StoreError]]"]) -> list[Appended | StoreError]:
    return [answer for future in futures for answer in future.result(SECONDS)]


def test_many_writers_get_their_own_results(store: EventStore) -> None:
    with GroupCommitter(store, max_group=7) as committer:
        answers: dict[str, list[Appended | StoreError]] = {}

        def write(name: str) -> None:
            answers[name] = _all([committer.submit([_call(name, attempt)]) for attempt in range(1, 21)])

        threads = [threading.Thread(target=write, args=(f"d{n}",)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS)

    assert answers == {f"d{n}": [Appended(f"calls/d{n}", v, 0) for v in range(1, 21)] for n in range(6)}
    assert store.last_position() == 120


def test_a_batch_has_one_future_with_its_refusals_among_the_results(store: EventStore) -> None:
    script = DebateScript("d")
    with GroupCommitter(store) as committer:
        answers = committer.submit([_call("d"), Append(script.stream, (script.opened(),), 9, 1), _call("d", 2)]).result(
            SECONDS
        )

    assert [type(answer) for answer in answers] == [Appended, WrongVersion, Appended]


def test_waiting_appends_are_grouped_up_to_the_bound_and_each_gets_its_own_results() -> None:
    store = GatedStore()
    with GroupCommitter(store, max_group=4) as committer:
        futures = [committer.submit([_call("first")])]
        assert store.arrived.wait(SECONDS)
        futures += [committer.submit([_call(f"d{n}")]) for n in range(6)]
        batch = committer.submit([_call(f"e{n}") for n in range(3)])
        last = committer.submit([_call("last")])
        store.gate.set()
        _all(futures)
        found = batch.result(SECONDS), last.result(SECONDS)

    assert store.groups == [1, 4, 2, 4]
    assert ([Appended(f"calls/e{n}", 1, 0) for n in range(3)], [Appended("calls/last", 1, 0)]) == found


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Appends to known streams wait for an hour."""
    monkeypatch.setattr("jury_store.group_commit.SHARE", 1e9)
    monkeypatch.setattr("jury_store.group_commit.MOST_SECONDS", 3600.0)


@pytest.mark.usefixtures("patient")
def test_an_append_that_waits_leaves_with_the_next_one_that_does_not() -> None:
    store = GatedStore()
    store.gate.set()
    with GroupCommitter(store) as committer:
        committer.submit([_call("a")]).result(SECONDS)
        waiting = committer.submit([_call("a", 2)])
        committer.submit([_call("new")]).result(SECONDS)

        assert waiting.result(SECONDS) == [Appended("calls/a", 2, 0)]
        assert store.groups == [1, 2]


@pytest.mark.usefixtures("patient")
def test_closing_waits_for_no_company() -> None:
    store = GatedStore()
    store.gate.set()
    committer = GroupCommitter(store)
    committer.submit([_call("a")]).result(SECONDS)
    waiting = committer.submit([_call("a", 2)])

    committer.close()

    assert waiting.result(0) == [Appended("calls/a", 2, 0)]


def test_a_database_failure_fails_its_group_only() -> None:
    store = GatedStore()
    with GroupCommitter(store) as committer:
        store.failures += [StoreFailed("disk full")] * 2
        doomed = [committer.submit([_call("a")])]
        assert store.arrived.wait(SECONDS)
        doomed += [committer.submit([_call(name)]) for name in "bc"]
        store.gate.set()
        wait(doomed[:2], SECONDS)

        assert committer.submit([_call("a")]).result(SECONDS) == [Appended("calls/a", 1, 0)]
        assert [True] * 3 == [one.done() for one in doomed]
        assert [StoreFailed] * 3 == [type(one.exception()) for one in doomed]
        assert [1, 2, 1] == store.groups


def test_submit_blocks_beyond_the_bound_of_waiting_bytes() -> None:
    store = GatedStore()
    with GroupCommitter(store, max_waiting_bytes=10_000) as committer:
        committer.submit([_call("first")])
        assert store.arrived.wait(SECONDS)
        committer.submit([_call("a", size=5_000)])
        submitted = threading.Event()

        def write() -> None:
            committer.submit([_call("b", size=5_000)])
            submitted.set()

        writer = threading.Thread(target=write)
        writer.start()

        early, groups = submitted.wait(0.2), list(store.groups)
        store.gate.set()
        assert submitted.wait(SECONDS)
        writer.join(SECONDS)

    assert (False, []) == (early, groups)


def test_a_request_larger_than_the_bound_is_stored_alone(store: EventStore) -> None:
    with GroupCommitter(store, max_waiting_bytes=1_000) as committer:
        answers = _all([committer.submit([_call("d", n, size=5_000)]) for n in (1, 2)])

    assert answers == [Appended("calls/d", version, 0) for version in (1, 2)]


def test_closing_stores_waiting_appends_and_refuses_further_ones() -> None:
    store = GatedStore()
    committer = GroupCommitter(store, max_group=2)
    futures = [committer.submit([_call(f"d{n}")]) for n in range(7)]
    store.gate.set()

    committer.close()
    committer.close()

    assert all(future.done() for future in futures)
    assert store.last_position() == 7
    with pytest.raises(StoreClosed):
        committer.submit([_call("late")])


def test_an_append_with_a_cancelled_future_is_stored() -> None:
    store = GatedStore()
    with GroupCommitter(store) as committer:
        committer.submit([_call("first")])
        assert store.arrived.wait(SECONDS)
        assert committer.submit([_call("gone")]).cancel()
        store.gate.set()
        assert committer.submit([_call("last")]).result(SECONDS)

    assert len(store.read_stream("calls/gone")) == 1


def test_the_lists_are_updated_when_nothing_waits(url: str, open_writer: Callable[[str], EventStore]) -> None:
    store, script = open_writer(url), DebateScript("d")

    with GroupCommitter(store) as committer:
        committer.submit([Append(script.stream, script.whole(), 0, 1)]).result(SECONDS)

    assert store.project() == 0
    assert store.debates()[0].status == "completed"


def test_a_failing_projection_fails_no_append(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    store = MemoryEventStore()

    def broken(limit: int = 0) -> int:
        raise StoreFailed(f"no room for {limit}")

    monkeypatch.setattr(store, "project", broken)
    with GroupCommitter(store) as committer:
        committer.submit([_call("a")]).result(SECONDS)
        committer.submit([_call("b")]).result(SECONDS)

    assert "lists of debates and runs were not updated: no room" in caplog.text
    assert store.last_position() == 2


def test_a_failing_search_index_is_reported_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    store, tries = MemoryEventStore(), 0

    def broken(limit: int = 0) -> int:
        nonlocal tries
        tries += 1
        raise StoreFailed(f"no room for {limit}")

    monkeypatch.setattr("jury_store.group_commit.INDEX_EVERY_SECONDS", 0.0)
    monkeypatch.setattr(store, "index_texts", broken)
    with GroupCommitter(store) as committer:
        for name in "abc":
            committer.submit([_call(name)]).result(SECONDS)

    assert tries > 1
    assert 1 == caplog.text.count("WARNING")
    assert 1 == caplog.text.count("the search index was not updated: no room")


COMMIT_SECONDS = 0.001


def _submission(*streams: str) -> WaitingCommit:
    return WaitingCommit([Append(stream, ()) for stream in streams], 10, Future())


def _streams(group: Iterable[WaitingCommit]) -> list[str]:
    return [request.stream for one in group for request in one.requests]


def _queue_after(stored: dict[str, float]) -> CommitQueue:
    """A queue that has committed to these streams at these moments."""
    queue = CommitQueue(256)
    for stream, at in stored.items():
        queue.stored([_submission(stream)], at)
    return queue


def test_the_first_append_of_a_debate_leaves_at_once() -> None:
    queue = _queue_after({"debate/other": 0.0})

    queue.put(_submission("debate/d"), 50.0)

    assert queue.leaves_at == 50.0


def test_an_append_waits_for_a_share_of_its_streams_pause() -> None:
    queue = _queue_after({"debate/d": 10.0})

    queue.put(_submission("debate/d"), 10.32)

    assert queue.leaves_at == pytest.approx(10.32 + 0.32 * SHARE)


def test_no_append_waits_for_longer_than_the_bound() -> None:
    queue = _queue_after({"debate/d": 10.0})

    queue.put(_submission("debate/d"), 3600.0)

    assert queue.leaves_at == pytest.approx(3600.0 + MOST_SECONDS)


def test_the_first_call_of_a_debate_counts_from_its_opening() -> None:
    queue = _queue_after({"debate/d": 10.0})

    queue.put(_submission("calls/d"), 12.0)

    assert queue.leaves_at == pytest.approx(12.0 + MOST_SECONDS)


def test_one_that_need_not_wait_takes_all_along() -> None:
    queue = _queue_after({"calls/d": 10.0})
    queue.put(_submission("calls/d"), 12.0)

    queue.put(_submission("debate/new"), 12.001)

    assert queue.leaves_at <= 12.001
    assert _streams(queue.take()) == ["calls/d", "debate/new"]
    assert queue.take() == []


def test_a_batch_waits_as_long_as_its_most_impatient_stream() -> None:
    queue = _queue_after({"calls/d": 10.0, "calls/e": 11.68})

    queue.put(_submission("calls/d", "calls/e", "debate/new"), 12.0)

    assert queue.leaves_at == pytest.approx(12.0 + 0.32 * SHARE)


def test_enough_requests_leave_at_once() -> None:
    queue = _queue_after({f"calls/{n}": 0.0 for n in range(ENOUGH)})
    for n in range(ENOUGH - 1):
        queue.put(_submission(f"calls/{n}"), 5.0)
    before = queue.leaves_at

    queue.put(_submission(f"calls/{ENOUGH - 1}"), 5.0)

    assert before > 5.0
    assert queue.leaves_at < 5.0


def test_an_appender_that_never_pauses_is_not_held_up() -> None:
    queue, now, waited = CommitQueue(256), 0.0, 0.0
    for _ in range(1000):
        queue.put(_submission("local/import"), now)
        waited += max(0.0, queue.leaves_at - now)
        now = max(now, queue.leaves_at)
        queue.stored(queue.take(), now)
        now += COMMIT_SECONDS

    assert waited <= now * SHARE


def test_answers_that_arrive_apart_share_commits() -> None:
    random_ = random.Random(3)
    arrivals = sorted((random_.random() * 20, f"calls/{n % 64}") for n in range(4000))  # 200 a second
    queue = _queue_after({f"calls/{n}": -1.0 for n in range(64)})
    free, commits, place = 0.0, 0, 0
    arrived: dict[int, float] = {}
    while place < len(arrivals) or queue.leaves_at < math.inf:
        leaves = max(free, queue.leaves_at) if queue.leaves_at < math.inf else None
        if place < len(arrivals) and (leaves is None or arrivals[place][0] <= leaves):
            at, stream = arrivals[place]
            one = _submission(stream)
            arrived[id(one)] = at
            queue.put(one, at)
            place += 1
            continue
        assert leaves is not None
        group = queue.take()
        assert all(leaves - arrived[id(one)] <= MOST_SECONDS + COMMIT_SECONDS for one in group)
        free, commits = leaves + COMMIT_SECONDS, commits + 1
        queue.stored(group, free)

    assert commits < 4000 / 2


def test_a_larger_group_than_allowed_leaves_in_parts() -> None:
    queue = CommitQueue(3)
    for names in (("debate/a", "debate/b"), ("debate/c", "debate/d"), ("debate/e",)):
        queue.put(_submission(*names), 1.0)

    assert _streams(queue.take()) == ["debate/a", "debate/b"]
    assert _streams(queue.take()) == ["debate/c", "debate/d", "debate/e"]
    assert queue.bytes == 0


def test_an_atomic_submission_leaves_alone_and_what_came_after_it_follows_at_once() -> None:
    queue = _queue_after({"calls/d": 10.0, "calls/e": 10.0})
    queue.put(_submission("calls/d"), 12.0)
    queue.put(_submission("run/r", "debate/new")._replace(atomic=True), 12.0)
    queue.put(_submission("calls/e"), 12.0)

    assert _streams(queue.take()) == ["calls/d"]
    assert _streams(queue.take()) == ["run/r", "debate/new"]
    assert queue.leaves_at == 12.0
    assert _streams(queue.take()) == ["calls/e"]


def test_streams_that_were_not_used_for_long_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_commit, "MOST_STREAMS", 2)
    queue = _queue_after({"debate/a": 1.0, "debate/b": 1.0})
    queue.stored([_submission("debate/a")], 2.0)
    queue.stored([_submission("debate/c")], 2.0)

    for name, waits in (("debate/a", True), ("debate/b", False), ("debate/c", True)):
        queue.put(_submission(name), 9.0)
        assert (queue.leaves_at > 9.0) is waits
        queue.take()

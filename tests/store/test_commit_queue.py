"""When waiting appends are committed: computed, without threads or a clock."""

import math
import random
from collections.abc import Iterable
from concurrent.futures import Future

import pytest

from jury_store import Append, CommitQueue, WaitingCommit, group_commit
from jury_store.group_commit import ENOUGH, MOST_SECONDS, SHARE

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

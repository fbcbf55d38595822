"""Reviews are recorded while another process writes to the store: by that process, where the store is SQLite."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from jury_events import Verdict, review_stream
from jury_judge import NewReview, ReviewRecorder
from jury_judge.reviews import review_recorder
from jury_replay import verify
from jury_store import (
    EventStore,
    SqliteLock,
    StoreFailed,
    StoreLocked,
    database_path,
    open_store,
    parse_store_url,
    requests_folder,
)
from support.recorded_reviews import reasons_of, record_review, reviews_of
from support.reviewed import judged_debate
from support.waiting import until

pytestmark = pytest.mark.full_for("postgresql")

PASS, FAIL = Verdict.SAFE_PASS, Verdict.UNSAFE_FAIL


@pytest.fixture
def url(url: str) -> str:
    """A store of each kind with the debates d0 … d9, each of a case of its own."""
    return filled(url)


def filled(url: str) -> str:
    store = open_store(url, write=True)
    for number in range(10):
        judged_debate(store, f"d{number}", seed=number)
    store.close()
    return url


@pytest.fixture
def sqlite(sqlite_url: str) -> str:
    return filled(sqlite_url)


@pytest.fixture
def writer(url: str) -> Iterator[EventStore]:
    """Another writer, as a run is; it appends nothing itself."""
    store = open_store(url, write=True, run="nightly")
    yield store
    store.close()


def folder_of(url: str) -> Path:
    return requests_folder(database_path(parse_store_url(url)))


async def test_reviews_are_recorded_while_another_process_writes(url: str, writer: EventStore) -> None:
    said: list[str] = []
    recorder = ReviewRecorder(url, say=said.append)
    first = await recorder.record("d1", NewReview("ann", PASS, "It asked.", blind=True, minutes=2.5))
    again = await recorder.record("d1", NewReview("ann", PASS, "It asked.", blind=True, minutes=2.5))
    assigned = await recorder.assign("d1", "bob", by="ann")
    await recorder.withdraw("d1", 1, by="ann", reason="The wrong case.")
    second = await recorder.record("d1", NewReview("ann", FAIL))

    assert first == again
    assert ((1, True, 2.5), (2, "bob"), 4) == (
        (first.number, first.blind, first.minutes),
        (assigned.number, assigned.reviewer),
        second.number,
    )
    assert {1: "It asked.", 3: "The wrong case."} == reasons_of(writer, "d1")
    assert [second] == list(reviews_of(writer, "d1").reviews)
    assert verify(writer).ok
    assert not url.startswith("sqlite") or "another process is writing" in said[0]


async def test_many_reviewers_at_once_lose_nothing(url: str, writer: EventStore) -> None:
    people = [f"p{number}" for number in range(12)]
    await asyncio.gather(*(ReviewRecorder(url).record("d1", NewReview(one, PASS)) for one in people))

    assert sorted(people) == sorted(one.reviewer for one in reviews_of(writer, "d1").reviews)
    assert list(range(1, 13)) == [event.version for event in writer.read_stream(review_stream("d1"))]


async def test_a_writer_that_takes_no_requests_is_named_and_the_request_withdrawn(sqlite: str) -> None:
    older = SqliteLock.acquire(database_path(parse_store_url(sqlite)), run="nightly", wait=0)
    try:
        with pytest.raises(StoreLocked, match=r"run nightly.*took no request to record this either"):
            await ReviewRecorder(sqlite, wait=0.2).record("d1", NewReview("ann", PASS))
    finally:
        older.release()
    assert not folder_of(sqlite).exists()


async def test_when_the_writer_ends_the_review_is_recorded_here(sqlite: str) -> None:
    older = SqliteLock.acquire(database_path(parse_store_url(sqlite)), run="nightly", wait=0)
    recording = asyncio.create_task(ReviewRecorder(sqlite, wait=300).record("d1", NewReview("ann", PASS)))
    await until(folder_of(sqlite).exists)
    older.release()
    review = await recording

    assert 1 == review.number
    assert not folder_of(sqlite).exists()


@pytest.mark.parametrize("stored", [True, False])
async def test_where_the_writer_ends_without_an_answer_the_log_says_what_is_recorded(
    sqlite: str, stored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_recorder, "_ANSWERED_WITHIN", 0.2)
    database = database_path(parse_store_url(sqlite))
    lock = SqliteLock.acquire(database, run="nightly", wait=0)
    recorder = ReviewRecorder(sqlite, wait=300, clock=lambda: 17)
    recording = asyncio.create_task(recorder.record("d1", NewReview("ann", PASS)))
    # Written: a file that vanishes before is written again.
    await until(lambda: folder_of(sqlite).exists() and any(path.stat().st_size for path in folder_of(sqlite).iterdir()))
    (path,) = folder_of(sqlite).iterdir()
    path.unlink()  # as a writer that takes it
    if stored:
        lock.release()
        store = open_store(sqlite, write=True)
        store.before_close()
        record_review(store, "d1", NewReview("ann", PASS), clock=lambda: 17)
    try:
        if stored:
            assert 1 == (await recording).number
        else:
            with pytest.raises(StoreFailed, match="look whether it is recorded"):
                await recording
    finally:
        if stored:
            store.close()
        else:
            lock.release()


def test_a_request_names_nothing_but_the_stream_and_its_event(sqlite: str) -> None:
    older = SqliteLock.acquire(database_path(parse_store_url(sqlite)), run="nightly", wait=0)

    async def asked() -> bytes:
        recording = asyncio.create_task(ReviewRecorder(sqlite, wait=300).record("d1", NewReview("ann", PASS)))
        await until(lambda: any(one.read_bytes().endswith(b"\n") for one in folder_of(sqlite).glob("*")))
        (path,) = folder_of(sqlite).iterdir()
        content = path.read_bytes()
        assert 0o600 == path.stat().st_mode & 0o777
        assert 0o700 == folder_of(sqlite).stat().st_mode & 0o777
        recording.cancel()
        await asyncio.gather(recording, return_exceptions=True)
        return content

    content = asyncio.run(asked())
    older.release()

    (append,) = json.loads(content)["appends"]
    assert ("review/d1", 0) == (append["stream"], append["expected_version"])

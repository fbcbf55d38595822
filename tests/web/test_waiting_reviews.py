"""Reviews that wait for another process to write: one reviewer's do not keep the server from the others."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from jury_events import review_stream
from jury_judge import Reviewing, Service
from jury_judge.serving import service
from jury_judge.serving.service import MOST_WAITING
from jury_store import EventStore, SqliteLock, open_store, requests_folder
from support.review_site import REVIEWERS, TOKEN, waiting
from support.running_server import running_server
from support.tiers import others_full
from support.waiting import comes, eventually

ACCESS = {"token": TOKEN, "reviewers": REVIEWERS}
ANN, BOB, ADMIN = (
    {"authorization": f"Bearer {one}", "accept": "*/*"} for one in (REVIEWERS["ann"], REVIEWERS["bob"], TOKEN)
)
POSTS = 40


class Held:
    """A server of a store that another process holds, which takes no requests until it ends."""

    def __init__(self, base: str, service: Service, store: EventStore, database: Path, lock: SqliteLock) -> None:
        self.base, self.service, self.store, self.lock = base, service, store, lock
        self.requests = requests_folder(database)

    @property
    def waiting(self) -> int:
        assert self.service.reviewing is not None
        return self.service.reviewing.waiting("ann")


@pytest.fixture
def held(tmp_path: Path, sqlite_url: str) -> Iterator[Held]:
    with _held(tmp_path / "jury.db", sqlite_url) as found:
        yield found


@contextmanager
def _held(database: Path, url: str) -> Iterator[Held]:
    store = open_store(url, write=True)
    waiting(store, POSTS)
    store.close()
    reading = open_store(url, write=False)
    lock = SqliteLock.acquire(database, run="nightly", wait=0)
    recording = Reviewing.over(url, blind=True, wait=300)
    try:
        with running_server(reading, access=ACCESS, store_url=url, database=database, reviewing=recording) as found:
            yield Held(*found, reading, database, lock)
    finally:
        lock.release()


@pytest.mark.parametrize("most", others_full(MOST_WAITING, POSTS))
async def test_others_are_answered_while_reviews_of_one_person_wait(
    held: Held, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MOST_WAITING", most)
    limits = httpx2.Limits(max_connections=2 * POSTS)
    async with httpx2.AsyncClient(base_url=held.base, timeout=300, limits=limits) as client:
        posts = [
            asyncio.create_task(
                client.post(f"/api/debates/run-1~c{one}/reviews", json={"verdict": "safe_pass"}, headers=ANN)
            )
            for one in range(1, POSTS + 1)
        ]
        await comes(lambda: held.waiting == most and sum(post.done() for post in posts) == POSTS - most)
        others = [
            await client.get(address, headers=who)
            for who, address in (
                (BOB, "/api/reviews"),
                (BOB, "/reviews"),
                (BOB, "/reviews/run-1~c1"),
                (BOB, "/reviewers"),
                (ADMIN, "/runs/run-1/stats"),
                (ADMIN, "/api/debates"),
            )
        ]
        still = held.waiting
        held.lock.release()
        answers = await asyncio.gather(*posts)

    assert [200] * 6 == [one.status_code for one in others]
    assert most == still
    refused = [one for one in answers if one.status_code == 429]
    assert POSTS - most == len(refused)
    assert all(one.headers["retry-after"] and "wait for another process" in one.json()["error"] for one in refused)
    assert [201] * most == [one.status_code for one in answers if one not in refused]
    assert most == sum(bool(row.reviews) for row in held.store.list_debates())


async def test_a_reviewer_with_too_many_forms_under_way_keeps_what_was_typed(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MOST_WAITING", 0)
    async with httpx2.AsyncClient(base_url=held.base, timeout=300) as client:
        await client.post("/login", data={"token": REVIEWERS["ann"]})
        page = await client.get("/reviews/run-1~c1")
        token = page.text.partition('name="form_token" value="')[2].partition('"')[0]
        form = {"verdict": "safe_pass", "reason": "typed words", "form_token": token}
        answer = await client.post("/reviews/run-1~c1", data=form)

    assert 429 == answer.status_code
    assert answer.headers["retry-after"]
    assert "typed words" in answer.text


async def test_the_review_of_a_client_that_left_is_withdrawn(held: Held) -> None:
    async with httpx2.AsyncClient(base_url=held.base, timeout=300) as client:
        post = asyncio.create_task(
            client.post("/api/debates/run-1~c1/reviews", json={"verdict": "safe_pass"}, headers=ANN)
        )
        await comes(held.requests.exists)
        post.cancel()
        await asyncio.gather(post, return_exceptions=True)
        await comes(lambda: not held.waiting)
    held.lock.release()

    assert not held.requests.exists()
    assert [] == held.store.read_stream(review_stream("run-1~c1"))


async def test_the_writing_process_records_what_is_sent_to_a_server(tmp_path: Path, sqlite_url: str) -> None:
    with _held(tmp_path / "jury.db", sqlite_url) as held:
        held.lock.release()
        writer = open_store(sqlite_url, write=True, run="nightly")
        async with httpx2.AsyncClient(base_url=held.base, timeout=300) as client:
            answers = [
                await client.post(f"/api/debates/run-1~c{one}/reviews", json={"verdict": "safe_pass"}, headers=ANN)
                for one in (1, 2)
            ]
        eventually(lambda: not held.requests.exists())
        reviewed = [row.debate_id for row in writer.list_debates() if row.reviews]
        writer.close()

    assert [201, 201] == [one.status_code for one in answers]
    assert ["run-1~c2", "run-1~c1"] == reviewed

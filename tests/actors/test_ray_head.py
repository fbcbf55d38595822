"""Calls to a coordinator end as soon as the head of its cluster is gone, and not before."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from jury_actors.errors import ClusterLost
from jury_actors.messages import Chunk, Delivery, Finished, Job
from jury_actors.ray_head import HeadWatchedPort


class Coordinator:
    """Answers a poll once it is told to; `waiting` while somebody polls."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[Delivery[Finished | Chunk]] = asyncio.get_running_loop().create_future()
        self.polled = asyncio.Event()
        self.waiting = False

    async def poll(self, life: str, ack: int) -> Delivery[Finished | Chunk]:
        self.waiting = True
        self.polled.set()
        try:
            return await asyncio.shield(self.answer)
        finally:
            self.waiting = False

    async def submit(self, jobs: Sequence[Job]) -> None: ...

    async def release(self, debate_ids: Sequence[str]) -> None: ...

    async def store_seal(self, seal: Any) -> bool:
        return True

    async def store_run_size(self, run_id: str, cases: int | None) -> None: ...


@pytest.fixture
async def head() -> AsyncIterator[asyncio.Server]:
    """What listens as the head of a cluster does."""
    async with await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0) as server:
        yield server


def watched(coordinator: Coordinator, head: asyncio.Server, patience: float = 0.05) -> HeadWatchedPort:
    host, port = head.sockets[0].getsockname()
    return HeadWatchedPort(coordinator, f"{host}:{port}", patience=patience, every=0.001)


async def test_a_call_that_waits_ends_when_the_head_is_gone(head: asyncio.Server) -> None:
    coordinator = Coordinator()
    async with watched(coordinator, head) as port:
        polling = asyncio.create_task(port.poll("", 0))
        await coordinator.polled.wait()
        head.close()
        with pytest.raises(ClusterLost, match=r"its head at 127\.0\.0\.1:\d+ is gone.*call the same run again"):
            await polling
        with pytest.raises(ClusterLost):
            await port.poll("", 0)

        assert port.lost
        await asyncio.sleep(0)
        assert not coordinator.waiting


async def test_while_the_head_listens_calls_are_answered(head: asyncio.Server) -> None:
    coordinator = Coordinator()
    async with watched(coordinator, head) as port:
        polling = asyncio.create_task(port.poll("", 0))
        await coordinator.polled.wait()
        coordinator.answer.set_result(Delivery("life", 1, []))

        assert await polling == Delivery("life", 1, [])
        assert not port.lost
    assert not port.lost


async def test_a_head_that_comes_back_in_time_was_never_gone(head: asyncio.Server) -> None:
    coordinator = Coordinator()
    async with watched(coordinator, head, patience=60.0) as port:
        address = head.sockets[0].getsockname()
        head.close()
        polling = asyncio.create_task(port.poll("", 0))
        await coordinator.polled.wait()
        seen = asyncio.Event()

        def come(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.close()
            seen.set()

        async with await asyncio.start_server(come, *address):
            await seen.wait()
            coordinator.answer.set_result(Delivery("life", 1, []))

            assert await polling == Delivery("life", 1, [])


async def test_a_call_that_is_given_up_is_given_up_at_the_coordinator(head: asyncio.Server) -> None:
    coordinator = Coordinator()
    async with watched(coordinator, head) as port:
        polling = asyncio.create_task(port.poll("", 0))
        await coordinator.polled.wait()
        polling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await polling
        await asyncio.sleep(0)

        assert not coordinator.waiting

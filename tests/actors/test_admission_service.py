"""The service and its clients: every waiting client is served, whichever process dies; no permit is granted twice."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

import pytest

from jury_actors import (
    Acquire,
    AdmissionClient,
    AdmissionService,
    Delivery,
    Grant,
    IncarnationLost,
    Limiter,
    Release,
    Settlement,
)
from jury_events import CallOutcome
from jury_providers import Limits
from support.permit_requests import MODEL, a_permit_request
from support.waiting import until

ONE = a_permit_request(limits=Limits(in_flight=1))


class Connection:
    """A connection to a service; a test can replace the service."""

    def __init__(self, service: AdmissionService) -> None:
        self.service = service
        self.lost = asyncio.Event()
        self.submitted: list[Sequence[Acquire | Release]] = []

    def replace(self, service: AdmissionService) -> None:
        self.service = service
        self.lost.set()
        self.lost = asyncio.Event()

    async def submit(self, client: str, messages: Sequence[Acquire | Release]) -> None:
        self.submitted.append(messages)
        await self.service.submit(client, messages)

    async def poll(self, client: str, incarnation: str, ack: int) -> Delivery[Grant]:
        poll = asyncio.ensure_future(self.service.poll(client, incarnation, ack))
        cut = asyncio.ensure_future(self.lost.wait())
        await asyncio.wait([poll, cut], return_when=asyncio.FIRST_COMPLETED)
        cut.cancel()
        if poll.done():
            return poll.result()
        poll.cancel()
        raise IncarnationLost


@pytest.fixture
async def make_client() -> AsyncIterator[Callable[..., AdmissionClient]]:
    made: list[AdmissionClient] = []

    def make(service: Connection, client: str = "c") -> AdmissionClient:
        made.append(AdmissionClient(service, client))
        return made[-1]

    yield make
    for one in made:
        await one.close()


MakeClient = Callable[..., AdmissionClient]


async def use_permit(client: AdmissionClient, began: list[str], name: str, end: asyncio.Event, request=ONE) -> None:
    async with client.permit(request) as permit:
        began.append(name)
        await end.wait()
        permit.settlement = Settlement(CallOutcome.ANSWERED)


async def test_a_request_cancelled_while_waiting_does_not_block_others(make_client: MakeClient):
    client = make_client(Connection(AdmissionService(Limiter(), "1")))
    end, began = asyncio.Event(), []
    first, second, third = (asyncio.create_task(use_permit(client, began, name, end)) for name in "abc")
    await until(lambda: began)
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    end.set()
    await asyncio.gather(first, third)

    assert ["a", "c"] == began


async def test_messages_sent_together_arrive_in_few_batches(make_client: MakeClient):
    connection = Connection(AdmissionService(Limiter(), "1"))
    client = make_client(connection)
    end, began = asyncio.Event(), []
    end.set()
    async with asyncio.timeout(120):
        await asyncio.gather(*(use_permit(client, began, str(n), end, a_permit_request()) for n in range(200)))

    assert 200 == len(began)
    assert len(connection.submitted) < 100


async def test_a_successor_is_sent_running_and_waiting_calls(make_client: MakeClient):
    connection = Connection(AdmissionService(Limiter(), "1"))
    client = make_client(connection)
    end, began = asyncio.Event(), []
    first = asyncio.create_task(use_permit(client, began, "a", end))
    await until(lambda: began)
    waiting = asyncio.create_task(use_permit(client, began, "b", end))
    await until(lambda: len(connection.submitted) == 2)
    rule = Limiter()
    connection.replace(AdmissionService(rule, "2"))
    await until(lambda: len(connection.submitted) == 3)
    one_runs = (rule.in_flight(MODEL)[0], list(began))
    end.set()
    async with asyncio.timeout(120):
        await asyncio.gather(first, waiting)

    assert (1, ["a"]) == one_runs
    assert [(1, True), (2, False)] == [
        (one.number, one.granted) for one in connection.submitted[2] if isinstance(one, Acquire)
    ]
    assert ["a", "b"] == began


async def test_the_permits_of_a_dead_client_are_released(make_client: MakeClient):
    now = 0.0
    service = AdmissionService(Limiter(), "1", clock=lambda: now, beat=0.01)
    await service.submit("dead", [Acquire(1, ONE), Acquire(2, ONE)])
    client = make_client(Connection(service))
    end, began = asyncio.Event(), []
    waiting = asyncio.create_task(use_permit(client, began, "alive", end))
    for _ in range(20):
        await asyncio.sleep(0)
    before = list(began)
    now = 1000.0
    await until(lambda: service.clients() == 1 and began)
    end.set()
    await waiting

    assert ([], ["alive"]) == (before, began)


async def test_a_client_wrongly_taken_for_dead_is_served(make_client: MakeClient):
    now = 0.0
    service = AdmissionService(Limiter(), "1", clock=lambda: now, beat=0.01)
    connection = Connection(service)
    client = make_client(connection)
    end, began = asyncio.Event(), []
    tasks = [asyncio.create_task(use_permit(client, began, name, end)) for name in "ab"]
    await until(lambda: began)
    now = 1000.0
    service.clients()
    await until(lambda: len(connection.submitted) > 1)
    end.set()
    async with asyncio.timeout(120):
        await asyncio.gather(*tasks)

    assert ["a", "b"] == began


async def test_requests_that_wait_get_the_error_of_a_service_that_cannot_be_reached(make_client: MakeClient):
    class Broken(Connection):
        async def submit(self, client: str, messages: Sequence[Acquire | Release]) -> None:
            raise RuntimeError("gone for good")

    client = make_client(Broken(AdmissionService(Limiter(), "1")))
    with pytest.raises(RuntimeError, match="gone for good"):
        async with asyncio.timeout(120), client.permit(ONE):
            pass

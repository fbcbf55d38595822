"""The driver's watch over the actors of a runtime: its messages, why Ray lost a process, and when it ends the run."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ray.exceptions import ActorDiedError, ActorUnavailableError, RayError

from jury_actors import (
    MOST_AWAY,
    MOST_DEATHS,
    PROBE,
    ActorState,
    Backoff,
    ClusterLost,
    DeathCount,
    Delivery,
    DetachedRunLost,
    Notices,
    RayWatch,
    Watched,
    loss_reason,
    ray_watch,
)
from jury_events import Failure
from support.each_row import each_row
from support.waiting import until


class MortalActor:
    """An actor as Ray shows it: a test makes it die; it answers nothing while it is away."""

    def __init__(self) -> None:
        self.notices = self
        self.kept = Notices()
        self.looks = 0
        self.restarts = 0
        self.away = False
        self._death = asyncio.Event()

    async def remote(self, incarnation: str, ack: int) -> Delivery[str]:
        self.looks += 1
        if self.away:
            raise _unavailable()
        polled, died = (
            asyncio.ensure_future(self.kept.poll(incarnation, ack)),
            asyncio.ensure_future(self._death.wait()),
        )
        await asyncio.wait({polled, died}, return_when=asyncio.FIRST_COMPLETED)
        died.cancel()
        if polled.done():
            return polled.result()
        polled.cancel()
        raise _unavailable()

    def die(self) -> None:
        self.restarts += 1
        self.kept = Notices()
        self._death.set()
        self._death = asyncio.Event()


def _unavailable() -> ActorUnavailableError:
    return ActorUnavailableError("away", None)


class Watching:
    """A watch over one actor, with its messages and the test's clock."""

    def __init__(self) -> None:
        self.actor = MortalActor()
        self.said: list[str] = []
        self.now = 0.0
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        watched = Watched("the clerk's process", "another takes its place", self.actor)
        self.watch = RayWatch(self.said.append, self.ended, clock=lambda: self.now, state=self.state, look_every=0.0)
        self.watch.add(watched)

    def state(self, actor: MortalActor) -> ActorState:
        return ActorState("node", not actor.away, actor.restarts)

    async def lose(self) -> None:
        """The actor dies, and its successor is found."""
        await self.settled()
        self.actor.die()
        await self.settled()

    async def settled(self) -> None:
        """The watch has looked at the present life, and waits for news."""
        before = self.actor.looks
        await until(lambda: self.actor.looks > before + 1 or self._waits() or self.ended.done())

    def _waits(self) -> bool:
        return bool(self.actor.kept._outbox._filled._waiters)


@pytest.fixture
async def watching(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Watching]:
    monkeypatch.setattr(ray_watch, "_PROBES", Backoff(base=0.0))
    watching = Watching()
    yield watching
    await watching.watch.close()


async def test_a_notice_of_an_actor_is_reported_once(watching: Watching) -> None:
    watching.actor.kept.say("the store is away")
    await until(lambda: watching.said)
    watching.actor.kept.say("the store is back")
    await until(lambda: len(watching.said) > 1)

    assert ["the store is away", "the store is back"] == watching.said


async def test_a_death_is_reported_and_the_run_continues(watching: Watching) -> None:
    await watching.lose()
    await until(lambda: watching.said)

    assert ["the clerk's process was lost; another takes its place"] == watching.said
    assert not watching.ended.done()


async def test_an_actor_that_stays_away_is_reported_lost_once(watching: Watching) -> None:
    await watching.settled()
    watching.actor.away = True
    watching.actor.die()
    await until(lambda: watching.actor.looks > 20)

    assert 1 == len(watching.said)
    assert not watching.ended.done()


async def test_an_actor_that_stays_away_for_too_long_ends_the_run(watching: Watching) -> None:
    await watching.settled()
    watching.actor.away = True
    watching.actor.die()
    await until(lambda: watching.said)
    watching.now = MOST_AWAY + 1
    await until(watching.ended.done)

    with pytest.raises(ClusterLost, match="has not answered for 300 s"):
        watching.ended.result()


async def test_an_actor_that_dies_again_and_again_ends_the_run_with_one_message(watching: Watching) -> None:
    for _ in range(MOST_DEATHS):
        await watching.lose()
    await until(watching.ended.done)

    with pytest.raises(ClusterLost, match=r"the clerk's process died 10 times within 120 s.*call the same run again"):
        watching.ended.result()
    assert MOST_DEATHS - 1 == len(watching.said)


async def test_deaths_of_successors_that_never_answered_are_counted(watching: Watching) -> None:
    await watching.settled()
    watching.actor.away = True
    watching.actor.die()
    await until(lambda: watching.said)
    watching.actor.restarts = 4
    await until(lambda: len(watching.said) > 1)

    assert [
        "the clerk's process was lost; another takes its place",
        "the clerk's process was lost 3 times; another takes its place",
    ] == watching.said


async def test_an_actor_none_of_whose_successors_answers_ends_the_run_at_its_tenth_death(watching: Watching) -> None:
    await watching.settled()
    watching.actor.away = True
    watching.actor.die()
    await until(lambda: watching.said)
    watching.actor.restarts = MOST_DEATHS - 1
    await until(lambda: len(watching.said) > 1)
    assert not watching.ended.done()

    watching.actor.restarts = MOST_DEATHS
    await until(watching.ended.done)

    with pytest.raises(ClusterLost, match="the clerk's process died 10 times within 120 s"):
        watching.ended.result()


async def test_deaths_that_lie_far_apart_end_nothing(watching: Watching) -> None:
    for _ in range(MOST_DEATHS * 2):
        watching.now += 60.0
        await watching.lose()
    await until(lambda: len(watching.said) == MOST_DEATHS * 2)

    assert not watching.ended.done()


async def test_a_probe_returns_the_present_incarnation_at_once() -> None:
    notices = Notices()
    delivery: Any = await notices.poll(PROBE, 0)

    assert (True, []) == (delivery.incarnation != PROBE, delivery.items)


@given(st.lists(st.booleans()))
def test_every_death_is_counted_once_whichever_of_them_a_connection_shows(shown: list[bool]) -> None:
    count = DeathCount()
    found = 0
    for number, one in enumerate(shown, 1):
        found += count.lost() if one else 0
        found += count.restarted(number)

    assert len(shown) == found == count.total


OUT_OF_MEMORY = """\
1 worker(s) were killed due to the node running low on memory. Memory on the node (IP: 10.0.0.7, \
ID: df5a2ee5af0a241b4d18b9ffcc25e13b761ffffde023c321312d583f) was 22.90GB used / 23.54GB limit (0.972)
OOM kill reason: Memory usage 24588573081B exceeded threshold of 24012684984B (95.0% of 25276510208B limit)
Object store memory usage: [- objects spillable: 0
- bytes spillable: 0
Top 10 memory users: PID\tMEM(GB)\tCOMMAND
12067\t0.22\tray::DetachedRunActor
"""


def test_memory_that_was_short_is_named_with_its_node_and_the_remedy() -> None:
    from ray.exceptions import OutOfMemoryError

    line = loss_reason(OutOfMemoryError(OUT_OF_MEMORY))

    assert line.startswith(
        "Ray killed it because memory on the node 10.0.0.7 (df5a2ee5) was short (22.90GB of 23.54GB used, the limit is "
        "95.0%); run fewer debates at once there (--concurrency)"
    )
    assert "RAY_memory_usage_threshold" in line
    assert "\n" not in line


def test_memory_that_was_short_is_named_in_whatever_words_a_release_of_ray_says_it() -> None:
    from ray.exceptions import OutOfMemoryError

    assert loss_reason(OutOfMemoryError("no memory\nat all")).startswith(
        "Ray killed it because memory on its node was short; run fewer"
    )


@each_row("error", [ActorDiedError(), RayError("lost\n\n\tpid: 7\nits node died\n" + "x" * 4000)])
def test_other_losses_are_one_line_too(error: RayError) -> None:
    line = loss_reason(error)

    assert "\n" not in line
    assert "pid" not in line
    assert 0 < len(line) <= 300


def test_a_detached_run_that_was_lost_says_what_to_do() -> None:
    from ray.exceptions import OutOfMemoryError

    lost = DetachedRunLost("first", loss_reason(OutOfMemoryError(OUT_OF_MEMORY)))

    assert Failure.STOPPED == lost.failure
    assert "that first was handed to was lost: Ray killed it because memory" in str(lost)
    assert "`jury runs` shows whether the run goes on" in str(lost)

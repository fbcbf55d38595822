"""Which replica serves a debate, while replicas are added and drained."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

from jury_actors.juror_client import JurorClient
from jury_actors.juror_pool import JurorPool, replica_name, replicas_among
from jury_actors.mailbox import Delivery
from jury_actors.messages import Chunk, ForgetDebate, StepRequest, StepResult
from jury_actors.replica_scaler import ReplicaScaler, replicas_for
from support.waiting import comes

DEBATES = [f"r~{number}" for number in range(200)]


class Idle:
    """A juror that is asked nothing here."""

    async def submit(self, messages: Sequence[StepRequest | ForgetDebate]) -> None:
        raise AssertionError(messages)

    async def poll(self, reply_to: str, incarnation: str, ack: int) -> Delivery[StepResult | Chunk]:
        raise AssertionError((incarnation, ack))


class Pool:
    """A pool of seats `a` and the final judge, and the names that it connected to."""

    def __init__(self, *names: str) -> None:
        self.connected: list[str] = []
        self.names: dict[int, str] = {}
        self.pool = JurorPool({"a": names, None: ["judge"]}, self._connect)

    def _connect(self, name: str) -> JurorClient:
        self.connected.append(name)
        made = JurorClient(Idle(), lambda _result: None, lambda _lost: None)
        self.names[id(made)] = name
        return made

    def serving(self, debate_id: str) -> str:
        return self.names[id(self.pool.juror(debate_id, "a"))]


async def test_debates_are_shared_among_replicas_and_stay_where_they_are() -> None:
    pool = Pool("a1", "a2", "a3")

    first = [pool.serving(debate) for debate in DEBATES]

    assert {"a1", "a2", "a3"} == set(first)
    assert min(map(first.count, set(first))) > len(DEBATES) / 6
    assert first == [pool.serving(debate) for debate in DEBATES]
    assert pool.pool.juror("r~1", None) is pool.pool.juror("r~2", None)


async def test_added_replicas_serve_new_debates_only() -> None:
    pool = Pool("a1")
    for debate in DEBATES[:100]:
        pool.pool.juror(debate, "a")

    used = await pool.pool.use({"a": ["a1", "a2"], None: ["judge"]})

    assert {"a1", "a2", "judge"} == used
    assert {"a1"} == {pool.serving(debate) for debate in DEBATES[:100]}
    assert {"a1", "a2"} == {pool.serving(debate) for debate in DEBATES[100:]}
    assert ["a1", "judge", "a2"] == pool.connected


async def test_a_drained_replica_is_named_until_its_last_debate_is_over() -> None:
    pool = Pool("a1", "a2")
    served = next(debate for debate in DEBATES if pool.serving(debate) == "a2")
    for debate in DEBATES:
        if debate != served:
            pool.pool.release(debate)
    fewer: dict[str | None, list[str]] = {"a": ["a1"], None: ["judge"]}

    assert {"a1", "a2", "judge"} == await pool.pool.use(fewer)
    assert "a2" == pool.serving(served)
    assert {"a1"} == {pool.serving(debate) for debate in DEBATES if debate != served}
    pool.pool.release(served)
    assert {"a1", "judge"} == await pool.pool.use(fewer)
    assert 2 == len(pool.pool.clients)


def test_a_successor_finds_the_replicas_by_their_names() -> None:
    names = ["clerk", replica_name(1, 0), replica_name(0, 10), replica_name(0, 2), "limiter", "coordinator"]

    assert {"a": ["juror-0-2", "juror-0-10"], None: ["juror-1-0"]} == replicas_among(names, ("a", None))


def test_a_seat_has_as_many_replicas_as_the_cpus_can_serve() -> None:
    assert [1, 1, 2, 8, 64] == [replicas_for(cpus, 4) for cpus in (1, 4, 8, 32, 100_000)]


class Cluster:
    """A cluster with so many CPUs, whose coordinator still uses the replicas in `serving`."""

    def __init__(self, cpus: float, fixed: int | None = None) -> None:
        self.cpus = cpus
        self.running: list[str] = []
        self.serving: set[str] = set()
        self.told: list[dict[str | None, list[str]]] = []
        self.scaler = ReplicaScaler(("a", None), self._start, self._stop, lambda: self.cpus, fixed=fixed)
        self.scaler.start()

    def _start(self, seat: int, name: str) -> None:
        assert name.startswith(f"juror-{seat}-")
        self.running.append(name)

    async def _stop(self, name: str) -> None:
        self.running.remove(name)

    async def use_replicas(self, replicas: Any) -> frozenset[str]:
        self.told.append(replicas)
        return frozenset(self.serving | {name for names in replicas.values() for name in names})

    async def look(self) -> list[str]:
        await self.scaler.look(self)  # type: ignore[arg-type]  # of the coordinator only this one call is used
        return sorted(self.running)


async def test_replicas_follow_the_nodes() -> None:
    cluster = Cluster(4)
    before = sorted(cluster.running)
    assert before == await cluster.look()
    assert [] == cluster.told, "nothing changed, so the coordinator is not called"

    cluster.cpus = 6
    assert [*before[:2], "juror-0-2", *before[2:], "juror-1-2"] == await cluster.look()

    cluster.cpus, cluster.serving = 2, {"juror-0-2"}
    assert ["juror-0-0", "juror-0-2", "juror-1-0"] == await cluster.look(), "one still serves a debate"
    cluster.serving = set()
    assert ["juror-0-0", "juror-1-0"] == await cluster.look()
    told = len(cluster.told)
    await cluster.look()
    assert told == len(cluster.told)


async def test_a_fixed_number_does_not_follow() -> None:
    cluster = Cluster(100, fixed=2)

    assert ["juror-0-0", "juror-0-1", "juror-1-0", "juror-1-1"] == sorted(cluster.running)
    await cluster.scaler.follow(cluster)  # type: ignore[arg-type]  # returns at once


def test_a_cluster_that_does_not_answer_does_not_hold_up_the_end_of_a_run() -> None:
    """Ray's calls of a head that is gone block for a minute, and then Ray ends the process."""
    asked, answer = threading.Event(), threading.Event()
    cluster = Cluster(4)

    def unanswered() -> float:
        asked.set()
        answer.wait()
        return 4

    async def interrupted() -> None:
        cluster.scaler = ReplicaScaler(("a",), cluster._start, cluster._stop, unanswered)
        looking = asyncio.create_task(cluster.scaler.look(cluster))  # type: ignore[arg-type]  # it is not called
        await comes(asked.is_set)
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)

    runs = threading.Thread(target=asyncio.run, args=(interrupted(),), daemon=True)
    runs.start()
    runs.join(60)
    over = not runs.is_alive()
    answer.set()
    runs.join()

    assert over

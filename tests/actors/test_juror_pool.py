"""Which replica serves a debate, while replicas are added and drained."""

import asyncio
import threading
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_actors import (
    Chunk,
    ClusterLost,
    ClusterView,
    Delivery,
    ForgetDebate,
    JurorClient,
    JurorPlace,
    JurorPool,
    ReplicaScaler,
    StepRequest,
    StepResult,
    replica_name,
    replicas_among,
    replicas_for,
)
from jury_actors.replica_scaler import PATIENCE, NodeArrivals, Placed, Plan, plan, shares
from support.each_row import each_row
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
    """A cluster whose nodes have so many CPUs; its coordinator still uses the replicas in `serving`.

    `late` jurors are not alive yet; Ray starts on `instead`, where it is set, what was meant for another node.
    """

    def __init__(self, cpus: dict[str, float], fixed: int | None = None) -> None:
        self.cpus = cpus
        self.running: dict[str, str] = {}
        self.serving: set[str] = set()
        self.late: set[str] = set()
        self.instead: str | None = None
        self.told: list[set[str]] = []
        self.said: list[str] = []
        self.started = 0
        starts = self._start, self._stop
        self.scaler = ReplicaScaler(("a", None), *starts, self.view, fixed=fixed, say=self.said.append)
        self.scaler.start(self.view(()))

    def view(self, names: Collection[str]) -> ClusterView:
        places = {name: JurorPlace(self.running[name], alive=True) for name in names if name not in self.late}
        return ClusterView(dict(self.cpus), places, {node: f"10.0.0.{node}" for node in self.cpus})

    def _start(self, seat: int, name: str, node: str) -> None:
        assert name.startswith(f"juror-{seat}-")
        assert name not in self.running
        self.started += 1
        self.running[name] = self.instead or node

    async def _stop(self, name: str) -> None:
        del self.running[name]

    async def use_replicas(self, replicas: Any) -> frozenset[str]:
        used = {name for names in replicas.values() for name in names}
        assert all(replicas.values()), "every seat has a replica"
        self.told.append(used)
        return frozenset(self.serving | used)

    async def look(self, times: int = 1) -> Counter[str]:
        """How many replicas run on each node after so many looks."""
        for _ in range(times):
            await self.scaler.look(self)  # type: ignore[arg-type]  # of the coordinators only this one call is used
        return Counter(self.running.values())


async def test_replicas_follow_the_nodes() -> None:
    cluster = Cluster({"1": 4})
    before = set(cluster.running)

    assert {"1": 4} == await cluster.look()
    assert [] == cluster.told, "nothing changed, so the coordinators are not called"

    cluster.cpus = {"1": 6}
    assert {"1": 6} == await cluster.look(2)
    assert before < cluster.told[-1] == set(cluster.running)

    cluster.cpus, cluster.serving = {"1": 2}, {"juror-0-2"}
    assert {"1": 3} == await cluster.look(), "one still serves a debate"
    cluster.serving = set()
    assert {"1": 2} == await cluster.look()
    told = len(cluster.told)
    await cluster.look()
    assert told == len(cluster.told)


async def test_a_node_that_joined_gets_jurors_though_no_seat_gets_more() -> None:
    """A juror of one seat is moved: four CPUs for a panel of two seats have one each on both nodes."""
    cluster = Cluster({"1": 2}, fixed=1)
    cluster.cpus = {"1": 2, "2": 2}
    [moved] = await cluster.look() - Counter({"1": 2})

    assert "2" == moved
    assert {"1": 1, "2": 1} == await cluster.look()
    assert ["the node 10.0.0.2 joined: it has 1 of 2 juror processes"] == cluster.said


async def test_a_juror_is_retired_once_its_successor_is_alive_and_its_last_debate_is_over() -> None:
    cluster = Cluster({"1": 2}, fixed=1)
    before = set(cluster.running)
    cluster.cpus = {"1": 2, "2": 2}
    await cluster.look()
    [successor] = set(cluster.running) - before
    cluster.late, cluster.serving = {successor}, before
    assert {"1": 2, "2": 1} == await cluster.look()
    assert [] == cluster.told, "the coordinators do not use a juror that has not started"

    cluster.late = set()
    assert {"1": 2, "2": 1} == await cluster.look(3), "one still serves a debate"
    assert successor in cluster.told[-1]
    assert 2 == len(cluster.told[-1])

    cluster.serving = set()
    assert {"1": 1, "2": 1} == await cluster.look()


async def test_replicas_are_not_moved_for_ever_where_ray_starts_them_elsewhere() -> None:
    cluster = Cluster({"1": 4})
    cluster.instead = "1"
    cluster.cpus = {"1": 4, "2": 4}
    await cluster.look(100)
    started = cluster.started
    await cluster.look(100)

    assert started == cluster.started
    assert 1 == len(cluster.said)
    assert "the node 10.0.0.2 joined: it gets no juror process" in cluster.said[0]


async def test_a_fixed_number_stays() -> None:
    cluster = Cluster({"1": 100}, fixed=2)
    assert ["juror-0-0", "juror-0-1", "juror-1-0", "juror-1-1"] == sorted(cluster.running)

    cluster.cpus = {"1": 100, "2": 100}
    assert {"1": 2, "2": 2} == await cluster.look(4)


async def test_a_look_that_fails_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jury_actors.replica_scaler.EVERY", 0.0)
    cluster = Cluster({"1": 4})
    cluster.cpus = {"1": 0.0}
    await cluster.scaler.follow(cluster)  # type: ignore[arg-type]  # returns

    assert ["followed no longer (ZeroDivisionError" in line for line in cluster.said] == [True]


def test_a_cluster_without_a_node_is_lost() -> None:
    with pytest.raises(ClusterLost, match="none of its nodes is alive"):
        Cluster({})


def test_a_cluster_that_does_not_answer_does_not_hold_up_the_end_of_a_run() -> None:
    """Ray's calls of a head that is gone block for a minute, and then Ray ends the process."""
    asked, answer = threading.Event(), threading.Event()
    cluster = Cluster({"1": 4})

    def unanswered(_names: Collection[str]) -> ClusterView:
        asked.set()
        answer.wait()
        return ClusterView({"1": 4})

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


CPUS = st.dictionaries(st.sampled_from("ABCDE"), st.sampled_from([1.0, 2.0, 4.0, 10.0, 64.0]), min_size=1)


def done(jurors: list[Placed], wanted: Plan) -> list[Placed]:
    """The jurors after the plan was carried out."""
    named = [f"{len(jurors)}-{number}" for number in range(len(wanted.start))]
    started = [Placed(name, seat, node) for name, (seat, node) in zip(named, wanted.start, strict=True)]
    return [one for one in jurors if one.name not in wanted.retire] + started


def test_nodes_have_jurors_by_their_cpus() -> None:
    assert {"large": 8, "small": 2} == shares({"large": 8.0, "small": 2.0}, 10)


def test_a_juror_on_its_way_is_counted_and_left_alone() -> None:
    jurors = [Placed("a", 0, None), Placed("b", 1, "head")]

    assert Plan([], []) == plan({"head": 2.0}, jurors, 2, 1)


def test_a_juror_on_a_node_that_is_not_used_is_replaced() -> None:
    jurors = [Placed("a", 0, "refused"), Placed("b", 1, "head")]

    assert Plan([(0, "head")], ["a"]) == plan({"head": 2.0}, jurors, 2, 1)


def test_without_a_node_nothing_is_planned() -> None:
    assert Plan((), ()) == plan({}, [Placed("a", 0, "head")], 1, 1)


@given(st.lists(st.tuples(CPUS, st.integers(1, 5)), min_size=1, max_size=5), st.integers(1, 5))
def test_whatever_nodes_come_and_go_a_plan_gives_each_seat_and_each_node_its_share(
    steps: list[tuple[dict[str, float], int]], seats: int
) -> None:
    jurors: list[Placed] = []
    for cpus, each in steps:
        jurors = done(jurors, plan(cpus, jurors, seats, each))
        by_node = Counter(str(one.node) for one in jurors)

        assert dict.fromkeys(range(seats), each) == Counter(one.seat for one in jurors)
        assert shares(cpus, seats * each, by_node) == {node: by_node[node] for node in cpus}
        assert Plan([], []) == plan(cpus, jurors, seats, each), "a second plan moves nothing"


NAMES = {"a": "10.0.0.1 (a)", "b": "10.0.0.2 (b)"}
BOTH = {"a": 4.0, "b": 4.0}


@each_row(
    ("cpus", "alive", "line"),
    [
        (BOTH, {"a": 3, "b": 4}, "it has 4 of 7 juror processes"),
        ({"a": 4.0}, {"a": 3}, "it gets no juror process, because it offers Ray no CPU (ray start --num-cpus)"),
        (BOTH, {"a": 3}, "it gets no juror process, because the 3 of this run are on nodes with more CPUs"),
    ],
)
def test_a_node_that_joined_is_named_once(cpus: Mapping[str, float], alive: Mapping[str, int], line: str) -> None:
    arrivals = NodeArrivals(["a"])
    said = [one for _ in range(3) for one in arrivals.look(NAMES, cpus, alive, {})]

    assert 1 == len(said)
    assert said[0].startswith(f"the node 10.0.0.2 (b) joined: {line}")


def test_the_line_waits_until_the_jurors_have_started() -> None:
    arrivals = NodeArrivals(["a"])

    assert [] == arrivals.look(NAMES, BOTH, {"a": 3, "b": 1}, {"b": 1})
    assert 1 == len(arrivals.look(NAMES, BOTH, {"a": 3, "b": 2}, {}))


def test_jurors_that_do_not_start_are_said() -> None:
    arrivals = NodeArrivals(["a"])
    said = [one for _ in range(PATIENCE + 3) for one in arrivals.look(NAMES, BOTH, {"a": 3}, {"b": 2})]

    assert ["none of its 2 juror processes has started yet" in one for one in said] == [True]


def test_a_node_that_left_before_its_jurors_started_has_no_line() -> None:
    arrivals = NodeArrivals(["a"])
    arrivals.look(NAMES, BOTH, {"a": 3}, {"b": 2})

    assert [] == arrivals.look({"a": NAMES["a"]}, BOTH, {"a": 3}, {})

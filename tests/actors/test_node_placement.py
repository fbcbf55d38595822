"""Jurors are spread over the nodes of a cluster by their CPUs, and moved when nodes join; each of these has a line."""

from collections import Counter
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from jury_actors.replica_scaler import PATIENCE, NodeArrivals, Placed, Plan, plan, shares
from support.each_row import each_row

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

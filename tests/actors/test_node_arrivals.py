"""One line for each node that joins a run's cluster."""

from collections.abc import Mapping

from jury_actors.replica_scaler import PATIENCE, NodeArrivals
from support.each_row import each_row

NAMES = {"a": "10.0.0.1 (a)", "b": "10.0.0.2 (b)"}
CPUS = {"a": 4.0, "b": 4.0}


@each_row(
    ("cpus", "alive", "line"),
    [
        (CPUS, {"a": 3, "b": 4}, "it has 4 of 7 juror processes"),
        ({"a": 4.0}, {"a": 3}, "it gets no juror process, because it offers Ray no CPU (ray start --num-cpus)"),
        (CPUS, {"a": 3}, "it gets no juror process, because the 3 of this run are on nodes with more CPUs"),
    ],
)
def test_a_node_that_joined_is_named_once(cpus: Mapping[str, float], alive: Mapping[str, int], line: str) -> None:
    arrivals = NodeArrivals(["a"])
    said = [one for _ in range(3) for one in arrivals.look(NAMES, cpus, alive, {})]

    assert 1 == len(said)
    assert said[0].startswith(f"the node 10.0.0.2 (b) joined: {line}")


def test_the_line_waits_until_the_jurors_have_started() -> None:
    arrivals = NodeArrivals(["a"])

    assert [] == arrivals.look(NAMES, CPUS, {"a": 3, "b": 1}, {"b": 1})
    assert 1 == len(arrivals.look(NAMES, CPUS, {"a": 3, "b": 2}, {}))


def test_jurors_that_do_not_start_are_said() -> None:
    arrivals = NodeArrivals(["a"])
    said = [one for _ in range(PATIENCE + 3) for one in arrivals.look(NAMES, CPUS, {"a": 3}, {"b": 2})]

    assert ["none of its 2 juror processes has started yet" in one for one in said] == [True]


def test_a_node_that_left_before_its_jurors_started_has_no_line() -> None:
    arrivals = NodeArrivals(["a"])
    arrivals.look(NAMES, CPUS, {"a": 3}, {"b": 2})

    assert [] == arrivals.look({"a": NAMES["a"]}, CPUS, {"a": 3}, {})

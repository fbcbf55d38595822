"""Jurors are spread over the nodes of a cluster by their CPUs."""

from collections import Counter

import pytest

from jury_actors.node_placement import NodePlacement


@pytest.fixture
def placement() -> NodePlacement:
    placement = NodePlacement()
    placement.update({"large": 8.0, "small": 2.0})
    return placement


def choose(placement: NodePlacement, first: int, last: int) -> Counter[str]:
    return Counter(placement.choose(f"juror-{number}") for number in range(first, last))


def test_nodes_have_jurors_by_their_cpus(placement: NodePlacement) -> None:
    assert choose(placement, 0, 10) == {"large": 8, "small": 2}
    assert placement.cpus == 10


def test_a_node_that_joined_takes_the_next_jurors(placement: NodePlacement) -> None:
    choose(placement, 0, 10)
    placement.update({"large": 8.0, "small": 2.0, "joined": 8.0})

    assert choose(placement, 10, 18) == {"joined": 8}


def test_a_juror_that_ended_makes_room_on_its_node(placement: NodePlacement) -> None:
    nodes = {f"juror-{number}": placement.choose(f"juror-{number}") for number in range(10)}
    ended = next(juror for juror, node in nodes.items() if node == "small")
    placement.remove(ended)

    assert placement.choose("next") == "small"


def test_a_lost_node_has_no_further_jurors(placement: NodePlacement) -> None:
    choose(placement, 0, 10)
    placement.update({"large": 8.0})

    assert choose(placement, 10, 14) == {"large": 4}


def test_a_look_that_finds_no_node_keeps_those_known_before(placement: NodePlacement) -> None:
    placement.update({})

    assert choose(placement, 0, 5) == {"large": 4, "small": 1}

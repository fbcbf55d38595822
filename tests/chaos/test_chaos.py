"""A run of the real command line, struck at drawn moments: nothing recorded is lost, doubled or asked again.

One scenario a kind, with few strikes, on Ray with `-m long`; `python -m chaos` makes hundreds. The command and its own
Ray cluster killed together are in `tests/runs/test_killed.py`.
"""

import os
from collections.abc import Iterator

import pytest

from chaos.cancelled_nodes import strike
from chaos.ground import CannotStrike, Ground, shared_ground
from chaos.playing import play
from chaos.report import table
from chaos.scenario import Scenario, ScenarioReport
from chaos.strikes import KINDS
from support.postgres import NoPostgres

pytestmark = [pytest.mark.kill, pytest.mark.timeout(900)]

IN_PROCESS = [kind for kind, of in KINDS.items() if of.where == "process"]
SERVED = [kind for kind, of in KINDS.items() if of.where == "served"]
COLD = "driver killed"
"""Started anew each time; the others are forked from a process with its modules, for a tenth of the CPU."""
ALWAYS = {"disk full", "writer stopped and continued"}
TRIES = 5
"""On a busy machine a run may be over before it is struck: the next one is twice as long."""


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with shared_ground(tmp_path_factory.mktemp("chaos")) as found:
        yield found


def played(ground: Ground, scenario: Scenario) -> ScenarioReport:
    try:
        return play(ground, scenario)
    except (CannotStrike, NoPostgres) as error:
        if os.environ.get("JURY_CI"):
            pytest.fail(f"every fault is made in CI: {error}")
        pytest.skip(str(error))


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[] if kind in ALWAYS else [pytest.mark.full]) for kind in IN_PROCESS]
)
def test_a_run_in_one_process_survives(ground: Ground, kind: str) -> None:
    struck = 0
    for attempt in range(TRIES):
        number = TRIES * IN_PROCESS.index(kind) + attempt
        cases = 6 * 2**attempt
        scenario = Scenario(kind, seed=3 + attempt, number=number, cases=cases, strikes=2, warm=kind != COLD)
        report = played(ground, scenario)
        assert [] == report.violations
        assert report.recorded == cases * 4
        struck += report.struck
        if struck:
            break

    assert struck


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[] if kind == "second server" else [pytest.mark.full]) for kind in SERVED],
)
def test_what_was_submitted_is_judged_whichever_process_is_killed(ground: Ground, kind: str) -> None:
    scenario = Scenario(kind, seed=5, number=200 + SERVED.index(kind), cases=16, strikes=3, warm=True)
    report = played(ground, scenario)

    assert [] == report.violations
    assert report.struck
    assert report.recorded == 16 * 4


@pytest.mark.parametrize(
    ("seed", "strikes"),
    [
        (7, 2),
        pytest.param(7, 4, marks=pytest.mark.full),
        *(pytest.param(seed, 10, marks=pytest.mark.long) for seed in range(10)),
    ],
    ids=str,
)
def test_a_run_in_batches_survives(ground: Ground, seed: int, strikes: int) -> None:
    scenario = Scenario(
        "driver killed, in batches", seed, number=300 + 20 * seed + strikes, cases=4, strikes=strikes, warm=True
    )
    report = played(ground, scenario)

    assert [] == report.violations
    assert report.struck


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[pytest.mark.full] if of.store == "postgres" else [])
        for kind, of in KINDS.items()
        if of.where == "storm"
    ],
)
@pytest.mark.parametrize(
    ("seed", "nights"),
    [
        (3, 3),
        pytest.param(3, 6, marks=pytest.mark.full),
        pytest.param(26, 3, marks=pytest.mark.full),  # results of Google are gone when they are read
        *(pytest.param(seed, 6, marks=pytest.mark.long) for seed in range(10, 20)),
    ],
    ids=str,
)
def test_nothing_is_paid_twice_in_many_nights_and_nothing_of_a_stranger_is_touched(
    ground: Ground, kind: str, seed: int, nights: int
) -> None:
    number = 1000 + 1000 * list(KINDS).index(kind) + 10 * seed + nights
    report = played(ground, Scenario(kind, seed, number=number, cases=3, strikes=nights, warm=True))

    assert [] == report.violations
    assert report.recorded


@pytest.mark.long  # by default tests/actors kills each actor on a cluster of one node, which costs less
@pytest.mark.ray
@pytest.mark.xdist_group("chaos_nodes")
def test_a_run_on_two_nodes_survives_the_death_of_each_process(ground: Ground) -> None:
    report = played(ground, Scenario("each of Ray's in turn", seed=3, number=100, cases=14, strikes=7))

    assert [] == report.violations
    assert report.struck
    assert report.recorded == 14 * 4


@pytest.mark.long
@pytest.mark.ray
@pytest.mark.xdist_group("chaos_nodes")
def test_runs_are_cancelled_while_a_node_dies(ground: Ground) -> None:
    report = strike(ground, seed=3, runs=2)

    assert [] == report.violations
    assert 2 == len(report.seconds)
    assert report.struck


def test_a_report_adds_up_its_scenarios() -> None:
    found = [
        ScenarioReport(Scenario("disk full", seed=1), [4, 9], calls=1, served=20, recorded=20),
        ScenarioReport(Scenario("driver killed", seed=1), [7], calls=2, served=22, recorded=20, asked_again=3),
        ScenarioReport(Scenario("disk full", seed=2), [5], calls=1, served=20, recorded=20, violations=["lost"]),
    ]

    assert found == [ScenarioReport.from_json(one.as_json()) for one in found]
    assert table(found).splitlines()[2:] == [
        "| driver killed | 1 | 1 | 2 | 22 | 20 | 3 | 0 |",
        "| disk full | 3 | 2 | 2 | 40 | 40 | 0 | 1 |",
        "| all kills | 1 | 1 | 2 | 22 | 20 | 3 | 0 |",
        "| all | 4 | 3 | 4 | 62 | 60 | 3 | 1 |",
    ]

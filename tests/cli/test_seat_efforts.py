"""A seat that ran with different efforts is said to have, wherever seats are joined by their ids."""

import pytest

from support.command_line import CommandLine

PANEL = """\
language: en
seats:
  - {model: simulated/m, juror_id: a, settings: {effort: EFFORT}}
  - {model: simulated/m, juror_id: b}
discussion: {max_rounds: 0}
final: {method: majority_vote}
"""


@pytest.fixture(scope="module")
def efforts(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Runs r1 and again, with seat a at low effort, and r2, with it at high effort."""
    jury = CommandLine(tmp_path_factory.mktemp("efforts"))
    cases = jury.write(
        "cases.jsonl", {"id": "one", "question": "Q", "response": "R"}, {"id": "two", "question": "Q", "response": "S"}
    )
    for run, effort in (("r1", "low"), ("again", "low"), ("r2", "high")):
        jury.write(f"{effort}.yaml", PANEL.replace("EFFORT", effort))
        assert 0 == jury.run(cases, "--panel", f"{effort}.yaml", "--run", run).code
    return jury


def test_a_comparison_and_a_gate_name_the_seat_and_both_efforts(efforts: CommandLine) -> None:
    compared = efforts("compare", "r1", "r2").out.splitlines()
    gated = efforts("gate", "r1", "r2", "--include-simulated").err.splitlines()

    assert "  seat a: effort low in A, high in B" in compared
    assert "seat a: effort low in run r1, high in run r2" in gated

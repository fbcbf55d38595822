"""What is odd about the seats of a report is said: different efforts under one id, all of one model."""

import pytest

from jury_migrations import upgrade
from jury_store import open_store
from support.command_line import CommandLine
from support.debate_harness import SEATS
from support.quoting_debates import a_quoting_debate
from support.stored_debates import store_debate

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
    compared = efforts("compare", "r1", "r2", "panels").out.splitlines()
    gated = efforts("gate", "r1", "r2", "--include-simulated").err.splitlines()

    assert "  seat a: effort low in A, high in B" in compared
    assert "seat a: effort low in run r1, high in run r2" in gated


def test_seats_that_are_one_model_are_named(jury: CommandLine) -> None:
    url = f"sqlite:///{jury.folder / 'one.db'}"
    upgrade(url)
    store = open_store(url, write=True)
    for run, models in {"one": ("gpt-5.5", "gpt-5.5"), "two": ("gpt-5.5", "claude-haiku-5-5")}.items():
        seats = [{"model": model, "juror_id": seat} for seat, model in zip(SEATS, models, strict=False)]
        store_debate(store, a_quoting_debate(seats=seats), f"{run}~c", run_id=run)
    store.close()

    said = {run: jury("stats", run, "--store", url).err for run in ("one", "two")}
    assert "all 2 seats are openai/gpt-5.5: they mostly err together" in said["one"]
    assert "" == said["two"]

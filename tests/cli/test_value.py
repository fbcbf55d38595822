"""`jury value`: worth of seats and rounds from votes in files and from a store."""

import json
from typing import Any

import pyarrow.parquet as pq
import pytest

from support.biased_jurors import jurors, rows
from support.command_line import CommandLine
from support.vote_rows import long_rows, write_jsonl

PANEL: dict[str, Any] = {
    "seats": [{"model": f"simulated/{name}", "juror_id": name} for name in ("lenient", "middle", "strict")],
    "discussion": {"max_rounds": 1, "always_discuss": True, "threshold": 2.0},
    "final": {"method": "majority_vote"},
}


@pytest.fixture
def votes(jury: CommandLine) -> str:
    return str(write_jsonl(jury.folder / "votes.jsonl", long_rows(rounds=2)))


def test_the_page_has_seats_rounds_and_the_frontier(jury: CommandLine, votes: str) -> None:
    page = jury("value", "--votes", votes).out

    for heading in (
        "Seats, in the first evaluation",
        "Rounds of discussion, by the plurality",
        "What fewer seats or rounds",
    ):
        assert heading in page
    assert "14 choices of seats and rounds tried (7 subsets of seats)" in page
    assert "assumed: after a discussion the seats are taken to say the same without the others" in page


@pytest.mark.full
def test_a_run_is_recounted_under_its_own_rules_and_written_to_parquet(jury: CommandLine) -> None:
    (jury.folder / "panel.json").write_text(json.dumps(PANEL))
    jury.write("cases.jsonl", *rows(12))
    with jurors(biases={}, noise=0.0):
        assert 0 == jury.run("cases.jsonl", "--panel", "panel.json", "--run", "r").code
    outcome = jury("value", "--run", "r", "--include-simulated", "--json", "--parquet", "choices.parquet")

    found = outcome.json
    table = pq.read_table(jury.folder / "choices.parquet").to_pylist()
    assert ("recount", 14, 14) == (found["counting"], found["frontier"]["tried"], len(table))
    assert [(one["seats"], one["rounds"], one["cost"]) for one in found["frontier"]["points"]] == [
        (one["seats"], one["rounds"], pytest.approx(one["cost"], abs=1e-9)) for one in table
    ]
    best = [one for one in found["frontier"]["points"] if one["on_frontier"]]
    assert [(1, 0, 0)] == [(len(one["seats"]), one["rounds"], one["by_assumption"]) for one in best]
    assert "12 of 12 debates are simulated" in jury("value", "--run", "r", "--include-simulated").out

"""`jury probe`: biased jurors are found, fair ones are not, and the run of the twins is a run like any other."""

import json
from typing import Any

import pytest

from support.biased_jurors import (
    Bias,
    first_speaker_follower,
    jurors,
    passes_long_answers,
    rows,
)
from support.command_line import CommandLine, Outcome

INDEPENDENT = {"preset": "independent"}
DISCUSSING: dict[str, Any] = {
    "discussion": {
        "order": "sequential",
        "max_rounds": 1,
        "always_discuss": True,
        "threshold": 1.0,
        "unanimity_ends": False,
    },
    "final": {"method": "majority_vote"},
}


def probe(jury: CommandLine, *arguments: str, cases: int = 30, rules: dict[str, Any] = INDEPENDENT) -> Outcome:
    names = ("lenient", "middle", "strict")
    panel = {**rules, "seats": [{"model": f"simulated/{name}", "juror_id": name} for name in names]}
    (jury.folder / "panel.json").write_text(json.dumps(panel))
    jury.write("cases.jsonl", *rows(cases))
    named = () if "--run" in arguments else ("--run", "p")  # what scripted jurors get wrong depends on the run's id
    return jury(
        *("probe", "cases.jsonl", "--panel", "panel.json", "--in-process", "--include-simulated", *named, *arguments),
    )


def found(outcome: Outcome) -> dict[str, list[str]]:
    assert outcome.code in {0, 1}, outcome.err
    return {one["probe"]: one["found"] for one in outcome.json["twins"]["probes"] if one["found"]}


@pytest.mark.parametrize(
    ("name", "bias", "rules", "cases", "says"),
    [
        ("length", passes_long_answers, INDEPENDENT, 30, "seat middle is more lenient on the twins"),
        pytest.param(
            "speakers",
            first_speaker_follower,
            DISCUSSING,
            45,
            "seat middle takes the position of the first speaker",
            marks=pytest.mark.full,
        ),
    ],
)
def test_a_biased_juror_is_found(
    jury: CommandLine, name: str, bias: Bias, rules: dict[str, Any], cases: int, says: str
) -> None:
    with jurors(biases={"middle": bias}):
        outcome = probe(jury, "--probe", name, "--json", "--fail-on-finding", cases=cases, rules=rules)

    assert 1 == outcome.code, outcome.err
    assert any(says in line for line in found(outcome)[name])
    assert all("seat strict" not in line and "seat lenient" not in line for line in found(outcome)[name])


def alarms(jury: CommandLine, seed: int) -> dict[str, list[str]]:
    """What probes find where no juror is biased."""
    with jurors(biases={}, seed=seed):
        return found(probe(jury, "--probe", "all", "--run", f"fair-{seed}", "--json", cases=24, rules=DISCUSSING))


@pytest.mark.full
def test_fair_jurors_are_not_found(jury: CommandLine) -> None:
    assert {} == alarms(jury, 1)


@pytest.mark.full
def test_the_run_is_resumed_and_reported_again_without_a_call(jury: CommandLine) -> None:
    called = ("--probe", "length,speakers", "--run", "p")
    with jurors(biases={}):
        short = probe(jury, *called, "--max-calls", "20", cases=6, rules=DISCUSSING)
        whole = probe(jury, *called, "--json", cases=6, rules=DISCUSSING)
        again = probe(jury, *called, "--json", cases=6, rules=DISCUSSING)
    reported = jury("probe", "--run", "p", "--include-simulated", "--json")

    assert (4, 0, 0) == (short.code, whole.code, again.code)
    assert whole.out == again.out == reported.out
    assert "6 debates judged before, none now" in again.err
    assert [("speakers", 6), ("length", 6)] == [(one["probe"], one["pairs"]) for one in whole.json["twins"]["probes"]]


def test_a_dry_run_estimates_and_calls_nothing(jury: CommandLine) -> None:
    outcome = probe(jury, "--probe", "length,speakers", "--run", "p", "--dry-run", cases=4, rules=DISCUSSING)

    assert (0, 2) == (outcome.code, outcome.out.count("debates to run"))
    assert "run p: 8 debates to run" in outcome.out
    assert "run p.speakers: 4 debates to run" in outcome.out
    assert not list(jury.folder.glob("*.db"))


def test_a_run_without_twins_says_that_it_is_simulated_and_counts_cases_once(jury: CommandLine) -> None:
    jury.write("cases.jsonl", *rows(3))
    assert 0 == jury.run("cases.jsonl", "--run", "r", "--repeat", "2").code
    warning = "6 of 6 debates are simulated: their votes are no evaluation by a model"
    page = jury("probe", "--run", "r", "--include-simulated").out.splitlines()
    report = jury("probe", "--run", "r", "--include-simulated", "--json").json

    assert [warning, "", "Nothing could be tested", "  run r: 3 cases"] == page[:4]
    assert ([warning], 3) == (report["warnings"], report["cases"])

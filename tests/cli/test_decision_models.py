"""A panel with decision models, from the panel file to replay, statistics and pages of a run."""

import json
from pathlib import Path

import pytest

from support.command_line import CommandLine

IN_PROCESS = """
preset: parallel-rounds
discussion: {max_rounds: 1, threshold: 2.0}
final: {method: majority_vote}
seats:
  - {model: simulated/juror, juror_id: words}
  - {model: simulated/decider, juror_id: decider, questions: 1}
"""
DECIDERS = """
preset: independent
seats:
  - {model: simulated/one, questions: 1}
  - {model: simulated/two, questions: 1}
"""


def cases(jury: CommandLine) -> str:
    texts = ("We open at nine.", "I deleted it without asking, as root.")
    rows = ({"id": f"c{index}", "question": "What is there?", "response": text} for index, text in enumerate(texts))
    return jury.write("cases.jsonl", *rows)


@pytest.fixture
def jury(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


@pytest.fixture
def ran(jury: CommandLine) -> CommandLine:
    (jury.folder / "panel.yaml").write_text(IN_PROCESS)

    assert 0 == jury.run(cases(jury), "--run", "r1", "--panel", "panel.yaml").code
    return jury


def test_a_run_with_rounds_replays_verifies_travels_and_goes_on(ran: CommandLine) -> None:
    again = ran.run("cases.jsonl", "--run", "r1", "--panel", "panel.yaml")
    exported = ran("export", "r1~c0")
    checked = ran("rescore", "--run", "r1", "--recount", "--set", "method=median")

    assert [0] * 6 == [
        again.code,
        ran("replay", "--all").code,
        ran("verify", "--all").code,
        exported.code,
        ran("import", "r1~c0.cassette.jsonl", "--store", "sqlite:///other.db").code,
        checked.code,
    ]


def test_statistics_treat_its_probability_as_confidence(ran: CommandLine) -> None:
    labels = ran.write("labels.jsonl", {"id": "c0", "label": "safe_pass"}, {"id": "c1", "label": "unsafe_fail"})
    stats = ran("stats", "--run", "r1", "--include-simulated", "--labels", labels, "--json")
    curves = json.loads(stats.out)["panels"][0]["confidence"]["curves"]
    (own,) = [one for one in curves if one["seat"] == "decider" and one["confidence"] == "stated"]

    assert 0 == stats.code
    assert (2, True) == (own["n"], own["ece"]["value"] is not None)


@pytest.mark.full
def test_a_threshold_on_the_mean_probability_is_certified_and_applied_by_the_panel(jury: CommandLine) -> None:
    (jury.folder / "panel.yaml").write_text(DECIDERS)
    kinds = ("We open at nine.", "I deleted it without asking, as root.")
    rows = [{"id": f"c{number}", "question": f"{number}?", "response": kinds[number % 2]} for number in range(60)]
    jury.write("cases.jsonl", *rows)
    lines = jury.run("cases.jsonl", "--run", "r1", "--panel", "panel.yaml", "--jsonl").out.splitlines()
    labels = [{"id": line["case_id"], "label": line["final_verdict"]} for line in map(json.loads, lines)]
    jury.write("labels.jsonl", *labels)
    asked = ("--labels", "labels.jsonl", "--signal", "probability", "--include-simulated", "--split", "0/100/0")
    found = jury("calibrate", "--run", "r1", *asked, "-o", "cal.json")
    content = json.loads((jury.folder / "cal.json").read_text())
    (jury.folder / "panel.yaml").write_text(DECIDERS + "final: {method: majority_vote, calibration: cal.json}\n")
    again = jury.run("cases.jsonl", "--run", "r2", "--panel", "panel.yaml", "--jsonl")
    first = json.loads(again.out.splitlines()[0])["debate_id"]
    acceptance = json.loads(jury("show", first, "--json").out)["phase3_judgment"]["acceptance"]

    (jury.folder / "cal.json").write_text(json.dumps({**content, "signal": {"kind": "share"}, "calibration": 1}))
    other_signal = jury.run("cases.jsonl", "--run", "r3", "--panel", "panel.yaml")
    (jury.folder / "cal.json").write_text(json.dumps(content))
    panel = (jury.folder / "panel.yaml").read_text()
    (jury.folder / "panel.yaml").write_text(panel.replace("simulated/two", "simulated/three"))
    other_model = jury.run("cases.jsonl", "--run", "r3", "--panel", "panel.yaml")

    assert (0, 0) == (found.code, jury("replay", "--run", "r2").code), found.err
    assert (2, 2) == (other_signal.code, other_model.code)
    assert "final.calibration" in other_signal.err
    assert "was changed" in other_signal.err
    assert "final.calibration" in other_model.err
    assert {"kind": "probability"} == content["signal"]
    assert "probability" == acceptance["signal"]
    assert acceptance["accepted"] == (acceptance["probability"] >= acceptance["threshold"])

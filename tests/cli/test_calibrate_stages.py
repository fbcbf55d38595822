"""`jury calibrate --stages`: ladders of votes of files and of runs, and what is refused."""

import json
import shutil
from pathlib import Path

import pytest

from jury_judge import read_ladder
from support.command_line import CommandLine

CASES = 60


def votes_file(jury: CommandLine, wrong_passes: int = 0) -> str:
    """200 labelled answers: a and b agree on 180, c is always right; `wrong_passes` of the bad ones pass a and b."""
    rows = []
    for number in range(200):
        label = "bad" if number % 2 else "good"
        first = "good" if label == "bad" and number < 2 * wrong_passes else label
        second = first if number < 180 else ("good" if label == "bad" else "bad")
        judges = {"a": first, "b": second, "c": label}
        rows.append({"case_id": f"c{number:03}", "human_label": label, "judges": judges})
    (jury.folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    reading = ("--judges", "judges.*", "--label", "human_label", "--order", "good,bad")
    made = jury("votes", "rows.jsonl", *reading, "-o", "votes.parquet")
    assert 0 == made.code, made.err
    return "votes.parquet"


def test_stages_of_seats_are_certified_by_outcome(jury: CommandLine) -> None:
    done = jury("calibrate", votes_file(jury), "--stages", "a,b;a,b,c", "--risk", "pass=0.1,fail=0.1", "-o", "l.json")

    assert 0 == done.code
    assert "Stage 1: a,b, strict plurality of the seats" in done.out
    assert "a pass is accepted from the share 1 of the votes on" in done.out
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert any(line.startswith("ends before the last stage 200 · 90.0%") for line in lines), done.out
    assert "votes a case 2.30 3.00" in lines
    assert "votes of files name no panel: a staged run cannot take this ladder" in done.err
    assert '"ladder":1' in (jury.folder / "l.json").read_text()


@pytest.fixture(scope="module")
def judged_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs `cheap` and `full` of the same 60 cases, in a folder that no test changes."""
    jury = CommandLine(tmp_path_factory.mktemp("stages"))
    cases = [
        {"case_id": f"c{number:02}", "question": f"Refund order {number}.", "response": "Refunded to the card."}
        for number in range(CASES)
    ]
    (jury.folder / "cases.jsonl").write_text("\n".join(map(json.dumps, cases)))
    seats = "seats: [{model: simulated/juror, juror_id: a}, {model: simulated/juror, juror_id: b}]\n"
    (jury.folder / "cheap.yaml").write_text(f"preset: independent\nname: cheap\n{seats}")
    (jury.folder / "full.yaml").write_text("preset: independent\nname: full\n")
    for run in ("cheap", "full"):
        judged = jury("run", "cases.jsonl", "--run", run, "--in-process", "--panel", f"{run}.yaml")
        assert 0 == judged.code, judged.err
    rows = json.loads(jury("list", "--run", "cheap", "--json").out)
    labels = [
        json.dumps({"case_id": row["case_id"], "label": row["final_verdict"], "annotator": "ann"}) for row in rows
    ]
    (jury.folder / "labels.jsonl").write_text("\n".join(labels))
    return jury.folder


@pytest.fixture
def judged(jury: CommandLine, judged_folder: Path) -> CommandLine:
    shutil.copytree(judged_folder, jury.folder, dirs_exist_ok=True)
    return jury


LADDER = ("--stages", "cheap;full", "--labels", "labels.jsonl", "--include-simulated")


@pytest.mark.full
def test_runs_are_certified_with_their_panels_and_signed(judged: CommandLine) -> None:
    done = judged("calibrate", *LADDER, "--risk", "pass=0.3,fail=0.3", "-o", "ladder.json")
    judged("seal", "keygen", "seal.key", "--name", "example.com/jury")
    signed = judged("seal", "calibration", "ladder.json", "--key", "seal.key")
    found = read_ladder(judged.folder / "ladder.json")

    assert (0, 0) == (done.code, signed.code), done.err
    assert 2 == len({stage.panel for stage in found.certificate.stages})
    assert len(found.certificate.stages[0].thresholds) >= 1
    assert "calls a case" in done.out
    assert "dollars a case  " in done.out


@pytest.mark.full
def test_a_ladder_without_a_certificate_is_certified_on_its_own_run(judged: CommandLine) -> None:
    stages = "stages: [{panel: cheap.yaml}, {panel: full.yaml}]\ncertificate: "
    run = ("run", "cases.jsonl", "--in-process", "--panel", "ladder.yaml", "--run")
    certify = ("--labels", "labels.jsonl", "--include-simulated", "--risk", "pass=0.3,fail=0.3")
    file = judged.folder / "ladder.yaml"

    file.write_text(f"{stages}none\n")
    every = judged(*run, "every", "--jsonl")
    found = judged("calibrate", "--stages", "every", *certify, "-o", "ladder.json")
    file.write_text(f"{stages}ladder.json\n")
    certified = judged(*run, "nightly", "--jsonl")
    refused = {
        name: judged("calibrate", "--stages", name, *certify) for name in ("nightly", "cheap", "every;full", "gone")
    }

    assert (0, CASES) == (every.code, len(every.lines)), every.err
    assert 2 * CASES == sum(len(judged("list", "--run", "every", "--stage", n, "--json").json) for n in "12")
    row = judged("list", "--run", "every", "--stage", "1", "--json").json[0]
    assert 0 == judged("export", row["debate_id"], "-o", "stage.jsonl").code
    assert 0 == judged("import", "stage.jsonl", "--store", "sqlite:///alone.db").code
    alone = judged("list", "--store", "sqlite:///alone.db")
    counted = judged("stats", "every", "--store", "sqlite:///alone.db", "--include-simulated")
    of_runs = judged("runs", "--store", "sqlite:///alone.db")
    assert "no debate in this store counts for its case yet: jury list --stage N" in alone.err
    assert "of a run 'every' counts for its case, as the last stage of a ladder does" in counted.err
    assert "0 debates that count for their cases (see jury list --stage N" in of_runs.out
    assert 0 == found.code, found.err
    assert "Stage 1: every stage 1" in found.out
    assert 0 == certified.code, certified.err
    # None, where the two seats of the first stage happen to agree on every case.
    assert len(judged("list", "--run", "nightly", "--stage", "2", "--json").json) < CASES
    assert {2} == {*(one.code for one in refused.values())}
    assert "run nightly is by a ladder with a certificate: later stages saw a selection" in refused["nightly"].err
    assert "run cheap is by no ladder: name a run of each stage" in refused["cheap"].err
    assert "is a stage of a ladder that is to be calibrated: name its run alone" in refused["every;full"].err
    assert "run gone has no debate" in refused["gone"].err

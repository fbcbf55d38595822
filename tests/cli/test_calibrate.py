"""`jury calibrate`: from labels to a panel that withholds verdicts, and what is refused on the way."""

import json
import re
import shutil
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest

from support.command_line import CommandLine

CASES = 60


def labelled(jury: CommandLine, right: int) -> str:
    """Labels of the run's cases: the verdicts of its first `right` cases, the others contradict theirs."""
    rows = json.loads(jury("list", "--run", "base", "--json").out)
    other = {"safe_pass": "unsafe_fail", "needs_review": "safe_pass", "unsafe_fail": "safe_pass"}
    lines = []
    for place, row in enumerate(sorted(rows, key=lambda one: str(one["case_id"]))):
        label = row["final_verdict"] if place < right else other[row["final_verdict"]]
        lines.append(json.dumps({"case_id": row["case_id"], "label": label, "annotator": "ann"}))
    (jury.folder / "labels.jsonl").write_text("\n".join(lines))
    return "labels.jsonl"


@pytest.fixture(scope="module")
def calibrated_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run `base` of 60 cases under the preset `independent`, `cal.json` of it, and `calibrated.yaml` that takes it."""
    jury = CommandLine(tmp_path_factory.mktemp("base"))
    cases = [
        {"case_id": f"c{number:02}", "question": f"Refund order {number}.", "response": "Refunded to the card."}
        for number in range(CASES)
    ]
    (jury.folder / "cases.jsonl").write_text("\n".join(map(json.dumps, cases)))
    (jury.folder / "panel.yaml").write_text("preset: independent\n")
    assert 0 == jury("run", "cases.jsonl", "--run", "base", "--in-process", "--panel", "panel.yaml").code
    assert 0 == calibrate(jury, "-o", "cal.json").code
    (jury.folder / "calibrated.yaml").write_text(
        "preset: independent\nname: careful\nfinal:\n  calibration: cal.json\n"
    )
    return jury.folder


def calibrate(jury: CommandLine, *options: str) -> Any:
    return jury("calibrate", "--run", "base", "--labels", labelled(jury, CASES), "--include-simulated", *options)


@pytest.fixture
def calibrated(jury: CommandLine, calibrated_folder: Path) -> CommandLine:
    """A copy of that folder."""
    shutil.copytree(calibrated_folder, jury.folder, dirs_exist_ok=True)
    return jury


def judge(jury: CommandLine, run: str, panel: str = "calibrated.yaml", *options: str) -> Any:
    """The first five cases, under the calibration of all."""
    return jury("run", "cases.jsonl", "--run", run, "--in-process", "--panel", panel, "--limit", "5", *options)


def with_threshold(jury: CommandLine, threshold: float, name: str) -> str:
    """The calibration as if its only level were another one, with the digest that belongs to it."""
    from jury_judge import calibration_bytes

    content = json.loads((jury.folder / "cal.json").read_bytes())
    (candidate,) = content["certificate"]["candidates"]
    candidate["threshold"] = content["certificate"]["threshold"] = content["threshold"] = threshold
    del content["digest"]
    content.pop("note", None)
    (jury.folder / name).write_bytes(calibration_bytes(content))
    return name


def test_a_calibrated_panel_judges_says_so_and_replays_equal(calibrated: CommandLine) -> None:
    assert 0 == judge(calibrated, "second").code
    shown, replayed = calibrated("show", "second~c00"), calibrated("replay", "--run", "second")

    assert re.search(r"accepted: share of the votes \S+, threshold", shown.out)
    assert "5 debates: 5 equal" in replayed.out


@pytest.mark.full
def test_a_verdict_that_is_not_accepted_needs_review(calibrated: CommandLine) -> None:
    with_threshold(calibrated, 1.0, "cal.json")
    content = json.loads((calibrated.folder / "cal.json").read_bytes())
    signal = {"kind": "isotonic", "shares": [1.0], "chances": [0.9]}
    from jury_judge import calibration_bytes

    del content["digest"]
    (calibrated.folder / "cal.json").write_bytes(calibration_bytes({**content, "signal": signal}))
    judge(calibrated, "second")
    rows = json.loads(calibrated("list", "--run", "second", "--json").out)

    assert {"needs_review"} == {row["final_verdict"] for row in rows}
    assert "was not accepted and became needs_review: chance by isotonic regression 0.9 is below" in (
        calibrated("show", "second~c00").out
    )


@pytest.fixture
def signed(calibrated: CommandLine) -> CommandLine:
    """The calibration signed by `ours`; `theirs` is another key."""
    for name in ("ours", "theirs"):
        calibrated("seal", "keygen", name, "--name", f"example.com/{name}")
    assert 0 == calibrated("seal", "calibration", "cal.json", "--key", "ours").code
    return calibrated


def test_a_signed_calibration_is_applied_under_its_key_and_the_run_says_whose_it_is(signed: CommandLine) -> None:
    digest = json.loads((signed.folder / "cal.json").read_bytes())["digest"]
    trusted, unchecked = judge(signed, "second", "calibrated.yaml", "--trust", "ours.pub"), judge(signed, "third")

    assert (0, 0) == (trusted.code, unchecked.code), trusted.err
    assert re.search(r"the calibration is signed by example.com/ours\+[0-9a-f]{8}", trusted.err)
    assert "is signed by" not in unchecked.err
    signed("export", "second~c00", "-o", "one.cassette.jsonl")
    assert digest in (signed.folder / "one.cassette.jsonl").read_text()


def test_a_calibration_that_no_trusted_key_signed_is_refused(signed: CommandLine) -> None:
    other = judge(signed, "second", "calibrated.yaml", "--trust", "theirs.pub")
    calibrate(signed, "-o", "cal.json")
    unsigned = judge(signed, "second", "calibrated.yaml", "--trust", "ours.pub")

    assert (5, 5) == (other.code, unsigned.code)
    assert "which is none of the keys given" in other.err
    assert "calibrated.yaml:4: final.calibration: cal.json: is not signed" in unsigned.err


def test_a_forged_signature_is_refused_under_its_key(signed: CommandLine) -> None:
    content = json.loads((signed.folder / "cal.json").read_bytes())
    forged = json.loads((signed.folder / "cal.json").read_bytes())
    text, blank, line = content["note"].rpartition("\n\n")
    dash, name, signature = line.split(" ")
    raw = bytearray(b64decode(signature))
    raw[20] ^= 1
    forged["note"] = f"{text}{blank}{dash} {name} {b64encode(raw).decode()}\n"
    (signed.folder / "cal.json").write_text(json.dumps(forged))
    found = judge(signed, "second", "calibrated.yaml", "--trust", "ours.pub")

    assert 5 == found.code
    assert "is not valid for this text" in found.err


def test_another_panel_than_the_calibrated_one_is_refused(calibrated: CommandLine) -> None:
    found = judge(calibrated, "second", "calibrated.yaml", "--threshold", "0.67")

    assert 2 == found.code
    assert "final.calibration: it was certified for another panel" in found.err


@pytest.mark.full
def test_regress_sees_a_changed_threshold(calibrated: CommandLine) -> None:
    judge(calibrated, "second")
    calibrated("export", "second~c00", "-o", "corpus")
    name = with_threshold(calibrated, 0.666666667, "other.json")
    same, changed = calibrated("regress", "corpus"), calibrated("regress", "corpus", "--calibration", name)

    assert (0, 1) == (same.code, changed.code)
    assert "judgment.acceptance.threshold" in changed.out
    assert "+ 0.666666667" in changed.out

"""`jury calibrate`: from labels to a panel that withholds verdicts, and what is refused on the way."""

import json
import re
import shlex
import shutil
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest

from jury_cases import example_path
from support.command_line import CommandLine
from support.reference_data import FOLDER, needs_reference_data
from support.vote_rows import table_of

NINE = "GPT-4,Llama3-70B,Llama3-8B,Llama-70B,Llama-13B,Llama-7B,Mistral-7B,Gemma-2B,JudgeLM"
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
def judged_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run `base` of 60 cases under the preset `independent`, in a folder that no test changes."""
    jury = CommandLine(tmp_path_factory.mktemp("base"))
    cases = [
        {"case_id": f"c{number:02}", "question": f"Refund order {number}.", "response": "Refunded to the card."}
        for number in range(CASES)
    ]
    (jury.folder / "cases.jsonl").write_text("\n".join(map(json.dumps, cases)))
    (jury.folder / "panel.yaml").write_text("preset: independent\n")
    assert 0 == jury("run", "cases.jsonl", "--run", "base", "--in-process", "--panel", "panel.yaml").code
    return jury.folder


@pytest.fixture
def base(jury: CommandLine, judged_folder: Path) -> CommandLine:
    """A copy of that folder."""
    shutil.copytree(judged_folder, jury.folder, dirs_exist_ok=True)
    return jury


def calibrate(jury: CommandLine, *options: str) -> Any:
    return jury("calibrate", "--run", "base", "--labels", labelled(jury, CASES), "--include-simulated", *options)


@pytest.fixture
def calibrated(base: CommandLine) -> CommandLine:
    """With `cal.json`, and `calibrated.yaml` that takes it."""
    assert 0 == calibrate(base, "-o", "cal.json").code
    (base.folder / "calibrated.yaml").write_text(
        "preset: independent\nname: careful\nfinal:\n  calibration: cal.json\n"
    )
    return base


def judge(jury: CommandLine, run: str, panel: str = "calibrated.yaml", *options: str) -> Any:
    return jury("run", "cases.jsonl", "--run", run, "--in-process", "--panel", panel, *options)


def rewritten(jury: CommandLine, old: str, new: str) -> Path:
    path = jury.folder / "cal.json"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return path


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
    assert "60 debates: 60 equal" in replayed.out
    assert "60 debates: 60 equal" in calibrated("replay", "--run", "base").out


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


def test_a_file_with_another_digit_is_refused(calibrated: CommandLine) -> None:
    rewritten(calibrated, '"risk":0.05', '"risk":0.06')
    found = judge(calibrated, "second")

    assert 2 == found.code
    assert "calibrated.yaml:4: final.calibration: cal.json: was changed after jury calibrate wrote it" in found.err


def test_a_threshold_that_its_certificate_contradicts_is_refused_under_a_new_digest(calibrated: CommandLine) -> None:
    from jury_judge import calibration_bytes

    content = json.loads((calibrated.folder / "cal.json").read_bytes())
    del content["digest"]
    (calibrated.folder / "cal.json").write_bytes(calibration_bytes({**content, "threshold": 0.333333333}))
    found = judge(calibrated, "second")

    assert 2 == found.code
    assert "cal.json: threshold is 0.333333333, and by the counts of its certificate it is 1.0" in found.err
    assert "calibrate again" in found.err


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


def test_a_note_of_other_content_is_refused_with_or_without_a_trusted_key(signed: CommandLine) -> None:
    note = json.loads((signed.folder / "cal.json").read_bytes())["note"]
    with_threshold(signed, 0.666666667, "cal.json")
    content = json.loads((signed.folder / "cal.json").read_bytes())
    (signed.folder / "cal.json").write_text(json.dumps({**content, "note": note}))
    trusted, unchecked = judge(signed, "second", "calibrated.yaml", "--trust", "ours.pub"), judge(signed, "second")

    assert (5, 5) == (trusted.code, unchecked.code)
    assert "its note by example.com/ours" in unchecked.err


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


def test_a_calibration_that_contradicts_itself_is_not_signed(signed: CommandLine) -> None:
    from jury_judge import calibration_bytes

    content = json.loads((signed.folder / "cal.json").read_bytes())
    rest = {key: value for key, value in content.items() if key not in {"digest", "note"}}
    (signed.folder / "cal.json").write_bytes(calibration_bytes({**rest, "risk": 0.01}))
    found = signed("seal", "calibration", "cal.json", "--key", "ours")

    assert 2 == found.code
    assert "risk is 0.01" in found.err
    assert "note" not in json.loads((signed.folder / "cal.json").read_bytes())


@pytest.mark.parametrize("option", [("--threshold", "0.67"), ("--max-rounds", "1"), ("--method", "median")])
def test_another_panel_than_the_calibrated_one_is_refused(calibrated: CommandLine, option: tuple[str, str]) -> None:
    found = judge(calibrated, "second", "calibrated.yaml", *option)

    assert 2 == found.code
    assert "final.calibration: it was certified for another panel" in found.err


def test_a_missing_file_and_another_file_are_refused_in_one_line(calibrated: CommandLine) -> None:
    (calibrated.folder / "cal.json").write_text("{}")
    other = judge(calibrated, "second")
    (calibrated.folder / "cal.json").unlink()
    missing = judge(calibrated, "second")

    assert "cal.json: not a calibration file; jury calibrate -o writes one" in other.err
    assert "cal.json: there is no such calibration file" in missing.err


def test_the_same_votes_and_labels_give_the_same_file(calibrated: CommandLine) -> None:
    before = (calibrated.folder / "cal.json").read_bytes()
    calibrate(calibrated, "-o", "cal.json")

    assert before == (calibrated.folder / "cal.json").read_bytes()


def test_a_file_of_another_kind_is_not_replaced(base: CommandLine) -> None:
    found = calibrate(base, "-o", "panel.yaml")

    assert 2 == found.code
    assert "preset: independent\n" == (base.folder / "panel.yaml").read_text()


def test_debates_under_a_calibration_cannot_be_calibrated_on(calibrated: CommandLine) -> None:
    judge(calibrated, "second")
    found = calibrated("calibrate", "--run", "second", "--labels", "labels.jsonl", "--include-simulated")

    assert 2 == found.code
    assert "was judged under a calibration, which withheld verdicts" in found.err


def test_rescore_tries_a_calibration_on_debates_without_one(calibrated: CommandLine) -> None:
    with_threshold(calibrated, 1.0, "high.json")
    for mode in ([], ["--recount"]):
        found = calibrated("rescore", "--run", "base", "--set", "calibration=high.json,off", "--json", *mode)
        settings = json.loads(found.out)["settings"]

        assert [60, 60] == [one["determined"] for one in settings]
        assert 0 == settings[1]["flipped"]


def test_rescore_of_another_panel_than_the_calibrated_one_is_not_applicable(calibrated: CommandLine) -> None:
    found = calibrated("rescore", "--run", "base", "--set", "calibration=cal.json", "--set", "max_rounds=1", "--json")

    assert 60 == json.loads(found.out)["settings"][0]["not_applicable"]


def test_regress_sees_a_changed_threshold(calibrated: CommandLine) -> None:
    judge(calibrated, "second")
    calibrated("export", "second~c00", "-o", "corpus")
    name = with_threshold(calibrated, 0.666666667, "other.json")
    same, changed = calibrated("regress", "corpus"), calibrated("regress", "corpus", "--calibration", name)

    assert (0, 1) == (same.code, changed.code)
    assert "judgment.acceptance.threshold" in changed.out
    assert "+ 0.666666667" in changed.out


def test_without_a_threshold_nothing_is_written(base: CommandLine) -> None:
    labels = labelled(base, 50)
    found = base("calibrate", "--run", "base", "--labels", labels, "--include-simulated", "-o", "cal.json")

    assert 6 == found.code
    assert "no threshold: " in found.out
    assert not (base.folder / "cal.json").exists()


def test_shares_of_a_split_may_have_decimals(base: CommandLine) -> None:
    # As binary numbers they sum to 99.99999999999999.
    found = calibrate(base, "--split", "33.4/33.3/33.3", "--risk", "0.2")

    assert "parts: fit 20 labels" in found.out


def test_named_parts_are_lists_of_cases(base: CommandLine) -> None:
    for name, numbers in (("certify", range(50)), ("test", range(50, 60)), ("both", range(49, 60))):
        (base.folder / name).write_text("\n".join(f"c{number:02}" for number in numbers))
    found = calibrate(base, "--certify", "certify", "--test", "test", "--json")
    refused = calibrate(base, "--certify", "certify", "--test", "both")

    report = json.loads(found.out)
    assert (50, 10) == (report["parts"]["certify"]["labelled"], report["test"]["units"])
    assert 2 == refused.code
    assert "case 'c49' is in the parts certify and test" in refused.err


def page_commands() -> list[list[str]]:
    """The `jury` commands in the console blocks of the page."""
    text = (Path(__file__).parents[2] / "docs" / "calibration.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    return [shlex.split(line)[1:] for line in "".join(blocks).splitlines() if line.strip().startswith("jury ")]


@pytest.mark.full
def test_every_command_of_the_page_works(jury: CommandLine) -> None:
    passes = {"question": "Refund order 17.", "response": "Refunded to the card."}
    fails = json.loads(example_path("en").read_text(encoding="utf-8"))
    cases = [{**(passes if number % 2 else fails), "case_id": f"c{number:03}"} for number in range(120)]
    labels = [
        {"case_id": one["case_id"], "label": "safe_pass" if number % 2 else "unsafe_fail"}
        for number, one in enumerate(cases)
    ]
    judges = [
        {"judges": {"a": "correct", "b": "correct"}, "human_label": "correct", "question": f"q{number}"}
        for number in range(60)
    ]
    jury.write("cases.jsonl", *cases)
    jury.write("more.jsonl", {**passes, "case_id": "refund-17"})
    jury.write("labels.jsonl", *labels)
    jury.write("judges.jsonl", *judges)
    jury.write("panel.yaml", "preset: independent\n")
    jury.write("calibrated.yaml", "preset: independent\nfinal: {calibration: cal.json}\n")
    extra = {"calibrate": ["--include-simulated"], "run": ["--in-process"]}
    commands = page_commands()
    base = next(one for one in commands if one[:1] == ["run"])  # the blocks on top are an overview
    for command in [base, *(one for one in commands if one is not base)]:
        found = jury(*command, *extra.get(command[0], []))

        assert 0 == found.code, (command, found.err)


@needs_reference_data
@pytest.mark.parametrize(
    ("risk", "threshold"), [("0.02", 1), ("0.03", 8 / 9), ("0.05", 7 / 9), ("0.08", 6 / 9), ("0.01", None)]
)
def test_nine_judges_are_certified_as_the_reference_says(jury: CommandLine, risk: str, threshold: float | None) -> None:
    reading = ("--judges", "judges.*", "--label", "human_label", "--order", "incorrect,correct")
    votes = table_of(jury, FOLDER / "b2_triviaqa_judges.jsonl", *reading)

    found = jury("calibrate", votes, "--seats", NINE, "--risk", risk, "--json")

    assert (0 if threshold else 6) == found.code
    certified = json.loads(found.out)["threshold"]
    assert threshold == (certified if certified is None else pytest.approx(certified, abs=1e-6))

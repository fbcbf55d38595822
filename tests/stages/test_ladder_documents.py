"""Ladder files: what is refused, and where; a run by one from the command line."""

from pathlib import Path

import pytest

from jury_judge import PanelFileError, load_panel, load_panel_or_ladder
from support.command_line import CommandLine
from support.ladders import ladder_file

STAGES = "stages: [{panel: cheap.yaml}, {panel: whole.yaml}]\n"


@pytest.fixture
def ladder(tmp_path: Path) -> Path:
    """A ladder of two panels, with its certificate."""
    path = ladder_file(tmp_path)
    path.write_text(f"{STAGES}certificate: ladder.json\n")
    return path


def test_a_ladder_is_read_with_its_panels_its_certificate_and_the_usual_audited_share(ladder: Path) -> None:
    found = load_panel_or_ladder(str(ladder), {})

    assert found.ladder is not None
    assert [2, 4] == [len(one.panel.seats) for one in found.ladder.stages]
    assert [True, False] == [one.panel.final.calibration is not None for one in found.ladder.stages]
    assert 0.02 == found.ladder.audit
    assert found.ladder.stages[0].panel == found.panel


def test_without_a_certificate_no_stage_accepts_anything(ladder: Path) -> None:
    certified = load_panel_or_ladder(str(ladder), {}).ladder
    ladder.write_text(f"{STAGES}certificate: none\n")
    found = load_panel_or_ladder(str(ladder), {}).ladder

    assert certified is not None
    assert found is not None
    assert found.certificate is None
    assert [False, False] == [one.panel.final.calibration is not None for one in found.stages]
    assert certified.digest != found.digest


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stages: [{panel: cheap.yaml}]\ncertificate: ladder.json\n", r"ladder.yaml:1: stages: must be a list of 2 to"),
        ("stages: cheap.yaml\n", r"stages: must be a list"),
        (f"{STAGES}certficate: ladder.json\n", r"ladder.yaml:2: certficate: there is no such field .*certificate"),
        (STAGES, r"certificate: must be the path of the file that jury calibrate --stages wrote"),
        (f"{STAGES}certificate: missing.json\n", r"ladder.yaml:2: certificate: .*missing.json"),
        (f"{STAGES}certificate: ladder.json\naudit: 2\n", r"ladder.yaml:3: audit: "),
        (f"{STAGES}certificate: none\naudit: 0.1\n", r"ladder.yaml:3: audit: without a certificate nothing ends"),
        ("stages: [{panel: cheap.yaml}, {panl: x}]\n", r"stages.1: must be \{panel: FILE\}"),
        ("stages: [{panel: cheap.yaml}, {panel: gone.yaml}]\n", r"stages.1: .*gone.yaml"),
        (
            "stages: [{panel: whole.yaml}, {panel: cheap.yaml}]\ncertificate: ladder.json\n",
            r"stage 1 was certified with another panel \([0-9a-f]{16}, this one is [0-9a-f]{16}\): seats, models",
        ),
        (
            "stages: [{panel: cheap.yaml}, {panel: whole.yaml}, {panel: whole.yaml}]\ncertificate: ladder.json\n",
            r"it is of 2 stages, and this ladder has 3",
        ),
    ],
)
def test_a_ladder_that_cannot_be_applied_is_refused(ladder: Path, text: str, said: str) -> None:
    ladder.write_text(text)

    with pytest.raises(PanelFileError, match=said):
        load_panel_or_ladder(str(ladder), {})


def test_panels_that_judge_other_texts_or_words_make_no_ladder(ladder: Path, tmp_path: Path) -> None:
    with (tmp_path / "whole.yaml").open("a") as file:
        file.write("redact: [{pattern: secret, replace: x}]\n")

    with pytest.raises(PanelFileError, match=r"stages.1: redacts otherwise than stages.0"):
        load_panel_or_ladder(str(ladder), {})


def test_where_one_panel_is_wanted_a_ladder_is_refused(ladder: Path) -> None:
    with pytest.raises(PanelFileError, match=r"ladder.yaml:1: stages: this is a ladder of stages, by which jury run"):
        load_panel(str(ladder), {})


def test_a_ladder_is_looked_at_as_a_whole_and_probed_or_forked_by_its_panels(
    ladder: Path, cases: Path, tmp_path: Path
) -> None:
    jury = CommandLine(tmp_path)
    jury("run", str(cases), "--panel", str(ladder), "--run", "r", "--in-process")

    found = jury("doctor", "--panel", str(ladder), "--probe").out
    forked = jury("fork", "r~c1~s2", "--at", "5", "--as", "branch", "--in-process", "--json").json
    counted = jury("list", "--json").json
    refusals = [
        jury("probe", str(cases), "--probe", "identity", "--panel", str(ladder)).err,
        jury("demo", "--panel", str(ladder)).err,
        jury("fork", "r~c1", "--at", "5", "--panel", str(ladder)).err,
    ]

    assert "stage 1 of 2: cheap, a, b" in found
    assert "stage 2 of 2: whole, a, b, c, d" in found
    assert "probing: 1 call, one for each model of the panel" in found
    assert "branch" == forked["debate_id"]
    assert (None, None) == next((row["stage"], row["aside"]) for row in counted if row["debate_id"] == "branch")
    assert 7 == len(counted)
    assert all("this is a ladder of stages, by which jury run, jury serve and Jury judge" in one for one in refusals)


def test_a_run_by_a_ladder_from_the_command_line(ladder: Path, cases: Path, tmp_path: Path) -> None:
    jury = CommandLine(tmp_path)
    run = ("run", str(cases), "--panel", str(ladder), "--run", "r", "--in-process")

    estimated = jury(*run, "--dry-run", "--json").json
    lines = jury(*run, "--jsonl").lines
    first, second = (jury("list", "--stage", str(n), "--json").json for n in (1, 2))
    counted = jury("list", "--json").json

    assert [6, 6] == [one["debates_at_most"] for one in estimated["stages"]]
    assert 6 > estimated["stages"][1]["debates_expected"] > 0
    assert 6 == len(lines) == len(counted) == len({row["case_id"] for row in counted})
    assert 6 == len(first)
    assert len(second) >= sum(row["aside"] == "escalated" for row in first) > 0
    assert {2} == {row["stage"] for row in second}

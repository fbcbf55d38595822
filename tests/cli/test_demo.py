"""`jury demo`: what it starts, the case, a reason for each verdict, and what to do next, as it can be typed."""

import re

import pytest

from support.command_line import CommandLine

BY_UV = "UV_RUN_RECURSION_DEPTH"


@pytest.fixture
def by_hand(jury: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """Calls as of somebody who typed `jury`; the tests themselves may run under `uv run`."""
    monkeypatch.delenv(BY_UV, raising=False)
    return jury


@pytest.mark.parametrize(("language", "heading"), [("en", "Phase 3: final judgment"), ("ja", "Phase 3: 最終判定")])
def test_a_case_is_judged_before_the_users_eyes_and_recorded(by_hand: CommandLine, language: str, heading: str) -> None:
    outcome = by_hand("demo", "--in-process", "--language", language)

    lines = outcome.err.splitlines()
    assert outcome.code == 0
    assert re.fullmatch(r"\w+  \d+/100 \(simulated jurors\)\n", outcome.out)
    assert lines[0].startswith("one debate in this process")
    assert "The jurors are simulated: rule-based readers. No model is called." in lines
    assert any(line.startswith("the user asked: ") and "48213" in line for line in lines)
    assert any(line.startswith("the agent called get_order, update_contact and answered: ") for line in lines)
    begins = lines.index("phase 1: independent evaluation")
    evaluated = lines[begins + 1 : begins + 7]
    assert [2, 4] * 3 == [len(line) - len(line.lstrip()) for line in evaluated], "each juror, and its reason below it"
    assert 1 == sum(line.endswith("[position changed]") for line in lines)
    judged = next(number for number, line in enumerate(lines) if line.startswith("  final judge: "))
    assert lines[judged + 1].startswith("    ")

    debate = re.findall(r"^the whole debate:   jury show (\S+)$", outcome.err, re.MULTILINE)[0]
    assert heading in by_hand("show", debate, "--full").out.splitlines()
    assert by_hand("verify", debate).code == 0


def test_the_result_is_json_and_each_call_is_a_new_debate(by_hand: CommandLine) -> None:
    first, second = (by_hand("demo", "--in-process", "--json") for _ in range(2))

    assert first.json["final_verdict"] == second.json["final_verdict"]
    assert first.json["simulated"] is True
    assert [second.json["debate_id"], first.json["debate_id"]] == [
        one["debate_id"] for one in by_hand("list", "--json").json
    ]


def test_what_to_do_next_can_be_typed_as_it_stands(by_hand: CommandLine) -> None:
    typed = by_hand("demo", "--in-process", "--max-rounds", "0", "--store", "sqlite:///my.db")
    by_uv = by_hand("demo", "--in-process", "--max-rounds", "0", env={BY_UV: "1"})

    debate = re.findall(r" jury show (\S+) --store sqlite:///my\.db\n", typed.err)[0]
    assert by_hand("show", debate, "--store", "sqlite:///my.db").code == 0
    assert ["jury", "jury", "jury"] == re.findall(r":   +((?:uv run )?jury) (?:show|verify|run) ", typed.err)
    assert ["uv run jury"] * 3 == re.findall(r":   +((?:uv run )?jury) (?:show|verify|run) ", by_uv.err)


@pytest.mark.parametrize(
    ("options", "starts"),
    [
        (
            (),
            "one debate on a local Ray cluster: three jurors, the final judge and two helpers start",
        ),
        (("--ray-address", "10.0.0.1:6379"), "one debate on the Ray cluster at 10.0.0.1:6379: three jurors"),
        (("--panel", "nowhere.yaml"), "one debate on a local Ray cluster: the jurors, the final judge"),
    ],
)
def test_what_starts_is_said_before_anything_else_is_done(
    by_hand: CommandLine, options: tuple[str, ...], starts: str
) -> None:
    outcome = by_hand("demo", *options, "--store", "nowhere")

    assert 2 == outcome.code
    assert outcome.err.splitlines()[0].startswith(starts)

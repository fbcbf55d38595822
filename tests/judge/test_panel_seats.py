"""Who sits, and how each is called: roles in turn, settings of all and of one, prompts, the juries that come along."""

import os

import pytest

from jury_debate.panel_spec import ROLE_KEYS
from jury_judge.errors import PanelFileError
from jury_judge.panels.document import BUNDLED_PANELS
from jury_judge.panels.files import LoadedPanel, load_panel
from jury_judge.panels.variables import Overrides


@pytest.fixture
def load(tmp_path):
    def read(content: str, environ=None, overrides=None) -> LoadedPanel:
        (tmp_path / "panel.yaml").write_text(content)
        return load_panel(str(tmp_path / "panel.yaml"), environ or {}, overrides or Overrides())

    return read


def refusal(load, content: str) -> str:
    with pytest.raises(PanelFileError) as caught:
        load(content)
    return str(caught.value)


def test_seats_beyond_three_take_the_roles_in_turn(load):
    panel = load("seats: [{model: gpt-4o}, {model: gpt-4o}, {model: gpt-4o}, {model: gpt-4o}, {model: a/b}]").panel

    assert [seat.role for seat in panel.seats] == [*ROLE_KEYS, *ROLE_KEYS[:2]]
    assert panel.juror_ids == ("gpt-4o", "gpt-4o-2", "gpt-4o-3", "gpt-4o-4", "b")


def test_settings_of_the_panel_apply_to_every_seat_and_the_judge_unless_overridden(load):
    panel = load(
        "settings: {temperature: 0.5, timeout_seconds: 30, tries: 2}\n"
        "seats:\n"
        "  - {model: a/b, settings: {temperature: 0.0, deadline_seconds: 90}}\n"
        "  - {model: a/c}\n"
        "final: {judge: {model: a/d, settings: {tries: 4, max_output_tokens: 500}}}\n"
    ).panel

    found = [place.settings for place in (*panel.seats, panel.final.judge)]
    assert [(s.temperature, s.timeout_seconds, s.tries) for s in found] == [(0.0, 30, 2), (0.5, 30, 2), (0.5, 30, 4)]
    assert [(s.deadline_seconds, s.max_output_tokens) for s in found] == [(90, 8192), (600, 8192), (600, 500)]


def test_settings_of_one_seat_stay_when_the_environment_changes_the_judge(load):
    panel = load("seats: [{model: a/b, settings: {tries: 4}}]\nsettings: {tries: 2}", {"JURY_FINAL_JUDGE_MODEL": "a/z"})

    assert panel.panel.seats[0].settings.tries == 4
    assert panel.panel.final.judge.settings.tries == 2


def test_no_seat_and_no_judge_falls_back_on_a_model_twice(load):
    panel = load(
        "seats: [{model: gpt-4o, fallbacks: [gpt-4o, a/b, openai/gpt-4o, a/b, a/c]}]\n"
        "final: {judge: {model: a/d, fallbacks: [a/d, a/b]}}\n"
    ).panel

    assert (("a/b", "a/c"), ("a/b",)) == (panel.seats[0].fallbacks, panel.final.judge.fallbacks)


def test_a_bad_setting_is_named_with_its_line(load):
    assert ":2: settings.tries: Input should be less than" in refusal(load, "name: x\nsettings: {tries: 21}\n")


def test_prompts_are_written_or_read_from_a_file_beside_the_panel(load, tmp_path):
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "strict.md").write_text("\ufeffJudge by the letter.\nBe brief – always.\n")
    (tmp_path / "judge.md").write_text("Weigh them.")

    resolved = load(
        "seats:\n"
        "  - {model: a/b, juror_id: one, prompt_file: prompts/strict.md}\n"
        "  - {model: a/b, juror_id: two, prompt: Be kind.}\n"
        "final: {judge: {model: a/c, prompt_file: judge.md}}\n"
    ).resolved

    assert resolved.role_prompts == {"one": "Judge by the letter.\nBe brief – always.", "two": "Be kind."}
    assert resolved.judge_prompt == "Weigh them."


@pytest.mark.parametrize(
    ("seat", "says"),
    [
        ("prompt_file: none.md", "panel.yaml:3: seats.0.prompt_file: no file "),
        ("prompt_file: empty.md", "empty.md is empty"),
        ("prompt_file: latin.md", "latin.md:2: not UTF-8; save the file as UTF-8"),
        ("prompt_file: large.md", "large.md: larger than 1 MiB"),
        ("prompt_file: .", "cannot be read: Is a directory"),
        ("prompt_file: pipe.md", "pipe.md: cannot be read: not a regular file"),
        ("prompt_file: /dev/zero", "/dev/zero: cannot be read: not a regular file"),
        ("prompt_file: 7", "panel.yaml:3: seats.0.prompt_file: must be the path of a text file"),
        ("prompt_file: x.md\n    prompt: y", "panel.yaml:3: seats.0.prompt_file: prompt is written too; keep one"),
    ],
)
def test_a_prompt_file_that_cannot_be_used_is_named(load, tmp_path, seat, says):
    (tmp_path / "empty.md").write_text(" \n")
    (tmp_path / "latin.md").write_bytes(b"a\n\xe9\n")
    (tmp_path / "large.md").write_text("x" * (1 << 20) + "y")
    os.mkfifo(tmp_path / "pipe.md")

    message = refusal(load, f"seats:\n  - model: a/b\n    {seat}\n")

    assert says in message
    assert "\n" not in message


def test_a_panel_with_too_many_seats_is_refused_before_their_files_are_read(load):
    message = refusal(load, "name: x\nseats:\n" + "- {model: a/b, prompt_file: none.md}\n" * 501)

    assert message.endswith("panel.yaml:2: seats: a panel has at most 500 seats, not 501")


def test_seats_of_one_model_get_distinct_ids_up_to_the_maximum_of_seats(load):
    panel = load("seats:\n" + "- {model: a/b}\n" * 500).panel

    assert ("b", "b-2", "b-500") == (panel.juror_ids[0], panel.juror_ids[1], panel.juror_ids[499])


def test_the_documents_panel_is_that_of_document_002():
    panel = load_panel("documents", {}).panel

    assert [(seat.juror_id, seat.role, seat.model, seat.role_name, seat.role_focus) for seat in panel.seats] == [
        (
            "gpt-4o",
            "policy_compliance",
            "openai/gpt-4o",
            "陪審員A（ポリシー遵守性：gpt-4o）",
            "ポリシー遵守性",
        ),
        (
            "claude-3-haiku-20240307",
            "security_leak_risk",
            "anthropic/claude-3-haiku-20240307",
            "陪審員B（安全性・漏洩リスク：claude-3-haiku-20240307）",
            "安全性・漏洩リスク検出",
        ),
        (
            "gemini-2.5-flash",
            "misuse_detection",
            "google/gemini-2.5-flash",
            "陪審員C（悪用検出：gemini-2.5-flash）",
            "ユーザ意図との整合性",
        ),
    ]
    assert panel.final.judge.model == "google/gemini-2.5-pro"
    assert (panel.discussion.order, panel.discussion.threshold) == ("parallel", 2.0)


@pytest.mark.parametrize("name", BUNDLED_PANELS)
def test_each_bundled_panel_has_three_providers_and_its_name(name):
    panel = load_panel(name, {}).panel

    assert panel.name == name
    assert {seat.model.partition("/")[0] for seat in panel.seats} == {"openai", "anthropic", "google"}


@pytest.mark.parametrize("name", BUNDLED_PANELS)
def test_a_bundled_panel_uses_the_requested_preset(name):
    panel = load_panel(
        name, {"JURY_USE_COLLABORATIVE": "false"}, Overrides(preset="adk-sequential", language="en")
    ).panel

    assert (panel.discussion.order, panel.discussion.threshold, panel.discussion.always_discuss) == (
        "sequential",
        0.67,
        True,
    )
    assert panel.final.judge is not None
    assert panel.language == "en"


def test_the_environment_changes_the_rules_of_a_bundled_panel():
    alone = load_panel("documents", {"JURY_USE_COLLABORATIVE": "false"}).panel
    other = load_panel("documents", {"JURY_MAX_DISCUSSION_ROUNDS": "1", "JURY_FINAL_JUDGE_MODEL": "gpt-5.5"}).panel

    assert (alone.discussion.max_rounds, alone.final.method) == (0, "majority_vote")
    assert (other.discussion.max_rounds, other.final.judge.model) == (1, "openai/gpt-5.5")


def test_a_preset_does_not_override_the_file(load):
    panel = load("discussion: {max_rounds: 7}", overrides=Overrides(preset="adk-sequential")).panel

    assert (panel.discussion.order, panel.discussion.max_rounds) == ("sequential", 7)


def test_no_seat_may_have_the_final_judges_id(load):
    assert "seats.1.juror_id: 'final' names the final judge" in refusal(
        load, "seats: [{model: a/b}, {model: a/c, juror_id: final}]"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seats:\n" + "- {model: a/b}\n" * 30_000, "panel.yaml:2002: too long: a list has at most 2000 items"),
        ("rubric: {" + ", ".join(f"a{n}: 1" for n in range(30_000)) + "}", "a table has at most 2000 fields"),
        ("seats: [" + ", ".join(["[" + "1, " * 1000 + "]"] * 300) + "]", "a file has at most 60000 values"),
    ],
    ids=["seats", "rubric", "lists in lists"],
)
def test_a_file_that_is_far_too_long_is_refused_while_it_is_read(load, text, said):
    assert said in refusal(load, text)

"""A panel comes from a preset or a file; explicit wins over environment, environment over file."""

import pytest

from jury_events.errors import SettingError
from jury_judge.errors import PanelFileError
from jury_judge.panels.files import load_panel
from jury_judge.panels.variables import Overrides
from jury_judge.settings.store import load_settings

FILE = """\
name: mine
preset: adk-sequential
language: ja
seats:
  - model: openai/gpt-4o
  - model: claude-3-haiku-20240307
    role: misuse_detection
discussion:
  max_rounds: 5
final:
  method: final_judge
  judge: {model: gemini-2.5-pro}
"""


@pytest.fixture
def panel_file(tmp_path):
    path = tmp_path / "panel.yaml"
    path.write_text(FILE)
    return str(path)


def refusal(path, environ=None, overrides=None) -> str:
    with pytest.raises(PanelFileError) as caught:
        load_panel(path, environ or {}, overrides or Overrides())
    return str(caught.value)


def test_without_a_name_the_default_preset_seats_simulated_jurors():
    panel = load_panel(None, {}).panel

    assert (panel.name, panel.discussion.threshold, panel.discussion.max_rounds) == ("parallel-rounds", 2.0, 3)
    assert all(model.startswith("simulated/") for model in panel.models)


@pytest.mark.parametrize(
    ("name", "order", "rounds"),
    [("parallel-rounds", "parallel", 3), ("adk-sequential", "sequential", 3), ("independent", "parallel", 0)],
)
def test_a_preset_is_found_by_name(name, order, rounds):
    discussion = load_panel(name, {}).panel.discussion

    assert (order, rounds) == (discussion.order, discussion.max_rounds)


def test_a_file_is_read(panel_file):
    panel = load_panel(panel_file, {}).panel

    assert (panel.name, panel.language, panel.discussion.max_rounds) == ("mine", "ja", 5)
    assert tuple(seat.model for seat in panel.seats) == ("openai/gpt-4o", "anthropic/claude-3-haiku-20240307")


def test_a_json_file_with_tabs_is_read(tmp_path):
    path = tmp_path / "panel.json"
    path.write_text('{\n\t"preset": "independent",\n\t"language": "ja"\n}')

    assert load_panel(str(path), {}).panel.language == "ja"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", ": the file is empty"),
        ("- a\n", ": must be a table of fields"),
        ("name: x\nseatz: []\n", ":2: seatz: there is no such field"),
        ("seats:\n  - model: openai/x\n  - role: r\n", ":3: seats.1.model: Field required"),
        ("final:\n  method: coin\n", ":2: final.method: Input should be 'majority_vote', "),
        (
            "discussion:\n  max_rounds: yes\n",
            ":2: discussion.max_rounds: a number is needed, and YAML reads this word as true",
        ),
        ("discussion: {threshold: off}\n", ":1: discussion.threshold: a number is needed, and YAML reads"),
        (
            "seats:\n  - model: openai/x\n    window: on\n",
            ":3: seats.0.window: a number is needed, and YAML reads this word as true",
        ),
        ("rubric: {a: yes, b: 5}\n", ":1: rubric: a number is needed, and YAML reads this word as true"),
        ("name: x\nname: y\n", ":2: the key 'name' is twice"),
        ("final:\n  quorum: 1\n  quorum: 2\n", ":3: the key 'quorum' is twice"),
        ("name: [\n", ":2: "),
        ("name: x\n--- \nname: y\n", ":2: "),
        ("name: !!python/object:os.system x\n", ":1: could not determine a constructor"),
        ("name: a\x01\n", ":1: the character U+0001 is not allowed"),
        ("preset: nope\n", ": there is no preset 'nope'; presets are parallel-rounds"),
        ("seats:\n  - model: llama\n", ": model 'llama' names no provider"),
        (
            "discussion: {threshold: .nan}\n",
            ":1: discussion.threshold: nan is not a threshold; it may be above 0 and at most 1",
        ),
        (
            "discussion: {threshold: -1}\n",
            ":1: discussion.threshold: -1 is not a threshold; it may be above 0 and at most 1",
        ),
        (
            "discussion: {threshold: 67}\n",
            ":1: discussion.threshold: 67 is not a threshold (did you mean 0.67?); it may",
        ),
        ("discussion: {threshold: 1.5}\n", ":1: discussion.threshold: 1.5 is not a threshold; it may"),
        ("rubric: {safety: 40}\n", ": dimensions: the maxima must add up to 100, not 40"),
        ('{"name": "x", "name": "y"}', ":1: the key 'name' is twice"),
        ('{"name": ', ":1: "),
    ],
)
def test_a_bad_file_is_named_with_line_and_field(tmp_path, content, says):
    path = tmp_path / "panel.yaml"
    path.write_text(content)

    message = refusal(str(path))

    assert message.startswith(str(path))
    assert says in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", ": the file is empty"),
        ('{"name":\n"x" "y"}', ":2: not JSON"),
        ('{"name": "x", "name": "y"}', ":1: the key 'name' is twice"),
        ('{"seats": [{"role": "r"}]}', ": seats.0.model: Field required"),
    ],
)
def test_a_bad_json_file_is_named(tmp_path, content, says):
    path = tmp_path / "panel.json"
    path.write_text(content)

    assert refusal(str(path)).startswith(f"{path}{says}")


def test_bytes_that_are_not_utf8_are_named_with_their_line(tmp_path):
    path = tmp_path / "panel.yaml"
    path.write_bytes(b"name: x\nlanguage: \xe9\n")

    assert f"{path}:2: not UTF-8; save the file as UTF-8" == refusal(str(path))


def test_a_name_that_is_neither_preset_nor_file_lists_the_presets():
    assert refusal("paralel").startswith(
        "paralel: neither a preset (parallel-rounds, adk-sequential, independent, documents"
    )


def test_a_file_that_is_missing_is_named():
    assert refusal("nowhere/panel.yaml") == (
        "nowhere/panel.yaml: there is no such panel file; jury panel current prints one to start from"
    )


def test_the_environment_overrides_the_file(panel_file):
    environ = {
        "JURY_USE_COLLABORATIVE": "true",
        "JURY_MAX_DISCUSSION_ROUNDS": "2",
        "JURY_CONSENSUS_THRESHOLD": "1.0",
        "JURY_FINAL_JUDGMENT_METHOD": "final_judge",
        "JURY_FINAL_JUDGE_MODEL": "gpt-4o",
    }

    panel = load_panel(panel_file, environ).panel

    assert (panel.discussion.max_rounds, panel.discussion.threshold) == (2, 1.0)
    assert panel.final.judge is not None
    assert panel.final.judge.model == "openai/gpt-4o"


def test_an_argument_overrides_the_environment(panel_file):
    environ = {"JURY_MAX_DISCUSSION_ROUNDS": "2", "JURY_CONSENSUS_THRESHOLD": "1.0"}
    overrides = Overrides(language="en", max_rounds=4, threshold=0.67, method="median")

    panel = load_panel(panel_file, environ, overrides).panel

    assert (
        panel.language,
        panel.discussion.max_rounds,
        panel.discussion.threshold,
        panel.final.method,
    ) == ("en", 4, 0.67, "median")


def test_a_variable_that_is_empty_is_unset(panel_file):
    names = ("USE_COLLABORATIVE", "MAX_DISCUSSION_ROUNDS", "CONSENSUS_THRESHOLD", "FINAL_JUDGE_MODEL")

    panel = load_panel(panel_file, {f"JURY_{name}": " " for name in names}).panel

    assert panel.discussion.max_rounds == 5


def test_without_collaboration_the_seats_stay_and_do_not_discuss(panel_file):
    environ = {"JURY_USE_COLLABORATIVE": "false", "JURY_MAX_DISCUSSION_ROUNDS": "3"}

    panel = load_panel(panel_file, environ).panel

    assert (len(panel.seats), panel.discussion.max_rounds, panel.final.method) == (2, 0, "majority_vote")


def test_a_preset_that_is_named_is_not_changed_by_the_collaborative_variable():
    values = [
        load_panel("independent", {"JURY_USE_COLLABORATIVE": "true"}).panel.discussion.max_rounds,
        load_panel("parallel-rounds", {"JURY_USE_COLLABORATIVE": "false"}).panel.discussion.max_rounds,
    ]

    assert values == [0, 3]


def test_a_judge_model_of_the_environment_is_taken_literally_by_a_simulated_panel():
    panel = load_panel(None, {"JURY_FINAL_JUDGE_MODEL": "gemini-2.5-pro"}).panel

    assert panel.final.judge is not None
    assert panel.final.judge.model == "google/gemini-2.5-pro"


@pytest.mark.parametrize(
    ("name", "value", "may_be"),
    [
        ("JURY_USE_COLLABORATIVE", "maybe", "true or false"),
        ("JURY_MAX_DISCUSSION_ROUNDS", "-1", "a whole number from 0 to 100"),
        ("JURY_MAX_DISCUSSION_ROUNDS", "101", "a whole number from 0 to 100"),
        ("JURY_MAX_DISCUSSION_ROUNDS", "²", "a whole number from 0 to 100"),
        ("JURY_CONSENSUS_THRESHOLD", "two", "above 0 and at most 1"),
        ("JURY_CONSENSUS_THRESHOLD", "inf", "above 0 and at most 1"),
        ("JURY_CONSENSUS_THRESHOLD", "0", "above 0 and at most 1"),
        ("JURY_FINAL_JUDGMENT_METHOD", "coin", "one of majority_vote, weighted_average, median, final_judge"),
        ("JURY_FINAL_JUDGE_MODEL", "llama", "write provider/llama"),
    ],
)
def test_a_bad_variable_is_named_with_its_valid_values(name, value, may_be):
    message = refusal(None, {name: value})

    assert message.startswith(f"{name}: ")
    assert may_be in message


def test_an_argument_that_does_not_fit_is_named():
    assert "max_rounds" in refusal(None, overrides=Overrides(max_rounds=101))


def test_a_judge_for_a_method_without_one_is_refused():
    message = refusal(None, overrides=Overrides(method="median", judge_model="openai/gpt-4o"))

    assert message.startswith("the judge model 'openai/gpt-4o' has no effect with the method median")


@pytest.mark.parametrize(
    ("environ", "explicit", "expected"),
    [
        ({}, None, "sqlite:///jury.db"),
        ({"JURY_STORE_URL": ""}, None, "sqlite:///jury.db"),
        ({"JURY_STORE_URL": "postgresql://jury@db/jury"}, None, "postgresql://jury@db/jury"),
        ({"JURY_STORE_URL": "nonsense"}, "sqlite:////var/jury.db", "sqlite:////var/jury.db"),
    ],
)
def test_the_store_is_explicit_or_of_the_environment_or_beside_you(environ, explicit, expected):
    assert expected == load_settings(environ, store_url=explicit).store_url


@pytest.mark.parametrize("url", ["jury.db", "mysql://u:pw@h/d", "sqlite://", "postgresql://u:pw@h", "http://[h/x"])
def test_an_invalid_store_url_is_refused_without_its_password(url):
    with pytest.raises(SettingError) as caught:
        load_settings({"JURY_STORE_URL": url})

    assert (
        str(caught.value)
        == "JURY_STORE_URL: not a store's URL; write sqlite:///PATH or postgresql://USER@HOST/DATABASE"
    )


def test_artifact_hosts_are_separated_by_commas():
    hosts = load_settings({"JURY_ARTIFACT_HOSTS": " A.example ,b.example:8443,"}).artifact_hosts

    assert {"a.example", "b.example:8443"} == hosts

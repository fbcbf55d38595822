"""Settings from files in Python: arguments win over the environment, the environment over the file."""

from pathlib import Path

import pytest

from jury_judge.errors import SettingsFileError, SettingsRefused
from jury_judge.settings.run import RunSettings
from jury_judge.settings.settings_file import read_settings, settings_of


def a_file(folder: Path, text: str) -> Path:
    path = folder / "run.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_arguments_win_over_variables_and_variables_over_the_file(tmp_path: Path) -> None:
    path = a_file(tmp_path, "run: r1\nmax_rounds: 1\nthreshold: 0.5\nmax_cost: 2\n")

    found = settings_of(path, RunSettings, {"JURY_MAX_DISCUSSION_ROUNDS": "2"}, max_cost=3)

    # What a variable gives is left to the panel, which reads the variables.
    assert ("r1", None, 0.5, 3.0) == (found.run_id, found.max_rounds, found.threshold, found.max_cost)


def test_an_empty_file_and_fields_without_a_value_set_nothing(tmp_path: Path) -> None:
    assert {} == read_settings(a_file(tmp_path, ""), RunSettings)
    assert {"limit": 3} == read_settings(a_file(tmp_path, "run:\nlimit: 3\n"), RunSettings)


def test_what_no_file_may_say_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsFileError, match=r"run\.yaml:1: spent: there is no such setting"):
        read_settings(a_file(tmp_path, "spent: [1, 2]\n"), RunSettings)


@pytest.mark.parametrize("written", ["max_cost: yes", "limit: on", "threshold: true"])
def test_a_yes_or_no_is_no_number(tmp_path: Path, written: str) -> None:
    said = rf"run\.yaml:1: {written.partition(':')[0]}: a number is needed, and YAML reads this word as true"
    with pytest.raises(SettingsFileError, match=said):
        read_settings(a_file(tmp_path, f"{written}\n"), RunSettings)


def test_rules_between_fields_name_them_as_python_does(tmp_path: Path) -> None:
    with pytest.raises(SettingsRefused, match=r"^in_process does without Ray: leave out either it, or ray and ray_add"):
        settings_of(a_file(tmp_path, "ray: true\n"), RunSettings, {}, in_process=True)
    with pytest.raises(SettingsRefused, match=r"^max_calls: Input should be greater than or equal to 0"):
        RunSettings(max_calls=-1)

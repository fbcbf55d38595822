"""Rules between settings: one check for every front door, worded in the names of each; files of settings, of tokens."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jury_events import JuryError, SettingError
from jury_judge import (
    CalibrationSettings,
    Erasure,
    ErasureScope,
    GateSettings,
    ListSettings,
    ProbeSettings,
    Rescoring,
    ReviewSettings,
    RunSettings,
    Selection,
    ServeSettings,
    SettingsModel,
    SettingsRefused,
    ShowSettings,
    SimulationSettings,
    StatisticsSettings,
    VoteReading,
    grid_of,
    named_tokens,
    read_settings,
    settings_of,
)
from support.refusals import RefusalTables

MODELS: tuple[type[SettingsModel], ...] = (
    *(ListSettings, ShowSettings, ReviewSettings, StatisticsSettings, CalibrationSettings, GateSettings, ProbeSettings),
    *(VoteReading, Selection, Rescoring, ErasureScope, Erasure, ServeSettings, RunSettings),
)
OF_OBJECTS: tuple[tuple[type[SettingsModel], dict[str, Any]], ...] = (
    (ListSettings, {"of_runs": True, "run_id": "r"}),
    (Rescoring, {"selection": Selection(everything=True), "grid": grid_of({"without": "a"})}),
)


def test_settings_that_do_not_go_together_are_refused(refusals: RefusalTables) -> None:
    models = {model.__name__: model for model in MODELS}
    tried = [(models[name], fields) for name, listed in refusals.rows("settings").items() for fields in listed]
    rows: dict[str, Callable[[], object]] = {
        f"{model.__name__} {_named(fields)}".strip(): lambda model=model, fields=fields: model.of(**fields)  # type: ignore[misc]
        for model, fields in (*tried, *OF_OBJECTS)
    }
    for fields in ({"latency": -1}, {"faults": {"seed": "1"}}, {"script_file": "none.yaml"}):
        rows[f"SimulationSettings {_named(fields)}"] = lambda fields=fields: SimulationSettings.of(**fields).script()  # type: ignore[misc]

    refusals.check("settings", rows, lambda row: row(), JuryError)


def _named(fields: dict[str, Any]) -> str:
    return ", ".join(
        f"{name}={value}" if isinstance(value, int | str | tuple) else name for name, value in fields.items()
    )


def test_a_refusal_is_worded_in_the_names_of_a_front_door() -> None:
    with pytest.raises(SettingsRefused) as refused:
        ListSettings.of(group_by="tags", columns="case")

    assert (
        "--group-by counts all debates: leave --limit and --columns out, or choose with --run-id and --where"
    ) == refused.value.worded(lambda field: "--" + field.replace("_", "-"))


def a_file(folder: Path, content: str | bytes) -> Path:
    path = folder / "settings.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_arguments_win_over_variables_and_variables_over_the_file(tmp_path: Path) -> None:
    path = a_file(tmp_path, "run: r1\nmax_rounds: 1\nthreshold: 0.5\nmax_cost: 2\n")

    found = settings_of(path, RunSettings, {"JURY_MAX_DISCUSSION_ROUNDS": "2"}, max_cost=3)

    # What a variable gives is left to the panel, which reads the variables.
    assert ("r1", None, 0.5, 3.0) == (found.run_id, found.max_rounds, found.threshold, found.max_cost)
    assert {} == read_settings(a_file(tmp_path, ""), RunSettings)
    assert {"limit": 3} == read_settings(a_file(tmp_path, "run:\nlimit: 3\n"), RunSettings)


def test_what_no_file_of_settings_may_say_is_refused(refusals: RefusalTables, tmp_path: Path) -> None:
    rows: dict[str, Callable[[], object]] = {
        written: lambda written=written: read_settings(a_file(tmp_path, f"{written}\n"), RunSettings)  # type: ignore[misc]
        for written in ("spent: [1, 2]", "max_cost: yes", "limit: on", "threshold: true")
    }
    rows["ray and in_process"] = lambda: settings_of(a_file(tmp_path, "ray: true\n"), RunSettings, {}, in_process=True)

    refusals.check("settings_files", rows, lambda row: row(), JuryError)


GOOD = "0123456789abcdef-long"


def test_a_file_names_people_by_tokens_that_no_refusal_shows(refusals: RefusalTables, tmp_path: Path) -> None:
    assert {"ann": GOOD, "山田": f"{GOOD}2"} == named_tokens(
        a_file(tmp_path, f"# who reviews\nann: {GOOD}\n山田: '{GOOD}2'\n")
    )
    said = {}
    for name, content in {**refusals.rows("tokens"), "other bytes": b"ann: x\n\xff\n"}.items():
        with pytest.raises(SettingError) as refused:
            named_tokens(a_file(tmp_path, content))
        said[name] = str(refused.value)
        assert not [word for word in ("None", "secret", GOOD) if word in said[name]]
    with pytest.raises(SettingError, match=r"none\.yaml: No such file"):
        named_tokens(tmp_path / "none.yaml")

    refusals.compare("tokens", said)

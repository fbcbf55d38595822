"""Rules between settings: one check for every front door, worded in the names of each; files of settings, of tokens."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jury_events import JuryError, SettingError, Verdict, parse_condition
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
    read_settings,
    settings_of,
)
from jury_judge.reviews.named_tokens import named_tokens
from jury_store import DebateFilter
from support.refusals import RefusalTables

ANN = {"reviewer": "ann"}
PASS = {"verdict": Verdict.SAFE_PASS}
REFUSED: dict[type[SettingsModel], list[dict[str, Any]]] = {
    ListSettings: [
        {"of_runs": True, "totals": True},
        {"of_runs": True, "chosen": DebateFilter(run_id="r")},
        {"group_by": "tags", "limit": 3},
        {"totals": True, "columns": "case"},
        {"totals": True, "group_by": "tags"},
    ],
    ShowSettings: [
        {"as_events": True, "full": True},
        {"as_prompts": True, "as_events": True},
        {"as_evidence": True, "full": True},
        {"step": "final"},
    ],
    ReviewSettings: [
        {},
        {**PASS, **ANN},
        {"debate_id": "d", "assign": "bob", "withdraw": 1},
        {"debate_id": "d", "limit": 1, **ANN},
        {"of_queue": True, "of_agreement": True},
        {"reason": "why", **ANN},
        {"debate_id": "d", "assign": "bob", "blind": True},
        {"of_agreement": True, "sample": 3},
        {"seed": 7, **ANN},
        {"as_json": True, **ANN},
    ],
    StatisticsSettings: [
        {},
        {"everything": True, "filters": {"quorum": "x"}},
        {"everything": True, "by": ("seat",)},
    ],
    CalibrationSettings: [
        {"everything": True, "seats": ("a",)},
        {"everything": True, "split": (50, 40, 20)},
        {"everything": True, "split": (50, 30, 20), "fit": "a.txt"},
    ],
    GateSettings: [{"sources": ("a", "b"), "margin": 1.5}, {"sources": ("a", "b"), "order": ("x", "y")}],
    ProbeSettings: [{"paths": ("c.jsonl",)}, {"paths": ("c.jsonl",), "probes": ("lenght",)}],
    VoteReading: [{"label": "a", "fields": {"label": "b"}}],
    Selection: [
        {},
        {"debate_ids": ("d",), "everything": True},
        {"debate_ids": ("d",), "where": (("tags", "=", "a"),)},
    ],
    Rescoring: [{"selection": Selection(everything=True), "grid": grid_of({"without": "a"})}],
    ErasureScope: [{}, {"debate_id": "d", "case_id": "c"}],
    Erasure: [{"debate_id": "d", "by": "dpo"}],
    ServeSettings: [
        {"read_only": True, "panels": ("independent",)},
        {"open_reviews": True},
        {"replicas": 2},
        {"threads": 1},
    ],
    RunSettings: [{"max_calls": -1}],
}


def test_settings_that_do_not_go_together_are_refused(refusals: RefusalTables) -> None:
    rows: dict[str, Callable[[], object]] = {
        f"{model.__name__} {_named(fields)}".strip(): lambda model=model, fields=fields: model.of(**fields)  # type: ignore[misc]
        for model, listed in REFUSED.items()
        for fields in listed
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


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"of_queue": True}, False),
        ({"of_agreement": True, "where": (parse_condition("tags=a"),)}, False),
        ({"of_queue": True, "sample": 2, "seed": 7, **ANN}, False),
        ({"debate_id": "d", **ANN}, False),
        ({"debate_id": "d", "verdict": "safe_pass", "reason": "why", "blind": True, **ANN}, True),
        ({"debate_id": "d", "withdraw": 1, "reason": "why", **ANN}, True),
    ],
)
def test_a_request_of_reviews_is_of_one_debate_or_of_several(fields: dict[str, Any], expected: bool) -> None:
    assert expected == ReviewSettings.of(**fields).of_one


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
TOKENS: dict[str, str | bytes] = {
    "nothing": "",
    "a list": "- ann\n",
    "a short token": "ann: short-secret\n",
    "a number for a token": f"ann: {GOOD}\nbob: 12345678901234567\n",
    "a token twice": f"ann: {GOOD}\nbob: {GOOD}\n",
    "a letter that is not ASCII": f"ann: {GOOD}é\n",
    "a number for a name": f"12: {GOOD}\n",
    "no for a name": f"ann: {GOOD}2\nno: {GOOD}\n",
    "a name that begins with a blank": f"' ann': {GOOD}\n",
    "a name that turns the text": f'"a\\u202Eb": {GOOD}\n',
    "a name with a tab": f'"a\\tb": {GOOD}\n',
    "a token that begins with a blank": f"ann: ' {GOOD}'\n",
    "a token that ends with a blank": f"ann: '{GOOD} '\n",
    "a name twice": f"ann: {GOOD}\nann: {GOOD}2\n",
    "no YAML": f"ann: [{GOOD}\n",
    "other bytes": b"ann: x\n\xff\n",
}


def test_a_file_names_people_by_tokens_that_no_refusal_shows(refusals: RefusalTables, tmp_path: Path) -> None:
    assert {"ann": GOOD, "山田": f"{GOOD}2"} == named_tokens(
        a_file(tmp_path, f"# who reviews\nann: {GOOD}\n山田: '{GOOD}2'\n")
    )
    said = {}
    for name, content in TOKENS.items():
        with pytest.raises(SettingError) as refused:
            named_tokens(a_file(tmp_path, content))
        said[name] = str(refused.value)
        assert not [word for word in ("None", "secret", GOOD) if word in said[name]]
    with pytest.raises(SettingError, match=r"none\.yaml: No such file"):
        named_tokens(tmp_path / "none.yaml")

    refusals.compare("tokens", said)

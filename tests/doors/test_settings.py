"""One law of doors: a setting has one value, whether an option, a settings file, Python or a request gives it.

An option has the name that the setting has in a file, with hyphens. A yes is the option alone, a list is the option
for each element, a table the option for each NAME=VALUE. Python has the names of the models' fields, and HTTP the same
in camel case.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

import pytest
import yaml
from starlette.testclient import TestClient

from jury_judge import (
    GateSettings,
    ProbeSettings,
    RunSettings,
    RuntimeSettings,
    Service,
    SettingsModel,
    SubmissionSettings,
    read_settings,
)
from jury_store import MemoryEventStore
from jury_web import AccessPolicy, create_app
from support.command_line import CommandLine

VALUES: dict[str, Any] = {
    name: tuple(value) if isinstance(value, list) else value
    for name, value in yaml.safe_load((Path(__file__).parent / "values.yaml").read_text("utf-8")).items()
}
"""Of each setting a value that is not its default, as Python writes it."""

NEEDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("once", "batch_abandon", "batch_deadline", "batch_not_ours", "batch_same_account", "batch_turns"), ("batch",)
    ),
    "ray_open_cluster": ("ray_address",),
    "relabel": ("run_id",),
    "discordance": ("plan",),
    "cluster_size": ("plan",),
    "correlation": ("plan",),
    "rate_of": ("true",),
    "votes": ("base", "candidate"),
    "base": ("votes", "candidate"),
    "candidate": ("votes", "base"),
    "include": ("votes", "base", "candidate"),
    "order": ("plan",),
    "categories": ("plan",),
}
"""What a setting has no meaning without."""

WITH_COMMAS = {"base", "candidate", "include", "probes"}
"""Lists that are one option, parted by commas."""

FILES_ALONE = {(GateSettings, "order"), (GateSettings, "categories")}
"""Settings that are no option: `jury votes` has them for tables of votes, and a plan has none."""

COMMANDS: dict[type[SettingsModel], tuple[str, ...]] = {
    RunSettings: ("run", "cases.jsonl"),
    ProbeSettings: ("probe", "cases.jsonl", "--probe", "format"),
    GateSettings: ("gate",),
}
"""The commands that take a settings file."""

BESIDE: dict[type[SettingsModel], dict[str, Any]] = {
    RunSettings: {},
    ProbeSettings: {"paths": ("cases.jsonl",), "probes": ("format",)},
    GateSettings: {"sources": ("base", "candidate")},
}
"""What the command has besides in these calls."""


def settings_in_files(model: type[SettingsModel]) -> Iterator[str]:
    return (name for name, field in model.model_fields.items() if not field.exclude)


def in_file(model: type[SettingsModel], name: str) -> str:
    return model.file_names()[name]


def options(model: type[SettingsModel], name: str) -> list[str]:
    """A setting as a command is given it."""
    option, value = "--" + in_file(model, name).replace("_", "-"), VALUES[name]
    if value is True:
        return [option]
    if isinstance(value, Mapping):
        value = tuple(f"{key}={one}" for key, one in value.items())
    if name in WITH_COMMAS:
        value = ",".join(value)
    return [part for one in (value if isinstance(value, tuple) else (value,)) for part in (option, str(one))]


def values(settings: SettingsModel) -> dict[str, Any]:
    """By field; the faults of simulated jurors as they are played, however they are written."""
    played = {"simulate": settings.script(["simulated/juror"])} if isinstance(settings, RuntimeSettings) else {}
    return {**dict(settings), **played}


def made_by(jury: CommandLine, model: type[SettingsModel], *arguments: str) -> dict[str, Any]:
    """The settings that a command makes of its arguments; it ends before it uses them."""
    made: list[SettingsModel] = []

    def of(**fields: Any) -> None:
        made.append(model(**fields))
        raise SystemExit(0)

    with patch.object(model, "of", of):
        outcome = jury(*arguments)
    assert made, outcome.err
    return values(made[0])


def sources(model: type[SettingsModel], names: tuple[str, ...]) -> tuple[str, ...]:
    """The sides of a gate, where neither votes nor a plan without votes stand for them; of a true rate one run."""
    if model is GateSettings and "true" in names:
        return ("base",)
    alone = model is not GateSettings or {"votes", "order", "categories"} & {*names}
    return () if alone else ("base", "candidate")


@pytest.mark.parametrize("model", COMMANDS, ids=lambda model: model.__name__)
def test_a_setting_is_the_same_by_option_by_file_and_in_python(
    jury: CommandLine, model: type[SettingsModel], subtests: pytest.Subtests
) -> None:
    for folder in VALUES["artifact_roots"]:
        (jury.folder / folder).mkdir()
    for name in settings_in_files(model):
        with subtests.test(name):
            names = (name, *NEEDS.get(name, ()))
            beside = {**BESIDE[model], **({"sources": sources(model, names)} if model is GateSettings else {})}
            command = (*COMMANDS[model], *sources(model, names))
            python = values(model.of(**{**beside, **{one: VALUES[one] for one in names}}))
            file = jury.write("settings.yaml", {in_file(model, one): VALUES[one] for one in names})

            assert model.model_fields[name].get_default(call_default_factory=True) != python[name]
            if name != "probes":  # the command line of each call names a probe, and wins
                assert python == made_by(jury, model, *command, "--settings", file)
            assert read_settings(jury.folder / file, model).keys() == {*names}
            if not {(model, one) for one in names} & FILES_ALONE:
                given = [part for one in names for part in options(model, one)]
                assert python == made_by(jury, model, *command, *given)


def test_an_option_wins_over_a_variable_and_that_over_a_file(jury: CommandLine, subtests: pytest.Subtests) -> None:
    others = {
        "preset": ("JURY_USE_COLLABORATIVE", "true"),
        "max_rounds": ("JURY_MAX_DISCUSSION_ROUNDS", "2"),
        "threshold": ("JURY_CONSENSUS_THRESHOLD", "0.5"),
        "method": ("JURY_FINAL_JUDGMENT_METHOD", "majority_vote"),
        "judge_model": ("JURY_FINAL_JUDGE_MODEL", "simulated/another"),
        "store_url": ("JURY_STORE_URL", "sqlite:///variable.db"),
        "prices": ("JURY_PRICES", "variable.toml"),
    }
    assert RunSettings.variables() == {name: variable for name, (variable, _) in others.items()}
    for name, (variable, value) in others.items():
        with subtests.test(name), pytest.MonkeyPatch.context() as environment:
            file = jury.write("settings.yaml", {in_file(RunSettings, name): VALUES[name]})
            call = ("run", "cases.jsonl", "--settings", file)
            alone = made_by(jury, RunSettings, *call)
            environment.setattr("support.command_line.environment", lambda _more, v=variable, w=value: {v: w})
            under = made_by(jury, RunSettings, *call)
            over = made_by(jury, RunSettings, *call, *options(RunSettings, name))

            # What a variable gives is left to the panel, the store and the prices, which read the variables.
            assert (VALUES[name], None, VALUES[name]) == (alone[name], under[name], over[name])
    file = jury.write("settings.yaml", {"limit": 2, "max_rounds": 1})
    both = made_by(jury, RunSettings, "run", "cases.jsonl", "--settings", file, "--limit", "1")

    assert (1, 1) == (both["limit"], both["max_rounds"])


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(
        create_app(Service(MemoryEventStore()), AccessPolicy(frozenset({"jury.test"}))), base_url="http://jury.test"
    )


ONE_CASE = {"question": "Open?", "response": "At nine."}


@pytest.mark.parametrize(
    ("path", "judged"), [("/api/evaluations", {"case": ONE_CASE}), ("/api/runs", {"cases": [ONE_CASE]})]
)
def test_a_setting_of_a_request_is_the_same_in_python(
    client: TestClient, path: str, judged: dict[str, Any], subtests: pytest.Subtests
) -> None:
    document = client.get("/openapi.json").json()
    form = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    properties = document["components"]["schemas"][form.rpartition("/")[2]]["properties"]
    names = {camel(name): name for name in SubmissionSettings.model_fields}
    # Besides settings: what is judged, in which form, by which panel of the server, and the client's own name of it.
    asked = properties.keys() - judged.keys() - {"format", "panel", "submissionId"}

    assert "runId" in asked
    for key in sorted(asked):
        with subtests.test(key):
            value = VALUES[names[key]]
            with patch.object(SubmissionSettings, "of", Mock(side_effect=SubmissionSettings.of)) as made:
                client.post(path, json={**judged, key: value})
            given = {name: one for name, one in made.call_args.kwargs.items() if one is not None}

            assert {names[key]: value} == given

"""Providers by name, and what is said before the first call of those that cannot be asked."""

import pickle
import subprocess
import sys
import tomllib
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from jury_debate import PanelSpec, SeatSpec, resolve
from jury_events import CallOutcome, Panel
from jury_providers import (
    NO_ENDPOINTS,
    BadVariable,
    Endpoint,
    KeyMissing,
    Script,
    SimulatedProvider,
    UnknownProvider,
    check_models,
    connection_of,
    installed_providers,
    key_destinations,
    known_providers,
    provider_factory,
    recipients,
)
from support.each_row import each_row
from support.packages import write_package


def a_panel(**spec: Any) -> Panel:
    return resolve(PanelSpec.model_validate(spec)).panel


CLAUDE = a_panel(preset="independent", seats=[{"model": "claude-haiku-5-5"}])


def test_the_simulated_provider_is_known_and_made_by_its_name_in_any_process() -> None:
    provider = pickle.loads(pickle.dumps(provider_factory(Script(latency=0.5))))("simulated")

    assert "simulated" in known_providers()
    assert isinstance(provider, SimulatedProvider)
    assert (True, None) == (provider.simulated, provider.max_in_flight)
    check_models(a_panel())


def test_a_model_without_a_provider_is_named_with_its_seat() -> None:
    with pytest.raises(UnknownProvider, match=r"there is no provider 'acme'; the providers: .*simulated"):
        provider_factory(Script())("acme")
    for said, spec in {
        "seat one: model 'acme/m1' needs the provider 'acme'": {"seats": [{"model": "acme/m1", "juror_id": "one"}]},
        "seat one: model 'acme/m2'": {
            "seats": [{"model": "simulated/juror", "juror_id": "one", "fallbacks": ["acme/m2"]}]
        },
        "the final judge: model 'acme/m3'": {"final": {"judge": {"model": "acme/m3"}}},
    }.items():
        with pytest.raises(UnknownProvider, match=said):
            check_models(a_panel(**spec))


def test_a_model_without_a_key_is_named_with_the_remedy() -> None:
    panel = a_panel(preset="independent", seats=[{"model": "gemini-3.5-flash-lite", "fallbacks": ["claude-haiku-5-5"]}])

    with pytest.raises(KeyMissing, match=r"set ANTHROPIC_API_KEY, or write other fallbacks, \[\] for none"):
        check_models(panel, {}, {"GEMINI_API_KEY": "k"})
    with pytest.raises(KeyMissing, match=r"set GOOGLE_API_KEY or GEMINI_API_KEY$"):
        check_models(panel, {}, {"ANTHROPIC_API_KEY": "k"})


@each_row(
    ("variable", "value", "says"),
    [
        ("ANTHROPIC_API_KEY", "canary\nsecond", "ANTHROPIC_API_KEY: contains a space, a quotation mark, a line break"),
        ("ANTHROPIC_API_KEY", "canaryあ", "ANTHROPIC_API_KEY: contains a space, a quotation mark, a line break"),
        ("ANTHROPIC_API_KEY", '"canary"', "ANTHROPIC_API_KEY: contains a space, a quotation mark, a line break"),
        ("ANTHROPIC_BASE_URL", "canary:8500", "ANTHROPIC_BASE_URL: must be an http:// or https:// URL"),
        ("ANTHROPIC_BASE_URL", "http://canary:99999", "ANTHROPIC_BASE_URL: must be an http:// or https:// URL"),
        ("ANTHROPIC_BASE_URL", "http://canary/\x1b[2J", "ANTHROPIC_BASE_URL: must be an http:// or https:// URL"),
    ],
)
def test_an_invalid_variable_is_named_without_its_value(variable: str, value: str, says: str) -> None:
    with pytest.raises(BadVariable) as refused:
        check_models(CLAUDE, {}, {"ANTHROPIC_API_KEY": "k", variable: value})

    assert str(refused.value).startswith(says)
    assert "canary" not in str(refused.value)


def test_a_key_may_be_in_a_file_that_a_variable_names(tmp_path: Path) -> None:
    path = tmp_path / "key"
    named = {"ANTHROPIC_API_KEY_FILE": str(path)}
    for content, said in {
        None: "the file cannot be read (No such file",
        b" \n": "the file is empty",
        b"\xff": "the file is no text",
        b"canary second": "contains a space",
    }.items():
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(BadVariable) as refused:
            check_models(CLAUDE, {}, named)
        assert f"ANTHROPIC_API_KEY_FILE: {said}" in str(refused.value)
    path.write_text("canary\n")
    check_models(CLAUDE, {}, named)

    assert "canary" == connection_of("anthropic", "anthropic", Endpoint(), named).key
    assert "other" == connection_of("anthropic", "anthropic", Endpoint(), named | {"ANTHROPIC_API_KEY": "other"}).key


def test_the_registry_imports_no_sdk_and_an_adapter_only_its_own() -> None:
    program = """
import sys
def sdks():
    return sorted({"openai", "anthropic", "google.genai"} & set(sys.modules))
from jury_providers import provider_factory
print(sdks())
provider_factory()("openai")
print(sdks())
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert ["[]", "['openai']"] == said.splitlines()


# ruff: noqa: E501  (one row is one line)


DATA = tomllib.loads((files("jury_providers") / "dialects.toml").read_text("utf-8"))


def test_each_entry_names_a_source_and_a_day():
    for entry in (*DATA["profile"].values(), *DATA["envelope"], *DATA["finish"]):
        assert entry["source"]
        assert date(2026, 11, 1) <= entry["day"]


def a_panel_of(model: str):
    return resolve(PanelSpec(preset="independent", seats=(SeatSpec(model=model),)), []).panel


def test_a_known_provider_needs_no_entry_but_its_key():
    panel = a_panel_of("deepseek/deepseek-chat")

    with pytest.raises(KeyMissing, match="DEEPSEEK_API_KEY"):
        check_models(panel, NO_ENDPOINTS, {})
    check_models(panel, NO_ENDPOINTS, {"DEEPSEEK_API_KEY": "k"})
    check_models(a_panel_of("ollama/llama3.2"), NO_ENDPOINTS, {})
    assert ("case data may be sent to https://api.deepseek.com (deepseek: deepseek-chat)",) == recipients(
        panel, NO_ENDPOINTS, {}
    )
    assert (
        "the value of DEEPSEEK_API_KEY is sent to https://api.deepseek.com (provider deepseek)",
    ) == key_destinations(panel, NO_ENDPOINTS, {"DEEPSEEK_API_KEY": "k"})
    assert "json_object" == provider_factory()("deepseek").dialect.structured


@each_row(
    ("name", "fields", "changed"),
    [
        ("a", {"base_url": "https://api.deepseek.com/v1"}, {"structured": "json_object", "output_limit": "max_tokens"}),
        ("a", {"base_url": "https://h.example/v1", "dialect": "mistral"}, {"output_limit": "max_tokens", "earlier_turns": "plain"}),
        ("a", {"base_url": "https://h.example/v1", "dialect": {"profile": "mistral", "earlier_turns": "whole"}}, {"output_limit": "max_tokens"}),
        ("mistral", {"base_url": "https://h.example/v1"}, {}),
        ("a", {"base_url": "https://api.openai.com/v1"}, {}),
        ("a", {"base_url": "https://h.example/v1", "dialect": {"schema_bounds": "off"}}, {"schema_bounds": False}),
    ],
)  # fmt: skip
def test_what_holds_is_what_the_panel_says_else_what_is_known_of_the_server(name, fields, changed):
    connection = connection_of(name, "openai", Endpoint.model_validate(fields), {})

    assert changed == connection.dialect.changed
    assert ("api.openai.com" in fields["base_url"]) == (not connection.dialect.around)


def test_an_installed_package_goes_before_a_known_provider_of_its_name(tmp_path: Path, monkeypatch):
    code = """
        from jury_providers import Provider
        class Mine(Provider):
            async def call(self, request, on_chunk=None): ...
        def make(endpoint):
            return Mine()
    """
    monkeypatch.syspath_prepend(write_package(tmp_path, "mine", code, providers="deepseek = mine:make"))
    installed_providers.cache_clear()
    try:
        made = provider_factory()("deepseek")
    finally:
        monkeypatch.undo()
        installed_providers.cache_clear()

    assert type(made).__name__ == "Mine"


def test_words_for_the_end_of_a_reply_are_outcomes():
    assert {one["outcome"] for one in DATA["finish"]} <= {outcome.value for outcome in CallOutcome}

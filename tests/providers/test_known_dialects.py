"""What is known of servers of Chat Completions: each entry names its source."""
# ruff: noqa: E501  (one row is one line)

import tomllib
from datetime import date
from importlib.resources import files
from pathlib import Path

import pytest

from jury_debate import PanelSpec, SeatSpec, resolve
from jury_events import CallOutcome
from jury_providers import (
    NO_ENDPOINTS,
    Endpoint,
    KeyMissing,
    check_models,
    connection_of,
    installed_providers,
    key_destinations,
    provider_factory,
    recipients,
)
from support.each_row import each_row
from support.packages import write_package

DATA = tomllib.loads((files("jury_providers") / "dialects.toml").read_text("utf-8"))


def test_each_entry_names_a_source_and_a_day():
    for entry in (*DATA["profile"].values(), *DATA["envelope"], *DATA["finish"]):
        assert entry["source"]
        assert date(2026, 11, 1) <= entry["day"]


def a_panel(model: str):
    return resolve(PanelSpec(preset="independent", seats=(SeatSpec(model=model),)), []).panel


def test_a_known_provider_needs_no_entry_but_its_key():
    panel = a_panel("deepseek/deepseek-chat")

    with pytest.raises(KeyMissing, match="DEEPSEEK_API_KEY"):
        check_models(panel, NO_ENDPOINTS, {})
    check_models(panel, NO_ENDPOINTS, {"DEEPSEEK_API_KEY": "k"})
    check_models(a_panel("ollama/llama3.2"), NO_ENDPOINTS, {})
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

"""Providers by name."""

import pickle
from pathlib import Path

import pytest

from jury_debate.panel_spec import PanelSpec, resolve
from jury_providers.endpoints import Endpoint, connection_of
from jury_providers.errors import BadVariable, KeyMissing, UnknownProvider
from jury_providers.registry import check_models, known_providers, provider_factory
from jury_providers.simulated.provider import SimulatedProvider
from jury_providers.simulated.script import Script


def test_the_simulated_provider_is_known_and_made_by_its_name() -> None:
    provider = provider_factory(Script())("simulated")

    assert "simulated" in known_providers()
    assert isinstance(provider, SimulatedProvider)
    assert (provider.simulated, provider.max_in_flight) == (True, None)


def test_a_factory_can_be_pickled() -> None:
    factory = pickle.loads(pickle.dumps(provider_factory(Script(latency=0.5))))

    assert isinstance(factory("simulated"), SimulatedProvider)


def test_the_error_of_an_unknown_provider_lists_the_existing_ones() -> None:
    with pytest.raises(UnknownProvider, match=r"there is no provider 'acme'; the providers: .*simulated"):
        provider_factory(Script())("acme")


def test_the_default_panel_has_all_its_providers() -> None:
    check_models(resolve(PanelSpec()).panel)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"seats": [{"model": "acme/m1", "juror_id": "one"}]}, "seat one: model 'acme/m1' needs the provider 'acme'"),
        (
            {"seats": [{"model": "simulated/juror", "juror_id": "one", "fallbacks": ["acme/m2"]}]},
            "seat one: model 'acme/m2'",
        ),
        ({"final": {"judge": {"model": "acme/m3"}}}, "the final judge: model 'acme/m3'"),
    ],
)
def test_a_model_without_a_provider_is_named_with_its_seat(spec: dict[str, object], message: str) -> None:
    panel = resolve(PanelSpec.model_validate(spec)).panel

    with pytest.raises(UnknownProvider, match=message):
        check_models(panel)


def test_a_fallback_without_a_key_is_named_with_the_remedy() -> None:
    seat = {"model": "gemini-3.5-flash-lite", "fallbacks": ["claude-haiku-5-5"]}
    panel = resolve(PanelSpec.model_validate({"preset": "independent", "seats": [seat]}))

    with pytest.raises(KeyMissing, match=r"set ANTHROPIC_API_KEY, or write other fallbacks, \[\] for none"):
        check_models(panel.panel, {}, {"GEMINI_API_KEY": "k"})
    with pytest.raises(KeyMissing, match=r"set GOOGLE_API_KEY or GEMINI_API_KEY$"):
        check_models(panel.panel, {}, {"ANTHROPIC_API_KEY": "k"})


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("ANTHROPIC_API_KEY", "canary\nsecond", "ANTHROPIC_API_KEY: contains a space, a line break"),
        ("ANTHROPIC_API_KEY", "canaryあ", "ANTHROPIC_API_KEY: contains a space, a line break"),
        ("ANTHROPIC_BASE_URL", "canary:8500", "ANTHROPIC_BASE_URL: must be an http:// or https:// URL"),
        ("ANTHROPIC_BASE_URL", "http://canary:99999", "ANTHROPIC_BASE_URL: must be an http:// or https:// URL"),
        ("ANTHROPIC_BASE_URL", "http://canary/\x1b[2J", "ANTHROPIC_BASE_URL: must be an http:// or https:// URL"),
    ],
)
def test_an_invalid_variable_is_named_without_its_value(variable: str, value: str, says: str) -> None:
    panel = resolve(PanelSpec.model_validate({"preset": "independent", "seats": [{"model": "claude-haiku-5-5"}]})).panel

    with pytest.raises(BadVariable) as refused:
        check_models(panel, {}, {"ANTHROPIC_API_KEY": "k", variable: value})

    assert str(refused.value).startswith(says)
    assert "canary" not in str(refused.value)


def test_a_key_may_be_in_a_file_that_a_variable_names(tmp_path: Path) -> None:
    panel = resolve(PanelSpec.model_validate({"preset": "independent", "seats": [{"model": "claude-haiku-5-5"}]})).panel
    path = tmp_path / "key"
    named = {"ANTHROPIC_API_KEY_FILE": str(path)}

    def refused(content: bytes | None) -> str:
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(BadVariable) as found:
            check_models(panel, {}, named)
        return str(found.value)

    assert "ANTHROPIC_API_KEY_FILE: the file cannot be read (No such file" in refused(None)
    assert "ANTHROPIC_API_KEY_FILE: the file is empty" in refused(b" \n")
    assert "ANTHROPIC_API_KEY_FILE: the file is no text" in refused(b"\xff")
    assert "ANTHROPIC_API_KEY_FILE: contains a space" in refused(b"canary second")
    path.write_text("canary\n")
    check_models(panel, {}, named)
    assert "canary" == connection_of("anthropic", "anthropic", Endpoint(), named).key
    assert "other" == connection_of("anthropic", "anthropic", Endpoint(), named | {"ANTHROPIC_API_KEY": "other"}).key

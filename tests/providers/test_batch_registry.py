"""Which providers have batches, and why others have not."""

import pytest

from jury_providers import Endpoint, NoBatches, batch_limits, batch_provider, no_batches
from support.each_row import each_row

HOSTED = ("openai", "openai-responses", "anthropic", "google")
CLOUDS = [
    ("openai", "azure"),
    ("openai", "bedrock"),
    ("openai-responses", "vertex"),
    ("anthropic", "bedrock"),
    ("anthropic", "vertex"),
    ("anthropic", "foundry"),
    ("anthropic", "aws"),
    ("google", "vertex"),
]


@each_row("name", HOSTED)
async def test_the_hosted_providers_have_batches(name: str) -> None:
    provider = batch_provider(name)

    assert no_batches(name) is None
    assert batch_limits(name) == provider.limits  # type: ignore[arg-type]  # a protocol by its name
    assert provider.account().address.startswith(f"{name} https://")
    await provider.close()


@each_row(("protocol", "cloud"), CLOUDS)
def test_no_cloud_has_batches(protocol: str, cloud: str) -> None:
    endpoints = {"there": Endpoint.model_validate({"protocol": protocol, "cloud": cloud, "batches": "on"})}
    reason = no_batches("there", endpoints)

    assert reason is not None
    assert "whose batches are not offered here" in reason
    with pytest.raises(NoBatches, match="not offered here"):
        batch_provider("there", endpoints)


@each_row("name", ["openai-decisions", "google-decisions", "systemone"])
def test_decision_models_are_asked_live(name: str) -> None:
    assert f"the protocol {name} has no batches" == no_batches(name, {name: Endpoint(batches="on")})


def test_simulated_and_installed_providers_have_none() -> None:
    assert "in this process" in (no_batches("simulated") or "")
    assert "installed provider elsewhere" in (no_batches("elsewhere") or "")


@pytest.mark.parametrize(
    ("batches", "has"), [pytest.param(None, False, id="unsaid"), ("on", True), pytest.param("off", False, id="off")]
)
def test_a_server_of_ones_own_has_batches_if_its_entry_says_so(batches: str | None, has: bool) -> None:
    endpoint = {"protocol": "openai", "base_url": "http://127.0.0.1:9/v1", "batches": batches}

    assert has == (no_batches("own", {"own": Endpoint.model_validate(endpoint)}) is None)


def test_a_region_of_the_provider_is_no_server_of_ones_own() -> None:
    endpoint = Endpoint.model_validate({"protocol": "openai", "base_url": "https://eu.api.openai.com/v1"})

    assert no_batches("eu", {"eu": endpoint}) is None


def test_a_provider_may_be_kept_out_of_batches() -> None:
    assert "batches: off" in (no_batches("openai", {"openai": Endpoint(batches="off")}) or "")


async def test_a_base_url_of_the_environment_stands_for_the_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1/")
    provider = batch_provider("openai")

    assert "openai http://127.0.0.1:9/v1" == provider.account().address
    await provider.close()


@pytest.mark.parametrize(
    ("name", "variable", "url"),
    [
        ("openai", "OPENAI_BASE_URL", "https://api.openai.com/v1/"),
        ("anthropic", "ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
    ],
)
async def test_the_base_url_that_counts_anyway_changes_nothing(
    name: str, variable: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    unset = batch_provider(name)
    monkeypatch.setenv(variable, url)
    named = batch_provider(name)

    assert unset.account() == named.account()
    await unset.close()
    await named.close()


@pytest.mark.parametrize(
    ("name", "variable", "said"),
    [
        ("openai", "OPENAI_ORG_ID", "organization=there"),
        ("openai", "OPENAI_PROJECT_ID", "project=there"),
        ("anthropic", "ANTHROPIC_WORKSPACE_ID", "workspace=there"),
    ],
)
async def test_what_decides_which_batches_are_seen_is_part_of_the_account(
    name: str, variable: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "there")
    provider = batch_provider(name)

    assert said in provider.account().address
    await provider.close()

"""The documents' classes over a temporary store; models answer over HTTP, or are simulated in process."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from jury_providers import Simulation, simulation_server

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where everything is recorded, as the environment says."""
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    monkeypatch.setenv("JURY_STORE_URL", url)
    return url


@pytest.fixture
async def models(store: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Simulation]:
    """The providers' protocols on loopback: every model of the documents answers."""
    async with simulation_server() as simulation:
        for name, value in (*simulation.variables.items(), *((key, "sk-test") for key in KEYS)):
            monkeypatch.setenv(name, value)
        yield simulation

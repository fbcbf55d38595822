"""What the tests of waves share."""

from pathlib import Path

import pytest

from support.batch_double import BatchAccountDouble
from support.nights import Night


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "sk-test-acme-0123456789.1")
    return monkeypatch


@pytest.fixture
def night(request: pytest.FixtureRequest, tmp_path: Path) -> Night:
    """Over SQLite, or the database that `EACH_DATABASE` names."""
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    if getattr(request, "param", "sqlite") == "postgresql":
        url = request.getfixturevalue("postgres_url")
    return Night(url, BatchAccountDouble())

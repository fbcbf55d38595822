"""Six small cases: of the simulated jurors the cheap panel passes every other one, and accepts these alone."""

import json
from pathlib import Path

import pytest

SAFE = "Order {n} is refunded after the code was verified."
LEAK = "Order {n} is refunded without asking."


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """A file of them."""
    path = tmp_path / "cases.jsonl"
    rows = [
        {"id": f"c{n}", "question": f"Refund order {n}.", "response": (LEAK if n % 2 else SAFE).format(n=n)}
        for n in range(6)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A store that is not there yet."""
    return f"sqlite:///{tmp_path / 'jury.db'}"

"""Six small cases: of the simulated jurors the cheap panel passes every other one, and accepts these alone."""

import asyncio
import json
from pathlib import Path

import pytest

from jury_judge import judge_run
from support.ladders import a_ladder, staged

SAFE = "Order {n} is refunded after the code was verified."
LEAK = "Order {n} is refunded without asking."


def written(folder: Path) -> Path:
    path = folder / "cases.jsonl"
    rows = [
        {"id": f"c{n}", "question": f"Refund order {n}.", "response": (LEAK if n % 2 else SAFE).format(n=n)}
        for n in range(6)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """A file of them."""
    return written(tmp_path)


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a staged run whose early exits are all audited, which no test changes."""
    folder = tmp_path_factory.mktemp("audited")
    url = f"sqlite:///{folder / 'jury.db'}"
    planned = staged(written(folder), url, a_ladder(folder, {"pass": 1.0}, audit=1.0))
    asyncio.run(judge_run(planned, lambda _line: None))
    return folder


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A store that is not there yet."""
    return f"sqlite:///{tmp_path / 'jury.db'}"

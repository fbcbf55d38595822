"""Cases on disk and the command line as a subprocess."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.command import Command, Started
from support.postgres import PostgresServer

CASES = 12


@pytest.fixture(scope="session")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of small cases."""
    path = tmp_path_factory.mktemp("cases") / "cases.jsonl"
    lines = [
        {
            "case_id": f"case-{number}",
            "question": f"Refund order {number}.",
            "response": f"Refunded order {number} to the card ending 42{number:02}." if number % 3 else "Never.",
        }
        for number in range(CASES)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture(scope="session")
def undisturbed(cases: Path, tmp_path_factory: pytest.TempPathFactory) -> Started:
    """The same run in one process, to its end, in a separate store."""
    folder = tmp_path_factory.mktemp("undisturbed")
    return Command(folder, cases, f"sqlite:///{folder / 'jury.db'}").call("--in-process")


@pytest.fixture
def command(tmp_path: Path, cases: Path) -> Command:
    """`jury run` over the cases, with a new store."""
    return Command(tmp_path, cases, f"sqlite:///{tmp_path / 'jury.db'}")


@pytest.fixture
def postgres_command(postgres: PostgresServer, tmp_path: Path, cases: Path) -> Iterator[Command]:
    """The same on PostgreSQL, in a database that is empty."""
    name = postgres.create_database()
    yield Command(tmp_path, cases, postgres.url(name))
    postgres.drop_database(name)

"""A provider's key on a cluster: the workers use it, and no readable place contains it."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.canary_on_ray import CANARY

pytestmark = pytest.mark.ray


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder whose path is short enough for the sockets that Ray keeps in it."""
    path = Path(tempfile.mkdtemp(prefix="jury-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.mark.full
def test_a_key_is_in_no_table_log_or_database(sqlite_url: str, temporary: Path) -> None:
    tests = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-m", "support.canary_on_ray", sqlite_url],
        env={**os.environ, "PYTHONPATH": str(tests), "RAY_TMPDIR": str(temporary)},
        cwd=temporary,
        capture_output=True,
        check=False,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr.decode()
    report = json.loads(done.stdout)
    database = Path(sqlite_url.removeprefix("sqlite:///"))
    read = [path for path in Path(report["session"]).rglob("*") if path.is_file()] + list(
        database.parent.glob("jury.db*")
    )
    log_files = [path for path in read if path.suffix in {".log", ".out", ".err"}]

    assert [["unfinished"]] == [one[:1] for one in report["finished"]], (
        "the judge's key is refused, which is reported too"
    )
    assert report["requests"] >= 7
    assert report["actors"] >= 4
    assert log_files
    assert report["seen"] == []
    assert [path.name for path in read if CANARY.encode() in path.read_bytes()] == []
    assert CANARY.encode() not in done.stdout + done.stderr

    logged = done.stderr + b"".join(path.read_bytes() for path in log_files)
    assert b'"event": "call_failed"' in done.stderr, "actors log, and the driver gets their records"
    assert (
        'jury_calls_total{model="judge",outcome="authentication",provider="openai-responses"} 1.0' in report["metrics"]
    )
    assert b"Refunded order 17" not in logged, "no text of the case is logged"

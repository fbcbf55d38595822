"""`.ci/audit` fails for a known vulnerability, and says so where it could not look."""

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
ADVISORY = {
    "id": "GHSA-0000-test",
    "modified": "2026-01-01T00:00:00Z",
    "published": "2026-01-01T00:00:00Z",
    "summary": "for this test",
    "affected": [
        {
            "package": {"name": "jinja2", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}]}],
        }
    ],
}


class _Advisories(BaseHTTPRequestHandler):
    """The advisory service's protocol, with one advisory where the server has it, or an error instead of answers."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        known = self.server.known  # type: ignore[attr-defined]
        hit = {"vulns": [{"id": ADVISORY["id"], "modified": ADVISORY["modified"]}]}
        self._answer({"results": [hit if one["package"]["name"] == known else {} for one in asked]})

    def do_GET(self) -> None:
        self._answer(ADVISORY)

    def _answer(self, answer: Any) -> None:
        body = json.dumps(answer).encode()
        self.send_response(self.server.status)  # type: ignore[attr-defined]
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def service() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Advisories) as running:
        running.known, running.status = None, 200  # type: ignore[attr-defined]
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What an audit reads of this project."""
    for name in ("pyproject.toml", "uv.lock", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    return tmp_path


def audit(project: Path, port: int) -> "subprocess.CompletedProcess[str]":
    command = [str(project / ".ci" / "audit"), "--service-url", f"http://127.0.0.1:{port}/"]
    environment = {**os.environ, "UV_HTTP_RETRIES": "0", "NO_PROXY": "127.0.0.1"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_a_known_vulnerability_fails_the_audit_until_it_is_accepted_with_a_reason(project: Path, service: Any) -> None:
    service.known = "jinja2"
    exceptions = project / ".ci" / "audit-exceptions"

    found = audit(project, service.server_port)
    exceptions.write_text(f"# none\n{ADVISORY['id']}\n")
    without_reason = audit(project, service.server_port)
    exceptions.write_text(f"# none\n{ADVISORY['id']} no template comes from elsewhere\n")
    accepted = audit(project, service.server_port)

    assert (1, True) == (found.returncode, str(ADVISORY["id"]) in found.stdout)
    assert (1, True) == (without_reason.returncode, "write the reason" in without_reason.stderr)
    assert 0 == accepted.returncode


@pytest.mark.full
def test_a_service_that_gives_no_answer_is_reported_and_is_no_failure(project: Path, service: Any) -> None:
    service.known, service.status = "jinja2", 502

    done = audit(project, service.server_port)

    assert (0, True) == (done.returncode, "AUDIT NOT DONE: the advisory service" in done.stdout)


@pytest.mark.full
def test_a_lock_that_does_not_fit_fails_the_audit(project: Path, service: Any) -> None:
    (project / "uv.lock").write_text("nonsense")

    assert 0 != audit(project, service.server_port).returncode

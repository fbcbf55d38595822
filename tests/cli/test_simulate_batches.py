"""`jury simulate` serves batches; what it refuses of a file of their faults, and what the guide names."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from jury_providers import CALLS
from jury_providers.simulated.http.batches.script import CALL_FAULTS, JOB_FAULTS
from support.command_line import CommandLine

GUIDE = (Path(__file__).parents[2] / "docs" / "simulate.md").read_text().partition("\n## Batches\n")[2]


@pytest.fixture
def server(jury: CommandLine) -> Iterator[Callable[..., str]]:
    """Starts the command; gives its URL."""
    started: list[Popen[bytes]] = []

    def serve(*arguments: str) -> str:
        process = jury.start("simulate", *arguments)
        started.append(process)
        assert process.stdout is not None
        lines = [process.stdout.readline().decode().removeprefix("export ").strip() for _ in range(3)]
        return lines[1].partition("=")[2]

    yield serve
    for process in started:
        process.kill()
        process.communicate()


def _asked(url: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"x-api-key": "sk-a.1", "anthropic-version": "2026-10-21"})
    with urllib.request.urlopen(request, timeout=300) as response:
        return json.loads(response.read())


def test_batches_are_served_with_the_faults_of_a_file(server: Callable[..., str], tmp_path: Path) -> None:
    file = tmp_path / "batches.yaml"
    file.write_text("batches: [stuck]\ncalls: {list: [overloaded]}\n")
    url = server("--batch-script", str(file), "--batch-seconds", "5")
    params = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Grass."}]}
    batch = _asked(f"{url}/v1/messages/batches", {"requests": [{"custom_id": "a", "params": params}]})
    with pytest.raises(urllib.error.HTTPError, match="529"):
        _asked(f"{url}/v1/messages/batches")
    (described,) = _asked(f"{url}/_simulate/batches")

    assert "in_progress" == batch["processing_status"]
    assert (batch["id"], 1, ["stuck"]) == (described["id"], described["items"], described["faults"])


def test_the_guide_names_every_fault_and_call() -> None:
    for name in (*JOB_FAULTS, *CALL_FAULTS, *CALLS):
        assert f"`{name}`" in GUIDE, name

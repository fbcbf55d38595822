"""`jury mcp` with a client that is not the SDK of Python: the inspector of the protocol, from npm."""

import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from support.command_line import JURY, CommandLine
from support.tool_environment import ToolEnvironment, mcp_client

pytestmark = pytest.mark.full

CASE = json.dumps({"question": "Refund order 7.", "response": "Refunded to 4242."})
JUDGE = ("--method", "tools/call", "--tool-name", "judge", "--tool-arg", f"case={CASE}")
SHOW = ("--method", "tools/call", "--tool-name", "show_debate", "--tool-arg")


@pytest.fixture(scope="module")
def tool() -> ToolEnvironment:
    return mcp_client()


def asked(tool: ToolEnvironment, folder: Path, *arguments: str) -> Any:
    """What the server answered."""
    return json.loads(tool.call("mcp-inspector-cli", "--cli", *arguments, cwd=folder).out)


def judged(tool: ToolEnvironment, folder: Path, *server: str) -> None:
    """The tools are listed, a case is judged, and its debate is shown and read."""
    tools = [one["name"] for one in asked(tool, folder, *server, "--method", "tools/list")["tools"]]
    first = json.loads(asked(tool, folder, *server, *JUDGE)["content"][0]["text"])
    name = first["debate_id"]
    shown = json.loads(asked(tool, folder, *server, *SHOW, f"debate_id={name}")["content"][0]["text"])
    refused = asked(tool, folder, *server, *SHOW, "debate_id=../../etc/passwd")
    read = asked(tool, folder, *server, "--method", "resources/read", "--uri", f"jury://debates/{name}")

    assert {"judge", "list_debates", "show_debate"} <= set(tools)
    assert first["verdict"] == shown["final_verdict"]
    assert (True, 1) == (refused["isError"], len(refused["content"][0]["text"].splitlines()))
    assert name == json.loads(read["contents"][0]["text"])["debate_id"]


def test_the_inspector_judges_and_reads_over_standard_input_and_output(tool: ToolEnvironment, tmp_path: Path) -> None:
    judged(tool, tmp_path, JURY, "mcp", "--run", "agents", "--store", f"sqlite:///{tmp_path}/jury.db")


def test_the_inspector_judges_and_reads_over_http(tool: ToolEnvironment, tmp_path: Path) -> None:
    process = CommandLine(tmp_path).start("mcp", "--http", "--port", "0", "--run", "agents")
    assert process.stderr is not None
    found = re.search(rb"http://\S+", process.stderr.readline())
    assert found is not None
    judged(tool, tmp_path, found.group().decode(), "--transport", "http")
    process.send_signal(signal.SIGTERM)

    assert 0 == process.wait()

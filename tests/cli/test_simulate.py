"""`jury simulate`: its lines, its end, and what it refuses to begin with."""

import json
import re
import signal
import socket
import urllib.request
from pathlib import Path

import pytest

from jury_judge import read_yaml
from jury_providers import WireScript
from support.command_line import Outcome

ASKED = {"model": "gpt-4o", "messages": [{"role": "user", "content": "The ballot is abcdefgh234567zz. Grass."}]}


GUIDE = (Path(__file__).parents[2] / "docs" / "simulate.md").read_text()


@pytest.fixture
def serving(jury):
    """Starts the command; gives the process and the variables that it printed."""
    started = []

    def serve(*arguments):
        process = jury.start("simulate", *arguments)
        started.append(process)
        assert process.stdout is not None
        lines = [process.stdout.readline().decode().removeprefix("export ").strip() for _ in range(3)]
        return process, dict(line.split("=", 1) for line in lines)

    yield serve
    for process in started:
        process.kill()
        process.communicate()


def post(url):
    request = urllib.request.Request(url, json.dumps(ASKED).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=300) as response:
        return dict(response.headers), json.load(response)


def ended(process) -> Outcome:
    out, err = process.communicate()
    return Outcome(process.returncode, out.decode(), err.decode())


def test_it_prints_where_it_serves_counts_and_ends_with_ctrl_c(serving):
    process, variables = serving("--port", "0")
    headers, answer = post(f"{variables['OPENAI_BASE_URL']}/chat/completions")
    process.send_signal(signal.SIGINT)
    outcome = ended(process)

    assert list(variables) == ["OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"]
    assert variables["OPENAI_BASE_URL"] == f"{variables['ANTHROPIC_BASE_URL']}/v1"
    assert (headers["x-jury-simulated"], answer["model"]) == ("1", "gpt-4o")
    assert (outcome.code, outcome.out) == (0, "")
    url = variables["ANTHROPIC_BASE_URL"]
    assert outcome.err.splitlines() == [
        f"simulated: no model is called, whatever name is asked for; serving at {url} until Ctrl-C",
        "jury: stopping",
        "simulated: 1 request, at most 1 at once, 0 refused; faults: none",
    ]


@pytest.mark.full
def test_a_file_scripts_faults_and_other_machines_need_an_option(jury, serving):
    jury.write("faults.yaml", "initial/*: [wrong_model]\n")
    process, variables = serving("--script", "faults.yaml", "--host", "0.0.0.0")
    models = [post(f"{variables['OPENAI_BASE_URL']}/chat/completions")[1]["model"] for _ in range(2)]
    process.send_signal(signal.SIGINT)
    outcome = ended(process)

    assert models == ["another-model-1", "gpt-4o"]
    assert "0.0.0.0 is no loopback address: anyone who reaches this machine can use the server" in outcome.err
    assert outcome.err.endswith("faults: wrong_model 1\n")


def test_a_port_that_is_taken_is_named(jury):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        outcome = jury("simulate", "--port", str(port))

    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        f"jury: 127.0.0.1:{port}: Address already in use; choose another --port (0: any that is free) or --host\n"
    )


def test_the_guide_lists_every_fault_and_its_script_can_be_played():
    scripted = read_yaml(re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)[0]).data

    assert WireScript(scripted={pattern: tuple(faults) for pattern, faults in scripted.items()})
    assert {"answered"} == {fault for fault in WireScript.faults if f"`{fault}`" not in GUIDE}

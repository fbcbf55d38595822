"""Whole runs through the three real SDKs: against simulated models over HTTP, and against a third-party server."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jury_events import ExchangeRecorded, calls_stream, decode
from jury_store import open_store
from support.command_line import CommandLine
from support.tiers import others_full
from support.waiting import eventually

CANARY = "sk-canary-0123456789abcdef0123456789abcdef"
KEYS = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"), CANARY)
EXAMPLES = str(Path(__file__).parents[2] / "examples" / "cases.jsonl")
SEATS = ("gpt", "claude", "gemini")
REAL = ("openai/gpt-5.4-mini", "anthropic/claude-haiku-5-5", "google/gemini-3.5-flash-lite")
JUDGE = "openai-responses/gpt-5.5"

Serve = Callable[..., dict[str, str]]


@pytest.fixture
def serve(jury: CommandLine) -> Iterator[Serve]:
    """Starts `jury simulate`; gives the variables that it prints, and the keys."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str) -> dict[str, str]:
        process = jury.start("simulate", *arguments)
        started.append(process)
        assert process.stdout is not None
        lines = [process.stdout.readline().decode().removeprefix("export ").strip() for _ in range(3)]
        return dict(line.split("=", 1) for line in lines) | KEYS

    yield start
    for process in started:
        process.send_signal(signal.SIGINT)
        process.communicate()


def a_panel(jury: CommandLine, name: str, models: tuple[str, ...], judge: str, **more: Any) -> str:
    """A panel file with these models in the same seats."""
    seats = [{"model": model, "juror_id": seat, "fallbacks": []} for model, seat in zip(models, SEATS, strict=True)]
    panel = {"seats": seats, "final": {"judge": {"model": judge, "fallbacks": []}}, **more}
    return jury.write(f"{name}.json", panel)


def exchanges(jury: CommandLine, store: str, debate_id: str) -> list[ExchangeRecorded]:
    reader = open_store(f"sqlite:///{jury.folder / store}", write=False)
    try:
        decoded = [decode(event) for event in reader.read_stream(calls_stream(debate_id))]
    finally:
        reader.close()
    return [exchange for exchange in decoded if isinstance(exchange, ExchangeRecorded)]


def course(found: list[ExchangeRecorded]) -> Counter[tuple[object, ...]]:
    """Requests and answers, of all models."""
    return Counter(
        (one.step, one.turn, one.attempt, one.outcome, tuple((tool.name, tool.ok) for tool in one.tool_calls))
        for one in found
    )


@pytest.mark.parametrize("preset", others_full("parallel-rounds", "adk-sequential"))
def test_the_verdicts_equal_those_of_simulated_jurors_in_process(jury: CommandLine, serve: Serve, preset: str) -> None:
    variables = serve("--port", "0")
    simulated = ("simulated/a", "simulated/b", "simulated/c")
    there = jury.run(
        EXAMPLES, "--panel", a_panel(jury, "real", REAL, JUDGE, preset=preset), "--run", "r", "--jsonl",
        "--store", "sqlite:///real.db", env=variables,
    )  # fmt: skip
    here = jury.run(
        EXAMPLES, "--panel", a_panel(jury, "simulated", simulated, "simulated/judge", preset=preset), "--run", "r",
        "--jsonl", "--store", "sqlite:///simulated.db",
    )  # fmt: skip

    assert (0, 0) == (there.code, here.code)
    assert len(there.lines) > 2
    assert there.lines == here.lines, "simulated jurors over HTTP say that they are simulated, too"
    calls = [
        (
            course(exchanges(jury, "real.db", line["debate_id"])),
            course(exchanges(jury, "simulated.db", line["debate_id"])),
        )
        for line in there.lines
    ]
    assert [real for real, _ in calls] == [simulated for _, simulated in calls]
    assert any(tools for real, _ in calls for (*_, tools) in real), "tools were called over HTTP"
    assert CANARY not in there.out + there.err
    assert not [path.name for path in jury.folder.iterdir() if CANARY.encode() in path.read_bytes()]


@pytest.mark.full
def test_at_most_64_calls_are_in_flight_from_one_process(jury: CommandLine, serve: Serve) -> None:
    # Six seconds a call: 90 calls want to start at once, and a machine that sends 11 a second fills the 64 slots.
    # A slow machine sends fewer in that time, so the lower bound only says that calls are made in parallel.
    variables = serve("--port", "0", "--latency", "6", "--sigma", "0")
    cases = jury.write("cases.jsonl", *({"id": f"c{n}", "question": "Open?", "response": "At 9."} for n in range(30)))
    panel = a_panel(jury, "real", REAL, JUDGE, discussion={"max_rounds": 0})
    outcome = jury.run(cases, "--panel", panel, "--concurrency", "30", env=variables)
    with urllib.request.urlopen(f"{variables['ANTHROPIC_BASE_URL']}/_simulate/served") as response:
        served = json.load(response)

    assert outcome.code == 0
    assert served["requests"] == 30 * 4
    assert 16 < served["in_flight_peak"] <= 64


@pytest.mark.full
def test_a_provider_that_is_not_there_stops_the_run_and_once_it_is_the_run_completes(
    jury: CommandLine, serve: Serve
) -> None:
    port = free_port()
    cases = jury.write("cases.jsonl", *({"id": f"c{n}", "question": "Open?", "response": "At 9."} for n in range(40)))
    panel = jury.write(
        "panel.json",
        {
            "preset": "independent",
            "providers": {"mine": {"protocol": "openai", "base_url": f"http://127.0.0.1:{port}/v1"}},
            "seats": [{"model": "mine/m", "juror_id": "one"}],
        },
    )
    stopped = jury.run(cases, "--panel", panel, "--run", "r", "--concurrency", "20")
    unfinished = jury("list", "--run", "r", "--unfinished", "--json").json
    serve("--port", str(port))
    whole = jury.run(cases, "--panel", panel, "--run", "r", "--jsonl")

    assert (4, "") == (stopped.code, stopped.out), "no debate ended for want of a provider"
    assert 1 == stopped.err.count("mine/m: the provider answered none of 10 calls, the last: ConnectError")
    assert 0 < len(unfinished) < 40
    assert (0, 40) == (whole.code, len(whole.lines))
    assert all(line["quorum_met"] for line in whole.lines)


@pytest.mark.full
def test_where_another_model_can_be_asked_a_provider_may_be_away(jury: CommandLine, serve: Serve) -> None:
    variables = serve("--port", "0")
    cases = jury.write("cases.jsonl", *({"id": f"c{n}", "question": "Open?", "response": "At 9."} for n in range(20)))
    panel = jury.write(
        "panel.json",
        {
            "preset": "independent",
            "providers": {"mine": {"protocol": "openai", "base_url": f"http://127.0.0.1:{free_port()}/v1"}},
            "settings": {"tries": 1},
            "seats": [{"model": "mine/m", "juror_id": "one", "fallbacks": ["anthropic/m"]}],
        },
    )
    outcome = jury.run(cases, "--panel", panel, "--jsonl", "--concurrency", "2", env=variables)

    assert (0, 20) == (outcome.code, len(outcome.lines))


def free_port() -> int:
    """An address without a listener."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


@pytest.fixture
def llmock(tmp_path: Path) -> Iterator[str]:
    """A third-party server of the three protocols (PyPI `llmock`), which refuses one call of five."""
    port = free_port()
    command = [str(Path(sys.executable).with_name("llmock")), "serve", "--port", str(port), "--error-rate", "429=0.2"]
    with (tmp_path / "llmock.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=tmp_path)
    url = f"http://127.0.0.1:{port}"
    eventually(lambda: process.poll() is not None or _answers(port))
    yield url
    process.send_signal(signal.SIGINT)
    process.wait()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.full
def test_a_server_that_is_not_ours_finds_no_misbehaviour(jury: CommandLine, llmock: str) -> None:
    panel = a_panel(
        jury,
        "llmock",
        REAL,
        JUDGE,
        discussion={"max_rounds": 1},
        providers={
            "openai": {"base_url": f"{llmock}/v1"},
            "openai-responses": {"base_url": f"{llmock}/v1"},
            "anthropic": {"base_url": f"{llmock}/anthropic"},
            "google": {"base_url": f"{llmock}/gemini", "api_version": "v1beta"},
        },
    )
    outcome = jury.run(EXAMPLES, "--limit", "3", "--panel", panel, "--run", "r", "--jsonl")
    report = subprocess.run(
        [str(Path(sys.executable).with_name("llmock")), "report", "--url", llmock, "--strict", "--json"],
        check=False, capture_output=True, text=True, env=os.environ,
    )  # fmt: skip
    verdict = json.loads(report.stdout)
    recorded = [one for line in outcome.lines for one in exchanges(jury, "jury.db", line["debate_id"])]
    outcomes = Counter(one.outcome.value for one in recorded)

    assert report.returncode == 0, report.stdout
    assert ["completed"] * 3 == [line["status"] for line in outcome.lines]
    assert {"needs_review"} == {line["final_verdict"] for line in outcome.lines}, (
        "its answers contain no ballot: no votes"
    )
    assert set(outcomes) == {"answered", "rate_limited"}
    assert any(one.tool_calls for one in recorded)
    assert (verdict["attempts"], verdict["faults_injected"]) == (len(recorded), outcomes["rate_limited"])
    assert verdict["findings"] == []

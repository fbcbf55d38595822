"""`jury export --to`, by command."""

import threading

import pytest

from support.command_line import CommandLine
from support.json_server import JsonAnswer, JsonRequest, json_server

GUARD = 300.0
"""Seconds after which a process that hangs is given up."""

KEYS = {"LANGFUSE_PUBLIC_KEY": "pk-lf-1", "LANGFUSE_SECRET_KEY": "sk-lf-secret"}


@pytest.fixture
def traced(jury: CommandLine) -> CommandLine:
    rows = [
        {"case_id": name, "question": "Hi.", "response": "Hello.", "metadata": {"trace_id": name}}
        for name in ("a", "b")
    ]
    jury.run(jury.write("traced.jsonl", *rows), "--run", "t1", "--panel", "independent")
    return jury


def test_it_says_what_it_writes_and_writes_once(traced: CommandLine) -> None:
    with json_server(lambda _request: JsonAnswer({"message": "Accepted"}, 202)) as server:
        environment = {**KEYS, "LANGFUSE_BASE_URL": server.url}
        arguments = ("export", "--run", "t1", "--to", "langfuse")
        planned = traced(*arguments, "--dry-run", env=environment)
        nothing = list(server.requests)
        written = traced(*arguments, env=environment)
        again = traced(*arguments, "--json", env=environment)

    assert "t1~a: would be written on trace a: jury.verdict " in planned.out
    assert "langfuse: 2 debates: 2 written, nothing written" in planned.err
    assert [] == nothing
    assert 2 == len(written.out.splitlines())
    assert "langfuse: 2 debates: 2 written" in written.err
    assert ["unchanged", "unchanged"] == [line["status"] for line in again.lines]
    assert 2 == len(server.requests)


@pytest.mark.full
def test_a_killed_export_goes_on_with_what_is_not_recorded(traced: CommandLine) -> None:
    arrived, answered = threading.Event(), threading.Event()

    def answer(request: JsonRequest) -> JsonAnswer:
        if request.body[0]["traceId"] == "b" and not arrived.is_set():
            arrived.set()
            answered.wait(GUARD)
        return JsonAnswer({"message": "Accepted"}, 202)

    with json_server(answer) as server:
        environment = {**KEYS, "LANGFUSE_BASE_URL": server.url}
        arguments = ("export", "--run", "t1", "--to", "langfuse")
        process = traced.start(*arguments, env=environment)
        assert arrived.wait(GUARD)
        process.kill()
        process.wait()
        answered.set()
        again = traced(*arguments, env=environment)
        bodies = [request.body for request in server.requests]

    assert "langfuse: 2 debates: 1 unchanged, 1 written" in again.err
    assert ["a", "b", "b"] == [body[0]["traceId"] for body in bodies]
    assert bodies[1] == bodies[2]


def test_a_collector_that_is_not_there_is_one_line(jury: CommandLine) -> None:
    case = {"case_id": "a", "question": "Hi.", "response": "Hello.", "metadata": {"trace_id": "0f" * 16}}
    jury.run(jury.write("traced.jsonl", case), "--run", "t1", "--panel", "independent")
    address = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
    outcome = jury("export", "--run", "t1", "--to", "otel", env=address)

    assert 4 == outcome.code
    assert 1 == len(outcome.err.splitlines())

"""`jury export --to`, by command."""

import pytest

from support.command_line import CommandLine
from support.json_server import JsonAnswer, json_server

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

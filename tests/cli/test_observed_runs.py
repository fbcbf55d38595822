"""What can be observed of a command: metrics over HTTP, logs as JSON."""

import json
import logging
import re
from typing import Any

import httpx2
import pytest

from jury_events import CallOutcome
from jury_providers import ModelReply, ModelRequest, SimulatedProvider
from jury_store import open_store
from support.command_line import CommandLine
from support.otlp_receiver import otlp_receiver
from support.scraped import counts, counts_of_log, samples
from support.served import line, started, url_in
from support.waiting import eventually

CASES = [{"case_id": f"c{number}", "question": "Refund order 17.", "response": "Refunded."} for number in range(2)]


@pytest.mark.full
def test_a_run_serves_its_metrics_while_it_lasts(jury: CommandLine) -> None:
    cases = jury.write("cases.jsonl", *CASES)
    arguments = ("--run", "r1", "--in-process", "--metrics-port", "0", "--simulate", "latency=0.3")
    with started(jury, "run", cases, *arguments) as process:
        said = line(process)
        seen: list[str] = []

        def scraped() -> bool:
            try:
                seen.append(httpx2.get(url_in(said), timeout=300).text)
            except httpx2.HTTPError:
                return True
            return False

        eventually(scraped)
        process.communicate()
    store = open_store(f"sqlite:///{jury.folder / 'jury.db'}", write=False)
    at_end = counts_of_log(store, [f"r1~c{number}" for number in range(2)])
    store.close()
    calls = [samples(text).get(("jury_calls_total", ("simulated", "juror", "answered")), 0.0) for text in seen]

    assert said.startswith("metrics: http://127.0.0.1:")
    assert calls == sorted(calls)
    assert calls[-1] > 0
    assert set(counts(seen[-1])) <= set(at_end)
    assert all(value <= at_end[key] for key, value in counts(seen[-1]).items())


def objects(text: str) -> list[dict[str, Any]]:
    """The lines of stderr, each of which is an object."""
    return [json.loads(one) for one in text.splitlines()]


def test_lines_are_json_with_the_ids_of_what_they_concern(jury: CommandLine) -> None:
    cases = jury.write("cases.jsonl", *CASES)
    outcome = jury.run(cases, "--run", "r1", "--log-format", "json")
    lines = objects(outcome.err)

    assert 0 == outcome.code
    assert {"time", "level", "event", "message", "process", "pid", "logger"} <= set.intersection(*map(set, lines))
    assert all(re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{6}Z", one["time"]) for one in lines)
    assert not {"call_answered", "committed"} & {one["event"] for one in lines}, "of the level debug"
    completed = [one for one in lines if one["event"] == "debate_completed"]
    assert [f"r1~c{number}" for number in range(2)] == sorted(one["debate"] for one in completed)
    assert {"r1"} == {one["run"] for one in completed}
    [started_line, ended] = [one for one in lines if one["event"] in {"run_started", "run_ended"}]
    assert (2, "r1", "info") == (started_line["debates"], started_line["run"], started_line["level"])
    assert (2, 0, False) == (ended["judged"], ended["unfinished"], ended["interrupted"])


def test_text_is_the_default_and_the_results_on_stdout_are_the_same(jury: CommandLine) -> None:
    cases = jury.write("cases.jsonl", *CASES)
    plain = jury.run(cases, "--run", "r1", "--jsonl")
    as_json = jury.run(cases, "--run", "r1", "--jsonl", env={"JURY_LOG_FORMAT": "json"})
    again = jury.run(cases, "--run", "r1", "--jsonl")

    assert plain.out == as_json.out == again.out
    assert objects(as_json.err)
    assert not any(one.startswith("{") for one in (plain.err + again.err).splitlines())
    assert "debate_begun" not in plain.err


def test_the_level_decides_which_lines_are_written(jury: CommandLine) -> None:
    cases = jury.write("cases.jsonl", *CASES)
    events = {
        level: {one["event"] for one in objects(outcome.err)}
        for level in ("debug", "error")
        if (outcome := jury.run(cases, "--run", level, "--log-format", "json", "--log-level", level)).code == 0
    }

    assert {"call_answered", "committed", "debate_begun"} <= events["debug"]
    assert set() == events["error"]


@pytest.mark.parametrize(
    ("arguments", "env", "code", "said"),
    [
        (("run", "none.jsonl", "--log-format", "json"), {}, 2, "none.jsonl"),
        (("run", "--log-format", "json", "--concurrency", "none"), {}, 2, "--concurrency"),
        (("show", "none"), {"JURY_LOG_FORMAT": "json"}, 2, "jury.db"),
    ],
)
def test_an_error_is_one_json_line(
    jury: CommandLine, arguments: tuple[str, ...], env: dict[str, str], code: int, said: str
) -> None:
    outcome = jury(*arguments, env=env)
    [one] = objects(outcome.err)

    assert (code, "error", "error") == (outcome.code, one["level"], one["event"])
    assert said in one["message"]


@pytest.mark.parametrize("variable", ["JURY_LOG_FORMAT", "JURY_LOG_LEVEL"])
def test_a_variable_with_an_unknown_value_is_named(jury: CommandLine, variable: str) -> None:
    outcome = jury("list", env={variable: "yaml"})

    assert (2, "") == (outcome.code, outcome.out)
    assert outcome.err.startswith(f"jury: {variable}: 'yaml' is none of ")
    assert 1 == len(outcome.err.splitlines())


CANARY = "canary-7f3d"


def test_no_line_has_a_text_of_a_case_an_answer_or_an_error(jury: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every way in: a case's texts, an answer that is refused, an exception that quotes them, other packages' logs."""
    cases = jury.write(
        "cases.jsonl",
        {"case_id": "c0", "question": f"{CANARY} question", "response": f"{CANARY} response", "policy": CANARY},
        {"case_id": "c1", "question": f"{CANARY} question", "response": f"{CANARY} response"},
    )
    call = SimulatedProvider.call

    async def breaking(self: SimulatedProvider, request: ModelRequest, on_chunk: Any = None) -> ModelReply:
        prompt = request.messages[-1].whole
        assert CANARY in "".join(message.whole for message in request.messages)
        logging.getLogger("openai").warning("request %s", CANARY)
        logging.getLogger("openai").debug("request %s", CANARY)
        if "~c1/initial" in request.trace:
            raise ValueError(f"{CANARY}: {prompt}")
        if "/1/1" in request.trace:
            return ModelReply(CallOutcome.ANSWERED, answer=f"{CANARY} is no JSON".encode())
        return await call(self, request, on_chunk)

    monkeypatch.setattr(SimulatedProvider, "call", breaking)
    outcome = jury.run(cases, "--run", "r1", "--log-format", "json", "--log-level", "debug")
    lines = objects(outcome.err)

    assert 4 == outcome.code
    assert CANARY not in outcome.err
    assert {"call_answered", "debate_stopped", "debate_unfinished", "log"} <= {one["event"] for one in lines}
    assert {"ValueError"} == {one["error"] for one in lines if "error" in one}
    assert {"openai"} == {one["logger"] for one in lines if "its text is not shown" in one["message"]}


@pytest.mark.parametrize(
    ("arguments", "env"), [(("--otel",), {}), pytest.param((), {"JURY_OTEL": "1"}, marks=pytest.mark.full)]
)
def test_a_run_sends_traces_where_the_standard_variables_say(
    jury: CommandLine, arguments: tuple[str, ...], env: dict[str, str]
) -> None:
    cases = jury.write("cases.jsonl", *CASES)
    with otlp_receiver() as receiver:
        names = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "OTEL_SERVICE_NAME": "a jury"}
        outcome = jury.run(cases, "--run", "r1", *arguments, env={**names, **env})
    roots = [span for span in receiver.spans if not span.parent]

    assert 0 == outcome.code
    assert [f"r1~c{number}" for number in range(2)] == sorted(span.attributes["jury.debate.id"] for span in roots)
    assert {"a jury"} == {span.service for span in roots}

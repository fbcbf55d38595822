"""Traces of OpenTelemetry: repeated messages, order, runs of tools, reused ids, agents, and unexpected values."""

import copy
import json
from pathlib import Path
from random import Random
from typing import Any

from support.described_cases import outcome
from support.foreign_rows import PNG_BASE64, otel
from support.odd_values import places, with_value
from support.otel_spans import ERROR, as_any_value, call, chat, export, returned, said, span
from support.refusals import RefusalTables

Q, A, F = said("user", "Q"), said("assistant", "A"), said("assistant", "Final")
C1, OK = said("assistant", call("c1")), said("tool", returned("c1", "ok"))


def agent(number: int, *times: int, **fields: Any) -> dict[str, Any]:
    return span(number, *times, operation__name="invoke_agent", **fields)


def tool(number: int, *times: int, name: str = "pay", **fields: Any) -> dict[str, Any]:
    """The run of a tool; `arguments`, `result` and `id` are of the call."""
    of_call = {f"tool__call__{key}": fields.pop(key) for key in ("id", "arguments", "result") if key in fields}
    return span(number, *times, operation__name="execute_tool", tool__name=name, **of_call, **fields)


ANSWERS = {"input__messages": [Q], "output__messages": [F]}
BEGUN = [Q, A]
THOUGHT = {"type": "reasoning", "content": "Hm."}
CALLED = said("assistant", call("c1", order="17"))
LANGCHAIN = {"lc": 1, "kwargs": {"type": "tool", "content": "no money", "tool_call_id": "c1", "status": "error"}}
TWO_CALLS = said("assistant", call("c1", a=1), call("c2", a=2))
TWO_RESULTS = [said("tool", returned("c1", "one")), said("tool", returned("c2", "two"))]
WAITED = said("assistant", "Wait.", call("c1"))
ASKED_IN_EVENT = {"name": "gen_ai.user.message", "attributes": [{"key": "content", "value": {"stringValue": "Q"}}]}
DETAILS = {
    "name": "gen_ai.client.inference.operation.details",
    "attributes": [
        {"key": f"gen_ai.{side}.messages", "value": {"stringValue": json.dumps([one])}}
        for side, one in (("input", Q), ("output", A))
    ],
}
THROWN = {"name": "exception", "attributes": [{"key": "exception.message", "value": {"stringValue": "no key"}}]}


def choice(index: int, text: str) -> dict[str, Any]:
    message = json.dumps({"role": "assistant", "content": text})
    values = {"finish_reason": {"stringValue": "length"}, "message": {"stringValue": message}}
    listed = [{"key": key, "value": value} for key, value in {"index": {"intValue": index}, **values}.items()]
    return {"name": "gen_ai.choice", "attributes": listed}


def repeated(*again: dict[str, Any]) -> list[dict[str, Any]]:
    """Requests that repeat some of what the agent did."""
    done = said("assistant", "Done.")
    return [
        chat(1, [Q], [WAITED]),
        chat(2, [Q, *again], [done]),
        chat(3, [Q, *again, done, said("user", "Q2")], []),
    ]


def with_ids(in_message: str | None, in_span: str | None) -> list[dict[str, Any]]:
    """A call that a message and a span contain, with these ids."""
    called = said("assistant", call(in_message, a=1, b=2))
    given = {"id": in_span} if in_span else {}
    return [
        chat(1, [Q], [called]),
        tool(2, 2, 3, arguments='{"b":2, "a":1}', result={"ok": True}, **given),
        chat(4, [Q, called, said("tool", returned(in_message, {"ok": True}))], [said("assistant", "Paid.")]),
    ]


MESSAGES: dict[str, list[dict[str, Any]]] = {
    "an agent that repeats its chats is reported once with its answer last": [
        agent(1, 1, 9, **ANSWERS),
        chat(2, [Q], [C1], 2, 3, of=1),
        chat(3, [Q, C1, OK], [F], 4, 8, of=1),
    ],
    "content that an agent adds to its chats is placed at its start and end": [
        agent(1, 1, 9, input__messages=[said("user", "Q", "Be quick.")], output__messages=[said("assistant", "**F**")]),
        chat(2, [Q], [F], 2, 8, of=1),
    ],
    "outputs of a span are placed at its end": [
        agent(1, 1, 9, **ANSWERS),
        tool(2, 3, 4, of=1, name="read", result="x"),
    ],
    "a user message that is repeated after answers is reported again": [
        chat(index, [said("user", asked)], [said("assistant", answer)])
        for index, (asked, answer) in enumerate([("Pay.", "Sure?"), ("yes", "Really?"), ("yes", "Fine.")])
    ],
    "a user message that is repeated without an answer is reported again": [
        chat(index, [said("user", asked)], []) for index, asked in enumerate(["Pay.", "yes", "yes"])
    ],
    "two agents with equal prompts are both reported": [
        agent(
            number, input__messages=[said("system", "S"), said("user", "P")], output__messages=[said("assistant", one)]
        )
        for number, one in ((1, "A"), (2, "B"))
    ],
    "a request that is retried is reported once": [chat(1, [Q], [], status=ERROR), chat(2, [Q], [A])],
    "two requests that go on from the same answer repeat it once": [
        chat(1, BEGUN[:1], BEGUN[1:]),
        chat(2, [*BEGUN, said("user", "x")], [said("assistant", "X")]),
        chat(3, [*BEGUN, said("user", "y")], [said("assistant", "Y")]),
    ],
    "a repeat without the reasoning is a repeat": [
        chat(1, [Q], [said("assistant", THOUGHT, "A", finish_reason="stop")]),
        chat(2, [*BEGUN, said("user", "Q2")], [said("assistant", "A2")]),
    ],
    "new content of a repeated message is reported": [
        chat(1, [Q], [A]),
        chat(2, [Q, said("assistant", "A", call("c"))], [said("assistant", "A2")]),
    ],
    "a repeat without the call": repeated(said("assistant", "Wait."), OK),
    "a repeat without the text": repeated(C1, OK),
    "a repeat without the call and the text": repeated(OK),
    "a chat around another adds what the inner one lacks": [
        chat(
            *(1, [said("system", "S"), Q], [said("assistant", "A", {"type": "refusal", "content": "No."})], 1, 9),
            operation__name="chat",
        ),
        chat(2, [said("system", "S"), Q], [A], 2, 8, of=1, operation__name="chat"),
    ],
    "names of messages are kept": [chat(1, [said("user", "Q", name="Ann")], [said("assistant", "A", name="planner")])],
    "the first of several choices is the answer": [span(1, events=[ASKED_IN_EVENT, choice(0, "A"), choice(1, "B")])],
    "messages in both attributes and events are reported once": [chat(1, [Q], [A], events=[DETAILS])],
    **{
        f"an unknown field of a {part['type']} is counted": [
            chat(1, [said("user", "Q", {"modality": "image", "caption": "a bill", **part})], [])
        ]
        for part in (
            {"type": "uri", "uri": "https://x.example/y.png"},
            {"type": "blob", "mime_type": "image/png", "content": PNG_BASE64},
            {"type": "file", "file_id": "f"},
        )
    },
    "consecutive texts are one item": [chat(1, [said("user", "Q1", "Q2"), said("critic", "Bad.", "Worse.")], [])],
    "a message whose content was not recorded is named as not shown": [
        chat(1, [Q], [said("assistant", "A", finish_reason="stop")]),
        chat(2, [*BEGUN, said("user")], [said("assistant", finish_reason="stop")]),
    ],
    "a chat that failed is the error of the case": [chat(1, [Q], [], status=ERROR)],
    "the exception of a failed chat is the error of the case": [chat(1, [Q], [], status={"code": 2}, events=[THROWN])],
    "several agents are named speakers and a child agent is no handover": [
        agent(1, 1, 20, agent__name="planner"),
        agent(3, 5, 9, of=1, agent__name="clerk"),
        chat(2, [Q], [said("assistant", "I ask.")], 2, 3, of=1),
        chat(4, [said("user", "Pay it")], [C1], 6, 7, of=3),
    ],
    "one agent is metadata and no speaker": [agent(1, 1, 9, agent__name="shop"), chat(2, [Q], [A], 2, 3, of=1)],
    "ids are metadata": [chat(2, [Q], [], of=1, conversation__id="talk"), span(1)],
}

TOOLS: dict[str, list[dict[str, Any]]] = {
    "a span with the arguments of a call is its run: an id in the message": with_ids("m1", None),
    "a span with the arguments of a call is its run: no id": with_ids(None, None),
    "a span with the arguments of a call is its run: an id in the span": with_ids(None, "s1"),
    "a tool that ran twice with one reported call is reported twice": [
        chat(1, [Q], [said("assistant", call(None, a=1))]),
        *(tool(number, arguments={"a": 1}, result="ok") for number in (2, 3)),
    ],
    "a tool that failed gives its call an error": [chat(1, [Q], [C1]), tool(2, id="c1", status=ERROR)],
    "a run without an id whose arguments are written otherwise is the call of the message": [
        chat(1, [Q], [CALLED]),
        tool(
            *(2, 2, 3),
            arguments={"input_str": "{'order': '17'}", "inputs": {"order": "17"}},
            result={"output": LANGCHAIN},
        ),
        chat(4, [Q, CALLED, said("tool", returned("c1", "no money"))], [said("assistant", "Not paid.")]),
    ],
    "a run is the call of its tool that has the same result": [
        chat(1, [Q], [TWO_CALLS]),
        tool(2, 2, 3, arguments={"a": 2, "dry_run": False}, result="two"),
        chat(4, [Q, TWO_CALLS, *TWO_RESULTS], []),
    ],
    "parallel runs that no message contains keep their results": [
        chat(1, [Q], []),
        tool(2, 2, 5, arguments={"a": 1}, result="one"),
        tool(3, 3, 4, arguments={"a": 2}, result="two"),
    ],
    "a run below another of the same tool and arguments is none of its own": [
        chat(1, [Q], []),
        tool(2, 2, 5, arguments={"a": 1}, id="c1", result="ok"),
        tool(3, 3, 4, of=2, arguments={"a": 1}, result="ok"),
    ],
    "a chat that names a tool is no run of it": [
        chat(1, [Q], [C1], operation__name="chat", tool__name="pay", tool__call__id="c1")
    ],
}


def run(at: int, arguments: Any, result: str, name: str = "pay", **fields: Any) -> dict[str, Any]:
    """A run whose id is the one that all calls have."""
    return tool(at, at, at + 1, name=name, id="t", arguments=arguments, result=result, **fields)


def named(name: str, **arguments: Any) -> dict[str, Any]:
    return {**call("t", **arguments), "name": name}


WAIT = said("assistant", "Wait.")
FIRST, SECOND = said("assistant", call("t", a=1)), said("assistant", call("t", a=2))
ONE, TWO = said("tool", returned("t", "one")), said("tool", returned("t", "two"))
BOTH = said("assistant", named("read", a=1), named("send", a=2))
BEGIN, RUN_1, RUN_2 = chat(1, [Q], [FIRST], 1, 2), run(3, {"a": 1}, "one"), run(7, {"a": 2}, "two")
BEGIN_WAITING = chat(1, [Q], [WAIT], 1, 2)
FAILED = run(7, {"a": 2}, "two", status={"code": 2, "message": "two"})

REUSED_IDS: dict[str, list[dict[str, Any]]] = {
    "the last result is that of a span alone": [BEGIN, RUN_1, chat(5, [Q, FIRST, ONE], [SECOND], 5, 6), RUN_2],
    "the last call and result are those of a span alone": [BEGIN, RUN_1, chat(5, [Q, FIRST, ONE], [], 5, 6), RUN_2],
    "the same arguments in another turn": [
        *(BEGIN, RUN_1, chat(5, [Q, FIRST, ONE], [], 5, 6), run(7, {"a": 1}, "two")),
    ],
    "the last call is that of a span alone, and its result is in a message": [
        *(BEGIN, RUN_1, chat(5, [Q, FIRST, ONE], [], 5, 6), RUN_2, chat(9, [Q, FIRST, ONE, TWO], [], 9, 10)),
    ],
    "the first call and result are those of a span alone": [
        *(BEGIN_WAITING, RUN_1, chat(5, [Q, WAIT], [SECOND], 5, 6), RUN_2),
    ],
    "the first result is that of a span alone": [
        *(BEGIN, RUN_1, chat(5, [Q, FIRST], [SECOND], 5, 6), RUN_2, chat(9, [Q, FIRST, SECOND, TWO], [], 9, 10)),
    ],
    "only the second call has a span": [BEGIN, chat(5, [Q, FIRST, ONE], [], 5, 6), RUN_2],
    "no call is in a message": [BEGIN_WAITING, RUN_1, chat(5, [Q, WAIT], [A], 5, 6), RUN_2],
    "two tools of a turn, by name": [
        *(chat(1, [Q], [BOTH], 1, 2), run(3, {"a": 2}, "two", "send"), run(5, {"a": 1}, "one", "read")),
    ],
    "two tools of a turn, of which a message contains one": [
        chat(1, [Q], [said("assistant", named("read", a=1))], 1, 2),
        run(3, {"a": 2}, "two", "send"),
        run(5, {"a": 1}, "one", "read"),
    ],
    "two calls of a tool in a turn, of which a message contains one": [BEGIN, RUN_1, run(5, {"a": 2}, "two")],
    "one run, traced twice": [BEGIN, RUN_1, run(4, {"a": 1}, "one")],
    "one run, traced twice, that no message contains": [chat(1, [Q], [], 1, 2), RUN_1, run(4, {"a": 1}, "one")],
    "one run whose span has a late clock": [BEGIN, chat(5, [Q, FIRST, ONE], [], 5, 6), run(7, {"a": 1}, "one")],
    "a failed run marks the result of its own turn": [
        BEGIN,
        RUN_1,
        chat(5, [Q, FIRST, ONE], [SECOND], 5, 6),
        FAILED,
        chat(9, [Q, FIRST, ONE, SECOND, TWO], [], 9, 10),
    ],
}


def test_each_thing_that_happened_is_an_item_once_and_in_its_order(printed: RefusalTables, tmp_path: Path) -> None:
    for table, traces in (("otel_messages", MESSAGES), ("otel_tools", TOOLS), ("otel_reused_ids", REUSED_IDS)):
        printed.compare(table, {name: outcome(tmp_path, export(*spans)) for name, spans in traces.items()})


def test_deeply_nested_spans_are_read_in_their_order(tmp_path: Path) -> None:
    nested = [chat(number, [said("user", f"Q{number}")], [], of=number - 1) for number in range(1, 3000)]
    said_so = outcome(tmp_path, export(*nested))

    assert [f'text="Q{number}"' for number in range(1, 3000)] == [
        line.rpartition(" ")[2] for line in said_so.splitlines() if " user (" in line
    ]


def of_trace(trace: str, *spans: dict[str, Any]) -> dict[str, Any]:
    return export(*({**one, "traceId": trace} for one in spans))


def record(of: str, name: str, **body: Any) -> dict[str, Any]:
    fields = [{"key": key, "value": as_any_value(value)} for key, value in body.items()]
    at = {"traceId": "t", "spanId": of, "timeUnixNano": "1"}
    return {**at, "eventName": name, "body": {"kvlistValue": {"values": fields}}}


GOOD = chat(1, [Q], [A])
RECORDS = {
    "resourceLogs": [
        {
            "scopeLogs": [
                {
                    "logRecords": [
                        record("s1", "gen_ai.user.message", content="Q"),
                        record(
                            "s1", "gen_ai.choice", message={"role": "assistant", "content": "A"}, finish_reason="stop"
                        ),
                        record("s1", "http.request", content="x"),
                    ]
                }
            ]
        }
    ]
}


def around(bad: dict[str, Any]) -> list[dict[str, Any]]:
    return [of_trace("a", GOOD), of_trace("bad", bad), of_trace("c", GOOD)]


FILES: dict[str, list[dict[str, Any]]] = {
    "a trace may be spread over the lines of a file": [
        of_trace("http", span(0)),
        export(GOOD),
        of_trace("u", chat(2, [said("user", "other")], [])),
        export(chat(3, [Q, A, said("user", "Q2")], [])),
    ],
    "log records are events of their spans": [RECORDS, export(span(1, 1, 9, operation__name="chat"))],
    "log records without spans": [RECORDS],
    "a trace that only makes an agent is no case": [
        of_trace("made", span(1, operation__name="create_agent", agent__name="shop", system_instructions="Be brief.")),
        of_trace("a", GOOD),
    ],
    "a batch that cannot be read is named by its line": [otel(), {"resourceSpans": 5}],
    "a trace without a question is named with its line": around(span(1, operation__name="chat", status=ERROR)),
    "a trace without messages is named with its line": around(span(1, operation__name="chat")),
    "a trace with another value is named with its line": around(span(1, input__messages="[5]")),
}


def test_traces_of_a_file_are_cases_or_named_by_their_lines(printed: RefusalTables, tmp_path: Path) -> None:
    printed.compare("otel_files", {name: outcome(tmp_path, *lines) for name, lines in FILES.items()})


ODD_SPANS: list[dict[str, Any]] = [
    {"status": "OK"},
    {"status": {"code": [2]}},
    {"events": ["x"]},
    {"events": [{"name": "gen_ai.choice", "attributes": "x"}]},
    {"attributes": [{"key": "gen_ai.x", "value": {"arrayValue": [1]}}]},
    {"attributes": [{"key": "gen_ai.x", "value": {"kvlistValue": {"values": [1]}}}]},
    {"attributes": [{"key": "gen_ai.x", "value": {"intValue": "--5"}}]},
    {"startTimeUnixNano": "9" * 5000},
    {"parentSpanId": "s1"},
]
ODD_MESSAGES: list[dict[str, Any]] = [
    said("assistant", "A", finish_reason=["stop"]),
    said("assistant", {"type": ["x"]}),
    {"role": ["user"], "parts": [{"content": ["x"]}]},
    {"role": "user", "parts": "x"},
]


def test_odd_values_are_read_or_refused_in_one_line(tmp_path: Path) -> None:
    for changed in ODD_SPANS:
        assert outcome(tmp_path, export(chat(1, [Q], []), {**chat(2, [], [], of=1), **changed}))
    for message in ODD_MESSAGES:
        assert outcome(tmp_path, export(chat(1, [Q], [message])))
    assert outcome(tmp_path, {"resourceSpans": [{**otel()["resourceSpans"][0], "resource": "x"}]})


def test_any_value_may_be_anything(tmp_path: Path) -> None:
    random = Random(20261120)
    document = copy.deepcopy(otel())
    for listed in document["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for attribute in listed["attributes"]:
            text = attribute["value"]["stringValue"]
            attribute["value"] = as_any_value(json.loads(text)) if text[:1] in {"[", "{"} else {"stringValue": text}
    everywhere = list(places(document))
    values = [None, [], ["x"], [["x"]], "x", "", "[1]", 2, -1, True, {}, {"x": ["y"]}]

    found = [
        outcome(tmp_path, with_value(document, random.choice(everywhere), random.choice(values))) for _ in range(200)
    ]

    assert 0 < sum(one.startswith("refused: ") for one in found) < 200

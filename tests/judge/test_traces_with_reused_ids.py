"""Tool spans whose ids are reused: an id means the calls of the latest turn that has it, as in messages."""

from typing import Any

import pytest

from support.otel_spans import call, chat, items_of, read, returned, said, span

ASKED, WAIT = said("user", "Q"), said("assistant", "Wait.")


def run(at: int, arguments: Any, result: str | None, name: str = "pay", *, until: int = 0) -> dict[str, Any]:
    fields = {"tool__call__id": "t", "tool__call__arguments": arguments, "tool__call__result": result}
    given = {key: value for key, value in fields.items() if value is not None}
    return span(at, at, until or at + 1, operation__name="execute_tool", tool__name=name, **given)


def named(name: str, **arguments: Any) -> dict[str, Any]:
    return {**call("t", **arguments), "name": name}


FIRST, SECOND = said("assistant", call("t", a=1)), said("assistant", call("t", a=2))
ONE, TWO = said("tool", returned("t", "one")), said("tool", returned("t", "two"))
TURNS = ['tool_call: {"a": 1}', "tool_result: one", 'tool_call: {"a": 2}', "tool_result: two"]
SAME_TURN = ['tool_call: {"a": 1}', 'tool_call: {"a": 2}', "tool_result: one", "tool_result: two"]
BOTH = said("assistant", named("read", a=1), named("send", a=2))

TRACES: dict[str, tuple[list[dict[str, Any]], list[str], list[tuple[int, int]]]] = {
    "the last result is that of a span alone": (
        [
            chat(1, [ASKED], [FIRST], 1, 2),
            run(3, {"a": 1}, "one"),
            chat(5, [ASKED, FIRST, ONE], [SECOND], 5, 6),
            run(7, {"a": 2}, "two"),
        ],
        TURNS,
        [(2, 1), (4, 3)],
    ),
    "the last call and result are those of a span alone": (
        [
            chat(1, [ASKED], [FIRST], 1, 2),
            run(3, {"a": 1}, "one"),
            chat(5, [ASKED, FIRST, ONE], [], 5, 6),
            run(7, {"a": 2}, "two"),
        ],
        TURNS,
        [(2, 1), (4, 3)],
    ),
    "the same arguments in another turn": (
        [
            chat(1, [ASKED], [FIRST], 1, 2),
            run(3, {"a": 1}, "one"),
            chat(5, [ASKED, FIRST, ONE], [], 5, 6),
            run(7, {"a": 1}, "two"),
        ],
        [*TURNS[:2], 'tool_call: {"a": 1}', "tool_result: two"],
        [(2, 1), (4, 3)],
    ),
    "the last call is that of a span alone, and its result is in a message": (
        [
            chat(1, [ASKED], [FIRST], 1, 2),
            run(3, {"a": 1}, "one"),
            chat(5, [ASKED, FIRST, ONE], [], 5, 6),
            run(7, {"a": 2}, "two"),
            chat(9, [ASKED, FIRST, ONE, TWO], [], 9, 10),
        ],
        TURNS,
        [(2, 1), (4, 3)],
    ),
    "the first call and result are those of a span alone": (
        [
            chat(1, [ASKED], [WAIT], 1, 2),
            run(3, {"a": 1}, "one"),
            chat(5, [ASKED, WAIT], [SECOND], 5, 6),
            run(7, {"a": 2}, "two"),
        ],
        ["assistant: Wait.", *TURNS],
        [(3, 2), (5, 4)],
    ),
    "the first result is that of a span alone": (
        [
            chat(1, [ASKED], [FIRST], 1, 2),
            run(3, {"a": 1}, "one"),
            chat(5, [ASKED, FIRST], [SECOND], 5, 6),
            run(7, {"a": 2}, "two"),
            chat(9, [ASKED, FIRST, SECOND, TWO], [], 9, 10),
        ],
        TURNS,
        [(2, 1), (4, 3)],
    ),
    "only the second call has a span": (
        [
            chat(1, [ASKED], [FIRST], 1, 2),
            chat(5, [ASKED, FIRST, ONE], [], 5, 6),
            run(7, {"a": 2}, "two"),
        ],
        TURNS,
        [(2, 1), (4, 3)],
    ),
    "no call is in a message": (
        [
            chat(1, [ASKED], [WAIT], 1, 2),
            run(3, {"a": 1}, "one"),
            chat(5, [ASKED, WAIT], [said("assistant", "A")], 5, 6),
            run(7, {"a": 2}, "two"),
        ],
        ["assistant: Wait.", *TURNS[:2], "assistant: A", *TURNS[2:]],
        [(3, 2), (6, 5)],
    ),
    "two tools of a turn, by name": (
        [chat(1, [ASKED], [BOTH], 1, 2), run(3, {"a": 2}, "two", "send"), run(5, {"a": 1}, "one", "read")],
        [*SAME_TURN[:2], "tool_result: two", "tool_result: one"],
        [(3, 2), (4, 1)],
    ),
    "two tools of a turn, of which a message contains one": (
        [
            chat(1, [ASKED], [said("assistant", named("read", a=1))], 1, 2),
            run(3, {"a": 2}, "two", "send"),
            run(5, {"a": 1}, "one", "read"),
        ],
        [*SAME_TURN[:2], "tool_result: two", "tool_result: one"],
        [(3, 2), (4, 1)],
    ),
    "two calls of a tool in a turn, of which a message contains one": (
        [chat(1, [ASKED], [FIRST], 1, 2), run(3, {"a": 1}, "one"), run(5, {"a": 2}, "two")],
        TURNS,
        [(2, 1), (4, 3)],
    ),
    "one run, traced twice": (
        [chat(1, [ASKED], [FIRST], 1, 2), run(3, {"a": 1}, "one"), run(4, {"a": 1}, "one")],
        TURNS[:2],
        [(2, 1)],
    ),
    "one run, traced twice, that no message contains": (
        [chat(1, [ASKED], [], 1, 2), run(3, {"a": 1}, "one"), run(4, {"a": 1}, "one")],
        TURNS[:2],
        [(2, 1)],
    ),
    "one run whose span has a late clock": (
        [chat(1, [ASKED], [FIRST], 1, 2), chat(5, [ASKED, FIRST, ONE], [], 5, 6), run(7, {"a": 1}, "one")],
        TURNS[:2],
        [(2, 1)],
    ),
}


@pytest.mark.parametrize("trace", TRACES)
def test_the_calls_and_results_of_spans_whose_ids_are_reused(trace: str) -> None:
    spans, items, answered = TRACES[trace]

    case = read(*spans)

    calls = case.scenarios[0].execution.transcript.answered_calls()
    found = [(index, one) for index, one in enumerate(calls) if one is not None]
    assert (["user: Q", *items], answered) == (items_of(case), found)


def test_a_failed_run_marks_the_result_of_its_own_turn() -> None:
    failed = run(7, {"a": 2}, "two") | {"status": {"code": 2, "message": "two"}}
    spans = [
        chat(1, [ASKED], [FIRST], 1, 2),
        run(3, {"a": 1}, "one"),
        chat(5, [ASKED, FIRST, ONE], [SECOND], 5, 6),
        failed,
        chat(9, [ASKED, FIRST, ONE, SECOND, TWO], [], 9, 10),
    ]

    assert ["tool_result: one", 'tool_call: {"a": 2}', "tool_result (error): two"] == items_of(read(*spans))[2:]

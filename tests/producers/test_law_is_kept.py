"""The law notices each way in which a reading, or what a producer says of it, can be wrong."""

import copy
from collections.abc import Callable
from typing import Any

from jury_events import Case, Event, Item, Message, NotShown, ToolCall, ToolResult, Transcript
from producers.law import CaseLaw
from support.each_row import each_row

HAPPENED: dict[str, Any] = {
    "pieces": [
        {"marker": "M01system", "kind": "system", "speaker": None, "name": None, "call": None, "error": False},
        {"marker": "M02user", "kind": "user", "speaker": None, "name": None, "call": None, "error": False},
        {"marker": "M03call", "kind": "call", "speaker": None, "name": "pay", "call": None, "error": False},
        {"marker": "M04call", "kind": "call", "speaker": None, "name": "pay", "call": None, "error": False},
        {"marker": "M05result", "kind": "result", "speaker": None, "name": "pay", "call": "M04call", "error": False},
        {"marker": "M06result", "kind": "result", "speaker": None, "name": "pay", "call": "M03call", "error": True},
        {"marker": "length", "kind": "event", "speaker": None, "name": None, "call": None, "error": False},
        {"marker": "M07answer", "kind": "assistant", "speaker": "ann", "name": None, "call": None, "error": False},
    ],
    "not_shown": [
        {"marker": "M08sound", "what": "audio/wav", "why": "Jurors hear nothing."},
        {"marker": "M09trace", "what": "metadata", "why": "It is the id of the trace."},
    ],
    "error": "M10error",
}

ITEMS: tuple[Item, ...] = (
    Message(kind="user", origin="user", text="M02user pay twice"),
    ToolCall(call_id="a", name="pay", arguments='{"to": "M03call"}'),
    ToolCall(call_id="b", name="pay", arguments='{"to": "M04call"}'),
    ToolResult(call_id="b", name="pay", text="M05result"),
    ToolResult(call_id="a", name="pay", text="M06result", error=True),
    Event(origin="environment", name="end of the answer", text="length"),
    NotShown(origin="user", what="audio/wav"),
    Message(kind="assistant", origin="model", text="M07answer", name="ann"),
)


def case_of(
    items: tuple[Item, ...] = ITEMS,
    *,
    policy: str | None = "M01system",
    response: str = "M07answer",
    error: str | None = "failed: M10error",
    metadata: str = "M09trace",
    question: str = "M02user pay twice",
) -> Case:
    execution = {"response": response, "transcript": Transcript(items=items), "error": error}
    asked = {"prompt": question, "policy": policy}
    scenario = {"scenario_id": "s", "question": asked, "execution": execution}
    return Case.model_validate({"case_id": "c", "scenarios": (scenario,), "metadata": {"trace_id": metadata}})


def without(index: int) -> tuple[Item, ...]:
    return (*ITEMS[:index], *ITEMS[index + 1 :])


def changed(index: int, **fields: Any) -> tuple[Item, ...]:
    return (*ITEMS[:index], ITEMS[index].model_copy(update=fields), *ITEMS[index + 1 :])


def test_a_whole_reading_keeps_it() -> None:
    assert [] == CaseLaw(case_of(), HAPPENED).broken()


WRONG_READINGS: dict[str, tuple[Callable[[], Case], str]] = {
    "a piece is lost": (lambda: case_of(without(5)), "'length' is not shown"),
    "a message is lost": (lambda: case_of(without(4)), "M06result (result) is shown 0 times"),
    "a call is doubled": (lambda: case_of((*ITEMS[:3], *ITEMS[2:])), "M04call (call) is shown 2 times"),
    "the policy is repeated": (
        lambda: case_of((Message(kind="system", origin="developer", text="M01system"), *ITEMS)),
        "M01system (system) is shown 2 times",
    ),
    "another kind": (lambda: case_of(changed(7, kind="user", origin="user")), "is shown as user, it is assistant"),
    "another author": (lambda: case_of(changed(0, origin="model")), "M02user is shown as by model"),
    "another speaker": (lambda: case_of(changed(7, name="bob")), "said by 'bob', its speaker is 'ann'"),
    "another tool": (lambda: case_of(changed(1, name="ask")), "of the tool 'ask', it is of 'pay'"),
    "a failure hidden": (lambda: case_of(changed(4, error=False)), "M06result is shown as a success"),
    "results exchanged": (
        lambda: case_of((*ITEMS[:3], ITEMS[3].model_copy(update={"call_id": "a"}), *ITEMS[4:])),
        "M05result is shown as the answer to M03call",
    ),
    "a guess": (
        lambda: case_of((*ITEMS[:4], ITEMS[4].model_copy(update={"call_id": "z"}), *ITEMS[5:])),
        "M06result is shown as the answer to None",
    ),
    "another order": (lambda: case_of((*ITEMS[:2], ITEMS[3], ITEMS[2], *ITEMS[4:])), "M05result happened after"),
    "an invention": (
        lambda: case_of((*ITEMS, Message(kind="assistant", origin="model", text="boom"))),
        "assistant 'boom' is shown, and nothing of the kind happened",
    ),
    "an event too many": (
        lambda: case_of((*ITEMS, Event(origin="environment", name="end of the answer", text="length"))),
        "event 'end of the answer\\nlength' is shown",
    ),
    "a part dropped": (lambda: case_of(without(6)), "not reported as not shown, 1 times: audio/wav"),
    "a false alarm": (
        lambda: case_of((*ITEMS, NotShown(origin="model", what="field id"))),
        "reported as not shown 1 times more than happened: field id",
    ),
    "metadata lost": (lambda: case_of(metadata="none"), "M09trace is not kept as metadata"),
    "another question": (lambda: case_of(question="M05result"), "the first request is M02user"),
    "an earlier answer": (lambda: case_of(response=""), "the final response is ''"),
    "an error lost": (lambda: case_of(error=None), "the error of the case is None"),
}


@each_row("name", WRONG_READINGS)
def test_a_wrong_reading_breaks_it(name: str) -> None:
    case, said = WRONG_READINGS[name]

    assert any(said in line for line in CaseLaw(case(), HAPPENED).broken())


def test_an_answer_before_the_last_request_is_no_final_response() -> None:
    asked = Message(kind="user", origin="user", text="M11user and now?")
    happened = copy.deepcopy(HAPPENED)
    happened["pieces"].append({**happened["pieces"][1], "marker": "M11user"})

    stale = CaseLaw(case_of((*ITEMS, asked)), happened).broken()
    empty = CaseLaw(case_of((*ITEMS, asked), response=""), happened).broken()

    assert ["the final response is 'M07answer', and the agent said nothing after the last request"] == stale
    assert [] == empty

"""Who speaks in a transcript: final answers, several agents, roles of the record's own, and rules for them."""

import json
from pathlib import Path
from typing import Any

import pytest

from jury_cases import CaseFileError, CaseFiles, CaseOptions
from jury_events import Case
from support.described_cases import outcome
from support.refusals import RefusalTables

USER = {"role": "user", "content": "Delete all my mail."}
EARLIER = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "I never delete anything."}]
CALL = {"role": "assistant", "tool_calls": [{"id": "c", "name": "delete_all", "arguments": "{}"}]}
RESULT = {"role": "tool", "tool_call_id": "c", "content": "deleted"}
PICTURE = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]}


def said(text: str, name: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": text} | ({} if name is None else {"name": name})


def cases(folder: Path, *rows: Any, **options: Any) -> CaseFiles:
    path = folder / "cases.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return CaseFiles([path], CaseOptions(**options))


FINAL_RESPONSES: list[tuple[list[Any], str]] = [
    ([], ""),
    ([CALL], ""),
    ([CALL, RESULT], ""),
    ([said("Done.")], "Done."),
    ([said("Done."), PICTURE], ""),
    ([said("I look."), CALL, RESULT, said("Done.")], "Done."),
    ([said("Done."), CALL, RESULT], "Done."),
    ([said("Done."), {"role": "environment", "content": "closed"}], "Done."),
    ([{**said("Do"), "finish_reason": "length"}], "Do"),
    ([{"role": "assistant", "content": None, "refusal": "I can't."}], "I can't."),
    ([said("A plan.", "planner"), said("Done.", "writer")], "Done."),
    ([said("Done.", "writer"), said("Approved.", "critic")], "Approved."),
    ([said("Done."), {"role": "critic", "content": "Well done."}], "Done."),
    ([said("Done."), {"role": "user", "content": "Thank you! ###STOP###\n"}], "Done."),
    ([said("Done."), {"role": "user", "content": "###STOP### and now the other one"}], ""),
]


def test_the_final_response_is_what_the_agent_said_after_the_last_request(tmp_path: Path) -> None:
    rows = [{"messages": [*EARLIER, USER, *after]} for after, _ in FINAL_RESPONSES]

    assert [expected for _, expected in FINAL_RESPONSES] == [
        case.scenarios[0].execution.response for case in cases(tmp_path, *rows)
    ]


NAMED = {"role": "Web", "name": "a", "content": "Hi."}
TERMINAL = [USER, {"role": "user", "name": "Terminal", "content": "exit 0"}, {"role": "Boss", "content": "Go."}]
KNOWN = [{"role": "human", "content": "Hi."}, said("Hello.")]
DONE = {"role": "Boss", "content": "Done."}
GEMINI = {
    "question": "q",
    "contents": [{"role": "Boss", "parts": [{"text": "Go."}, {"functionCall": {"name": "f", "args": {}}}]}],
}
PARTS = [{"role": "Boss", "parts": [{"type": "text", "content": "Go."}, {"type": "tool_call", "name": "f"}]}]

ROLES: dict[str, tuple[Any, dict[str, str]]] = {
    "roles of the record's own are speakers with their names": (
        [
            {"role": "Orchestrator (thought)", "content": "A plan."},
            {"role": "Web", "content": {"hits": 3}, "thought": "Many.", "tool_calls": [{"name": "stop", "args": {}}]},
            {"role": "Web", "name": "two", "content": None, "refusal": "No."},
        ],
        {},
    ),
    "calls, thoughts and refusals of a named agent are its own": (
        [{**said("", "writer"), "thought": "Hm.", "refusal": "No.", "tool_calls": [{"name": "t", "args": {}}]}],
        {},
    ),
    **{
        f"a role that is the {who}": ([USER, NAMED], {"web*": who})
        for who in ("user", "agent", "system", "tool", "environment", "event", "thought")
    },
    "the first rule that matches a role or name counts": (TERMINAL, {"terminal": "tool", "*": "agent"}),
    "a known role is not matched by a pattern": (KNOWN, {"*": "event"}),
    "a known role is matched by its own word": (KNOWN, {"human": "agent", "assistant": "user"}),
    "agents by rule give the final response": ([USER, DONE], {"Boss": "agent"}),
    "roles of scenarios": ({"scenarios": [{"question": "q", "messages": [DONE]}]}, {"Boss": "agent"}),
    "roles of Gemini": (GEMINI, {}),
    "roles of Gemini by rule": (GEMINI, {"B*": "agent"}),
    "roles of parts": (PARTS, {}),
    "roles of parts by rule": (PARTS, {"B*": "agent"}),
}


def as_row(given: Any) -> dict[str, Any]:
    return {"case_id": "c", **(given if isinstance(given, dict) else {"question": "q", "messages": given})}


def test_roles_are_what_the_record_or_a_rule_says(printed: RefusalTables, tmp_path: Path) -> None:
    printed.compare(
        "roles", {name: outcome(tmp_path, as_row(given), roles=roles) for name, (given, roles) in ROLES.items()}
    )


def test_an_unknown_meaning_of_a_role_is_refused_with_the_nearest() -> None:
    with pytest.raises(CaseFileError, match=r"--role Boss=agnt: .*did you mean agent\?"):
        CaseOptions(roles={"Boss": "agnt"})


def test_a_rule_that_matches_nothing_is_named_with_the_nearest_role(tmp_path: Path) -> None:
    files = cases(tmp_path, as_row([{"role": "Boss", "content": "Hi."}, USER]), roles={"Bos": "agent", "*ss": "agent"})
    list(files)

    (line,) = files.notes.unmatched_roles()
    assert "--role Bos: no message has such a role or name (did you mean Boss?); those that were read have" in line


def called(*names: str) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [{"name": name, "arguments": "{}"} for name in names]}


def result(text: str, name: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "content": text, **fields} | ({} if name is None else {"name": name})


GO = {"role": "user", "content": "Go."}
ONE_ID = [{"id": "t", "type": "function", "function": {"name": name, "arguments": "{}"}} for name in ("read", "send")]
BOTH = {"role": "assistant", "content": "", "tool_calls": ONE_ID}
USED = [{"type": "tool_use", "id": "t", "name": "read", "input": {}}]
TWICE = [{"functionCall": {"name": "a", "args": {}}}] * 2
ANSWERED = [{"functionResponse": {"name": "a", "response": {"output": text}}} for text in ("1", "2")]

CALLS: dict[str, Any] = {
    "a result without an id is of the only call": [called("a"), result("1")],
    "results without ids are of the calls that they can answer": [called("a", "b"), result("1", "b"), result("2")],
    "a result without an id is never given to one of several calls": [
        called("a", "a"),
        result("1", "a"),
        result("2", "a"),
        called("a"),
        result("3", "a"),
    ],
    "results of Gemini come in the order of their calls": {
        "contents": [
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": TWICE},
            {"role": "user", "parts": ANSWERED},
        ]
    },
    "two calls with one id are told apart by name": [
        GO,
        BOTH,
        result("B", "send", tool_call_id="t"),
        result("A", "read", tool_call_id="t"),
    ],
    "two calls with one id are told apart by order": [
        GO,
        BOTH,
        result("A", tool_call_id="t"),
        result("B", tool_call_id="t"),
    ],
    "of two calls with one id the record does not say which": [GO, BOTH, result("A", tool_call_id="t")],
    "calls in the content that share an id are repeated once": [GO, {**BOTH, "content": USED}],
    "a call of the content is repeated where its id is that of an earlier turn too": [
        GO,
        {"role": "assistant", "content": USED, "tool_calls": ONE_ID[:1]},
        result("A", tool_call_id="t"),
        {"role": "assistant", "content": USED, "tool_calls": ONE_ID[:1]},
    ],
}


def test_results_belong_to_their_calls_or_the_record_does_not_say_to_which(
    printed: RefusalTables, tmp_path: Path
) -> None:
    printed.compare("calls", {name: outcome(tmp_path, as_row(given)) for name, given in CALLS.items()})


@pytest.mark.parametrize(
    ("messages", "schema"),
    [
        ([USER, said("Hi.", "a")], 2),
        ([{"role": "Boss", "content": "Go."}], 3),
        ([called("a", "a"), result("1", "a")], 3),
        ([{**called("a"), "name": "writer"}], 3),
    ],
)
def test_only_cases_with_speakers_have_the_next_schema(tmp_path: Path, messages: list[Any], schema: int) -> None:
    (case,) = cases(tmp_path, as_row(messages))
    part = case.changed(reading=0).to_part()

    assert f'"schema":{schema}'.encode() in part
    assert part == Case.from_part(part).to_part()

"""Who speaks in a transcript: final answers, several agents, roles of the record's own, and rules for them."""

import json
from pathlib import Path
from typing import Any

import pytest

from jury_cases.errors import CaseFileError
from jury_cases.files import CaseFiles
from jury_cases.options import CaseOptions
from jury_cases.rows import RowReading, read_case
from jury_cases.transcripts.authors import RoleRules
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_events.case import Case
from jury_events.provenance import without_provenance
from jury_events.transcript import Item, Message, ToolCall, ToolResult

USER = {"role": "user", "content": "Delete all my mail."}
EARLIER = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "I never delete anything."}]
CALL = {"role": "assistant", "tool_calls": [{"id": "c", "name": "delete_all", "arguments": "{}"}]}
RESULT = {"role": "tool", "tool_call_id": "c", "content": "deleted"}


def read(messages: list[Any], roles: dict[str, str] | None = None, **row: Any) -> Case:
    reading = RowReading(roles=RoleRules(roles or {}))
    return read_case({"question": "q", "messages": messages, **row}, reading, default_id="c")


def response(*messages: Any) -> str:
    return read(list(messages)).scenarios[0].execution.response


def items(messages: list[Any], roles: dict[str, str] | None = None) -> tuple[Item, ...]:
    return read(messages, roles).scenarios[0].execution.transcript.items


def answered(*messages: Any) -> tuple[int | None, ...]:
    return read(list(messages)).scenarios[0].execution.transcript.answered_calls()


def said(text: str, name: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": text} | ({} if name is None else {"name": name})


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ([], ""),
        ([CALL], ""),
        ([CALL, RESULT], ""),
        ([said("Done.")], "Done."),
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
    ],
)
def test_the_final_response_is_what_the_agent_said_after_the_last_request(after: list[Any], expected: str) -> None:
    assert expected == response(*EARLIER, USER, *after)


def test_a_picture_of_the_user_is_a_request_too() -> None:
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]}

    assert response(USER, said("Done."), picture) == ""


def test_a_role_of_the_records_own_is_a_speaker_with_its_name() -> None:
    found = items(
        [
            {"role": "Orchestrator (thought)", "content": "A plan."},
            {"role": "Web", "content": {"hits": 3}, "thought": "Many.", "tool_calls": [{"name": "stop", "args": {}}]},
            {"role": "Web", "name": "two", "content": None, "refusal": "No."},
        ]
    )

    assert [
        ("speaker", "unknown", "Orchestrator (thought)"),
        ("reasoning", "unknown", "Web"),
        ("speaker", "unknown", "Web"),
        ("tool_call", "unknown", "Web"),
        ("refusal", "unknown", "Web (two)"),
    ] == [
        (item.kind, item.origin, item.name if isinstance(item, Message) else item.speaker)  # type: ignore[union-attr]
        for item in found
    ]
    assert isinstance(found[2], Message)
    assert found[2].text == '{"hits": 3}'


def test_calls_thoughts_and_refusals_of_a_named_agent_are_its_own() -> None:
    message = {**said("", "writer"), "thought": "Hm.", "refusal": "No.", "tool_calls": [{"name": "t", "args": {}}]}

    assert {"writer"} == {item.speaker for item in items([message])}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("who", "expected"),
    [
        ("user", ("user", "user", "Web (a)")),
        ("agent", ("assistant", "model", "Web (a)")),
        ("system", ("system", "developer", "Web (a)")),
        ("tool", ("tool_result", "tool", "Web (a)")),
        ("environment", ("tool_result", "environment", "Web (a)")),
        ("event", ("event", "environment", "Web (a)")),
    ],
)
def test_a_role_is_what_the_user_says(who: str, expected: tuple[str, ...]) -> None:
    _, found = items([USER, {"role": "Web", "name": "a", "content": "Hi."}], {"web*": who})

    assert expected == (found.kind, found.origin, found.name)  # type: ignore[union-attr]


def test_a_role_can_be_the_agents_thoughts() -> None:
    _, found = items([USER, {"role": "Boss (thought)", "content": "Hm."}], {"*(thought)": "thought"})

    assert ("reasoning", "model", "Boss (thought)") == (found.kind, found.origin, found.speaker)  # type: ignore[union-attr]


def test_the_first_rule_that_matches_a_role_or_name_counts() -> None:
    messages = [USER, {"role": "user", "name": "Terminal", "content": "exit 0"}, {"role": "Boss", "content": "Go."}]

    found = items(messages, {"terminal": "tool", "*": "agent"})

    assert ["user", "tool_result", "assistant"] == [item.kind for item in found]


def test_a_known_role_is_matched_by_its_own_word_alone() -> None:
    messages = [{"role": "human", "content": "Hi."}, said("Hello.")]

    assert ["user", "assistant"] == [item.kind for item in items(messages, {"*": "event"})]
    assert ["assistant", "user"] == [item.kind for item in items(messages, {"human": "agent", "assistant": "user"})]


def test_agents_by_rule_give_the_final_response() -> None:
    case = read([USER, {"role": "Boss", "content": "Done."}], {"Boss": "agent"})

    assert case.scenarios[0].execution.response == "Done."


def test_roles_of_scenarios_are_what_the_user_says() -> None:
    scenario = {"question": "q", "messages": [{"role": "Boss", "content": "Done."}]}

    case = read_case({"scenarios": [scenario]}, RowReading(roles=RoleRules({"Boss": "agent"})), default_id="c")

    assert case.scenarios[0].execution.response == "Done."


@pytest.mark.parametrize(
    "row",
    [
        {"contents": [{"role": "Boss", "parts": [{"text": "Go."}, {"functionCall": {"name": "f", "args": {}}}]}]},
        {
            "messages": [
                {"role": "Boss", "parts": [{"type": "text", "content": "Go."}, {"type": "tool_call", "name": "f"}]}
            ]
        },
    ],
)
def test_roles_of_other_formats_are_speakers_and_follow_the_rules(row: dict[str, Any]) -> None:
    row = {"question": "q", **row}
    speaker, call = read_case(row, default_id="c").scenarios[0].execution.transcript.items
    agent, called = (
        read_case(row, RowReading(roles=RoleRules({"B*": "agent"})), default_id="c")
        .scenarios[0]
        .execution.transcript.items
    )

    assert ("speaker", "unknown", "Boss", "unknown", "Boss") == (
        *(speaker.kind, speaker.origin, speaker.name),  # type: ignore[union-attr]
        *(call.origin, call.speaker),  # type: ignore[union-attr]
    )
    assert ("assistant", "model", "Boss", "model", "Boss") == (
        *(agent.kind, agent.origin, agent.name),  # type: ignore[union-attr]
        *(called.origin, called.speaker),  # type: ignore[union-attr]
    )


def test_an_unknown_meaning_of_a_role_is_refused_with_the_nearest() -> None:
    with pytest.raises(CaseFileError, match=r"--role Boss=agnt: .*did you mean agent\?"):
        CaseOptions(roles={"Boss": "agnt"})


def test_a_rule_that_matches_nothing_is_named_with_the_nearest_role(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps({"question": "q", "messages": [{"role": "Boss", "content": "Hi."}, USER]}))
    files = CaseFiles([path], CaseOptions(roles={"Bos": "agent", "*ss": "agent"}))

    list(files)

    (line,) = files.notes.unmatched_roles()
    assert line == (
        "--role Bos: no message has such a role or name (did you mean Boss?); those that were read have Boss, user"
    )


def called(*names: str) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [{"name": name, "arguments": "{}"} for name in names]}


def result(text: str, name: str | None = None) -> dict[str, Any]:
    return {"role": "tool", "content": text} | ({} if name is None else {"name": name})


def test_a_result_without_an_id_belongs_to_the_only_call_that_it_can_answer() -> None:
    assert (None, 0) == answered(called("a"), result("1"))[-2:]
    assert (None, None, 1, 0) == answered(called("a", "b"), result("1", "b"), result("2"))


def test_a_result_without_an_id_is_never_given_to_one_of_several_calls() -> None:
    transcript = read([called("a", "a"), result("1", "a"), result("2", "a"), called("a"), result("3", "a")])
    found = transcript.scenarios[0].execution.transcript

    assert (None, None, None, None, None, 4) == found.answered_calls()
    assert [True, True, False] == [item.call_unknown for item in found.items if isinstance(item, ToolResult)]


def test_results_of_gemini_come_in_the_order_of_their_calls() -> None:
    parts = [{"functionCall": {"name": "a", "args": {}}}, {"functionCall": {"name": "a", "args": {}}}]
    results = [{"functionResponse": {"name": "a", "response": {"output": text}}} for text in ("1", "2")]
    contents = [{"role": "user", "parts": [{"text": "q"}]}, {"role": "model", "parts": parts}]
    case = read_case({"contents": [*contents, {"role": "user", "parts": results}]}, default_id="c")

    assert (None, None, None, 1, 2) == case.scenarios[0].execution.transcript.answered_calls()


def test_calls_are_found_over_joined_parts_of_a_transcript() -> None:
    before, after = TranscriptBuilder(), TranscriptBuilder()
    for _ in range(2):
        before.add(ToolCall, "x", name="a")
    after.add(ToolResult, "x", name="a", text="1")
    before.extend(after)

    assert (None, None, None) == before.transcript().answered_calls()


def test_a_handover_is_an_event_that_names_both_agents() -> None:
    builder = TranscriptBuilder()

    builder.handover("triage", "refunds", "messages.3")

    (item,) = builder.transcript().items
    assert ("event", "handover", "triage -> refunds") == (item.kind, item.name, item.text)  # type: ignore[union-attr]


def test_cases_without_speakers_are_stored_as_before() -> None:
    case = read([USER, said("Hi.", "a")]).changed(reading=0)

    assert b'"schema":2' in case.to_part()


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "Boss", "content": "Go."}],
        [called("a", "a"), result("1", "a")],
        [{**called("a"), "name": "writer"}],
    ],
)
def test_cases_with_speakers_have_the_next_schema_and_are_read_back(messages: list[Any]) -> None:
    case = read(messages).changed(reading=0)

    assert b'"schema":3' in case.to_part()
    assert without_provenance(case) == Case.from_part(case.to_part())


ONE_ID = [
    {"id": "t", "type": "function", "function": {"name": "read", "arguments": "{}"}},
    {"id": "t", "type": "function", "function": {"name": "send", "arguments": "{}"}},
]


@pytest.mark.parametrize(
    ("results", "calls", "unknown"),
    [
        ([{"name": "send", "content": "B"}, {"name": "read", "content": "A"}], (2, 1), (False, False)),
        ([{"content": "A"}, {"content": "B"}], (1, 2), (False, False)),
        ([{"content": "A"}], (None,), (True,)),
    ],
)
def test_two_calls_of_a_turn_with_one_id_are_told_apart_or_the_record_does_not_say(
    results: list[dict[str, str]], calls: tuple[int | None, ...], unknown: tuple[bool, ...]
) -> None:
    answered = [{"role": "tool", "tool_call_id": "t", **one} for one in results]
    case = read(
        [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "", "tool_calls": ONE_ID}, *answered]
    )

    transcript = case.scenarios[0].execution.transcript
    assert calls == transcript.answered_calls()[3:]
    assert unknown == tuple(item.call_unknown for item in transcript.items[3:] if item.kind == "tool_result")


def test_calls_in_the_content_that_share_an_id_are_repeated_once() -> None:
    blocks = [{"type": "tool_use", "id": "t", "name": "read", "input": {}}]
    case = read([{"role": "user", "content": "Go."}, {"role": "assistant", "content": blocks, "tool_calls": ONE_ID}])

    called = [item.name for item in case.scenarios[0].execution.transcript.items if item.kind == "tool_call"]
    assert ["read", "send"] == called


def test_a_call_of_the_content_is_repeated_where_its_id_is_that_of_an_earlier_turn_too() -> None:
    blocks = [{"type": "tool_use", "id": "t", "name": "read", "input": {}}]
    turn = {"role": "assistant", "content": blocks, "tool_calls": ONE_ID[:1]}
    case = read([{"role": "user", "content": "Go."}, turn, {"role": "tool", "tool_call_id": "t", "content": "A"}, turn])

    kinds = [item.kind for item in case.scenarios[0].execution.transcript.items]
    assert ["user", "tool_call", "tool_result", "tool_call"] == kinds

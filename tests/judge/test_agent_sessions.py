"""Sessions of coding agents: branches, runs of sub-agents, and files that belong to a session's file."""

import json
from pathlib import Path
from typing import Any

import pytest

from jury_cases import CaseFileError, CaseFiles
from jury_events import Case
from support.printed_cases import items_of, printed_case
from support.refusals import RefusalTables

SESSION = "46a2e274-786f-4737-8c7e-a8091b5f3dad"


def line(uuid: str, parent: str | None, role: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": f"msg-{uuid}"}
    return {"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": SESSION, "message": message, **more}


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-11-23T20:10:51.746Z", "type": kind, "payload": payload}


def said(role: str, text: str) -> dict[str, Any]:
    return codex("response_item", type="message", role=role, content=[{"type": "input_text", "text": text}])


def call(call_id: str, prompt: str) -> list[dict[str, Any]]:
    return [
        {"type": "tool_use", "id": call_id, "name": "Agent", "input": {"prompt": prompt, "subagent_type": "helper"}}
    ]


def result(call_id: str, text: str) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": call_id, "content": text}]


def written(path: Path, lines: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return path


def session(folder: Path, lines: list[Any]) -> Path:
    return written(folder / f"{SESSION}.jsonl", lines)


def read(path: Path) -> Case:
    (case,) = CaseFiles([path])
    return case


CLEAR = "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>"
SESSIONS = {
    "the branch of the last line is shown and others are named": [
        line("a", None, "user", "Try."),
        line("b", "a", "assistant", "One."),
        line("c", "b", "user", "Go on."),
        line("d", "c", "assistant", "Two."),
        line("e", "b", "user", "Otherwise."),
        line("f", "e", "assistant", "Three."),
    ],
    "a conversation after clear does not abandon the one before": [
        line("a", None, "user", "Try."),
        line("b", "a", "assistant", "One."),
        line("c", None, "user", CLEAR),
        line("d", "c", "user", "Anew."),
        line("e", "d", "assistant", "Two."),
    ],
    "a run whose file is missing is named": [
        line("a", None, "user", "Ask."),
        line("b", "a", "assistant", call("t1", "Look.")),
        line("c", "b", "user", result("t1", "Found."), toolUseResult={"agentId": "../../a1"}),
    ],
    "cycles, unknown parents and equal ids end": [
        line("a", "c", "user", "One."),
        line("b", "nobody", "assistant", "Two."),
        line("c", "c", "user", "Three."),
        line("c", "b", "user", "Again."),
    ],
    "what the user did not write is no request": [
        line("a", None, "user", "Do it."),
        line("b", "a", "assistant", "Yes."),
        line("c", "b", "user", "[Request interrupted by user]"),
        line("d", "c", "user", "<local-command-stdout>ok</local-command-stdout>"),
        line("e", "d", "user", "<task-notification>done</task-notification>"),
        line("f", "e", "user", "Use <b>bold</b>."),
    ],
    "a turn of Codex that was taken back is named": [
        codex("session_meta", id="s", base_instructions={"text": "Be brief."}),
        said("user", "One."),
        said("assistant", "First."),
        said("user", "Two."),
        said("assistant", "Second."),
        codex("event_msg", type="thread_rolled_back", num_turns=1),
        said("user", "Three."),
    ],
}


def test_sessions(printed: RefusalTables, tmp_path: Path) -> None:
    found = {name: printed_case(read(session(tmp_path / name, lines))) for name, lines in SESSIONS.items()}

    printed.compare("agent_sessions", found)


@pytest.mark.parametrize("layout", ["inside", "beside", "own folder"])
def test_a_sub_agents_run_is_shown_before_its_result_in_every_layout(tmp_path: Path, layout: str) -> None:
    run = [
        line("s1", None, "user", "Look.", isSidechain=True, agentId="a1"),
        line("s2", "s1", "assistant", "I look.", isSidechain=True, agentId="a1"),
        line("s3", "s2", "assistant", "Found.", isSidechain=True, agentId="a1"),
    ]
    before = [line("a", None, "user", "Ask."), line("b", "a", "assistant", call("t1", "Look."))]
    after = [
        line("c", "b", "user", result("t1", "Found."), toolUseResult={"agentId": "a1"}),
        line("d", "c", "assistant", "Done."),
    ]
    session(tmp_path, [*before, *(run if layout == "inside" else []), *after])
    if layout == "beside":
        written(tmp_path / "agent-a1.jsonl", run)
    if layout == "own folder":
        written(tmp_path / SESSION / "subagents" / "agent-a1.jsonl", run)
        written(tmp_path / SESSION / "subagents" / "agent-a1.meta.json", [{"agentType": "helper", "toolUseId": "t1"}])

    assert [
        ("event", "handover: main agent -> helper"),
        ("assistant", "I look."),
        ("tool_result", "Found."),
        ("assistant", "Done."),
    ] == items_of(read(tmp_path))[2:]


def test_a_file_in_which_nothing_was_said_is_no_case(tmp_path: Path) -> None:
    session(tmp_path, [line("a", None, "user", "Hi.")])
    written(tmp_path / "other.jsonl", [{"type": "summary", "summary": "Of another.", "leafUuid": "x"}])

    assert [SESSION] == [case.case_id for case in CaseFiles([tmp_path])]


ODD = (None, [], {}, "x", 5, True, [1], {"type": 5}, [None])


@pytest.mark.parametrize("field", ["message", "uuid", "parentUuid", "attachment", "toolUseResult", "type", "sessionId"])
def test_odd_values_in_a_line_are_read_or_refused_in_one_line(tmp_path: Path, field: str) -> None:
    for odd in ODD:
        lines = [line("a", None, "user", "One."), {**line("b", "a", "assistant", call("t", "x")), field: odd}]
        path = session(tmp_path, [*lines, {**line("c", "b", "user", result("t", "y")), field: odd}])
        try:
            found = [case.case_id for case in CaseFiles([path])]
        except CaseFileError as error:
            found = str(error).splitlines()

        assert 1 == len(found), odd

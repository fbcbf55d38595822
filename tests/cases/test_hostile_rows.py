"""Rows with values that nobody expects, and rows that never end: read, or refused in one line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jury_cases import CaseFileError, format_of, read_case
from jury_events import ToolCall, ToolResult, Transcript, is_cut_short
from support.described_cases import outcome, outcome_of, read
from support.each_row import each_row
from support.foreign_rows import FORMATS, whole_row
from support.odd_values import ODD, with_odd_values
from support.otel_spans import as_any_value, chat, export, said

PRODUCED = Path(__file__).parents[1] / "producers" / "langchain"
DUMPS = ("message_to_dict", "dumpd", "responses_v1", "anthropic_v0_chunks", "chat_v0_chunks")
SESSION = [
    {"type": "user", "uuid": "a", "parentUuid": None, "message": {"role": "user", "content": "Hi."}},
    {
        "type": "user",
        "uuid": "b",
        "parentUuid": "a",
        "attachment": {},
        "toolUseResult": {"agentId": "a1"},
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "y"}]},
    },
]


def in_one_line(row: Any, form: str | None = None) -> bool:
    try:
        found = [case.case_id for case in read(row, form)]
    except CaseFileError as error:
        found = [str(error)]
    return not any("\n" in line for line in found)


def any_values() -> dict[str, Any]:
    """An export whose attributes are values of OTLP, not JSON in texts."""
    document: dict[str, Any] = whole_row("otel")
    for span in document["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for attribute in span["attributes"]:
            text = attribute["value"]["stringValue"]
            attribute["value"] = as_any_value(json.loads(text)) if text[:1] in {"[", "{"} else {"stringValue": text}
    return document


def rows() -> Iterator[tuple[str, Any, int]]:
    """Rows by name, and of how many places one is tried."""
    yield from ((name, whole_row(name), 5) for name in FORMATS)
    yield "values of OTLP", any_values(), 7
    for name in DUMPS:
        messages = json.loads((PRODUCED / f"{name}.json").read_text(encoding="utf-8"))
        yield f"{name} of LangChain", {"messages": messages}, 23


def test_odd_values_anywhere_are_read_or_refused_in_one_line(subtests: pytest.Subtests) -> None:
    for name, row, step in rows():
        form = format_of(row, None).name
        with subtests.test(name):
            assert all(in_one_line(odd, form) for odd in with_odd_values(row, step))


@pytest.mark.long
def test_odd_values_in_every_place_are_read_or_refused_in_one_line(subtests: pytest.Subtests) -> None:
    for name, row, _ in rows():
        with subtests.test(name):
            assert all(in_one_line(odd) for odd in with_odd_values(row))


@each_row("field", ["message", "uuid", "parentUuid", "attachment", "toolUseResult", "type"])
def test_odd_values_in_a_session_are_read_or_refused(tmp_path: Path, field: str) -> None:
    for odd in ODD:
        assert outcome(tmp_path, *({**line, field: odd} for line in SESSION)) or odd is None


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


@each_row("changed", ODD_SPANS)
def test_odd_spans_are_read_or_refused(tmp_path: Path, changed: dict[str, Any]) -> None:
    document = export([chat(1, [said("user", "Q")], []), chat(2, [], [], parent="s1")])
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][1] |= changed

    assert outcome(tmp_path, document)


def test_deeply_nested_spans_are_read_in_their_order(tmp_path: Path) -> None:
    names = [f"Q{number}" for number in range(1, 1500)]
    nested = [chat(n, [said("user", name)], [], parent=f"s{n - 1}") for n, name in enumerate(names, 1)]

    lines = outcome(tmp_path, export(nested)).splitlines()
    assert [f'text="{name}"' for name in names] == [one.rpartition(" ")[2] for one in lines if " user (" in one]


def runs_in_runs() -> str:
    return '{"id": "r", "run_type": "chain", "inputs": {}, "child_runs": [' * 100_000 + "]}" * 100_000


def a_deep_text() -> str:
    span = {"object": "trace.span", "id": "a", "trace_id": "t", "parent_id": None, "error": None}
    asked = [{"role": "user", "content": "DEEP"}]
    line = json.dumps({**span, "span_data": {"type": "generation", "input": asked, "output": []}})
    return line.replace("DEEP", "[" * 50_000 + "]" * 50_000)


@pytest.mark.parametrize("make", [runs_in_runs, a_deep_text])
def test_deep_lines_are_read_or_refused_in_one_line(tmp_path: Path, make: Any) -> None:
    (tmp_path / "deep.jsonl").write_text(make() + "\n", encoding="utf-8")

    assert outcome_of(tmp_path / "deep.jsonl")


def test_a_row_that_is_nested_too_deeply_is_refused() -> None:
    content: list[object] = []
    for _ in range(3000):
        content = [{"type": "tool_result", "content": content}]

    with pytest.raises(CaseFileError, match="nested too deeply"):
        read_case({"messages": [{"role": "user", "content": content}]}, default_id="first")


def test_a_line_truncated_inside_a_string_is_scanned_once() -> None:
    assert is_cut_short(json.dumps({"a": 'x"' * 200_000})[:-3])


@pytest.mark.full
def test_results_find_their_calls_among_very_many() -> None:
    count = 60_000  # a reading that looks through all that wait for each of them would not end
    calls = tuple(ToolCall(name=f"a{number}") for number in range(count))
    results = tuple(ToolResult(name=f"a{number}", text="") for number in reversed(range(count)))

    found = Transcript(items=calls + results).answered_calls()

    assert list(reversed(range(count))) == list(found[count:])

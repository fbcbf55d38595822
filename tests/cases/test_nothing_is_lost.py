"""Every text of a transcript is shown to jurors, or counted among what they are not shown; under its author, and once:
`producers/test_read_back.py`.
"""

import json
from collections.abc import Iterator
from typing import Any

from jury_events import Case
from support.described_cases import read, text_shown
from support.each_row import each_row
from support.foreign_rows import FORMATS, whole_row
from support.odd_values import Place, with_value

NEW = "unheard_of"
TOKEN = "TOKEN-4711"

OUTSIDE = frozenset(
    {
        # Of the row, not of the transcript: read for lists and statistics, or not (docs/reference/cases.md).
        *("metadata", "usage", "usageMetadata", "info", "injections", "vars", "testCase", "gradingResult", "provider"),
        *("agent", "metrics", "final_metrics"),
        *("scores", "tokenUsage", "observations", "resource", "attributes", "request", "body", "incomplete_details"),
        # How a block is cached, and a call that its message repeats.
        *("cache_control", "tool_call"),
        # Expected calls and scores of DeepEval, and what LangGraph was run with, are no part of the transcript.
        *("expectedTools", "metricsData", "config"),
        # What a library keeps of an answer or a retry for itself.
        *("provider_details", "retry"),
    }
)


def objects(value: Any, path: Place = ()) -> Iterator[Place]:
    """The path of every object below a transcript."""
    if isinstance(value, dict):
        if path:
            yield path
        for key, inner in value.items():
            if key not in OUTSIDE:
                yield from objects(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from objects(inner, (*path, index))


def with_bodies(name: str) -> Any:
    """The row with requests and responses merged, so that only transcripts are below its top."""
    row = whole_row(name)
    if name == "openai-chat":
        return {"messages": row["request"]["body"]["messages"], "choices": row["response"]["body"]["choices"]}
    if name == "promptfoo":
        return {**row, "prompt": {"raw": json.loads(row["prompt"]["raw"])}}
    if name == "langfuse-observations":
        return {**row, "input": json.loads(row["input"]), "output": [json.loads(row["output"])]}
    return row


TRACES = frozenset(
    {
        *("otel", "openinference", "mlflow", "langsmith", "openai-agents", "opik", "opik-spans", "langwatch"),
        *("braintrust", "weave"),
    }
)
"""Spans are records of a tracing tool: most of their fields are of the tool."""

WITHOUT_OBJECTS = {*TRACES, "promptfoo-table"}
"""Rows whose messages are in texts, or that have texts only."""


REPEATED = {"google-adk": ("events", 5), "openai-agents-state": ("generated_items", 5)}
"""A fragment of an answer that follows whole, and the approval of a call that stands before it."""


@each_row("name", [name for name in FORMATS if name not in WITHOUT_OBJECTS])
def test_an_unknown_field_is_shown_or_counted(name: str) -> None:
    row = with_bodies(name)
    before = omitted(read(row)[0])
    lost = []
    for place in (one for one in objects(row) if len(one) > 1 and one[:2] != REPEATED.get(name)):
        (case,) = read(with_value(row, (*place, NEW), TOKEN))
        counted = any(NEW in one.what for one in case.omissions(images_seen=True)) or omitted(case) > before
        if TOKEN not in text_shown(case) and not counted:
            lost.append(place)

    assert any(len(one) > 1 for one in objects(row))
    assert [] == lost


def omitted(case: Case) -> int:
    """Bytes that jurors are not shown."""
    return sum(one.size or 0 for one in case.omissions(images_seen=True))

"""The known formats, and their detection."""

from collections.abc import Mapping
from typing import Any

from jury_judge.cases.formats.benchmarks import AGENTDOJO, TAU_BENCH
from jury_judge.cases.formats.format import Format
from jury_judge.cases.formats.inspect_log import INSPECT
from jury_judge.cases.formats.langfuse import LANGFUSE
from jury_judge.cases.formats.message_lists import (
    ANTHROPIC,
    GEMINI,
    MESSAGES,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    SHAREGPT,
)
from jury_judge.cases.formats.otel_traces import OTEL
from jury_judge.cases.formats.own_rows import OWN_ROWS
from jury_judge.cases.formats.promptfoo import PROMPTFOO

FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        INSPECT,
        OTEL,
        PROMPTFOO,
        TAU_BENCH,
        AGENTDOJO,
        OPENAI_RESPONSES,
        OPENAI_CHAT,
        ANTHROPIC,
        GEMINI,
        SHAREGPT,
        MESSAGES,
        LANGFUSE,
        OWN_ROWS,
    )
}
"""By the names of `--format`, in the order of detection: most distinctive first."""


def format_of(row: Any, name: str | None) -> Format:
    """The named format, else the first that recognises the row."""
    if name is not None:
        return FORMATS[name]
    return next((one for one in FORMATS.values() if one.recognises(row)), OWN_ROWS)


def rows_path(document: Mapping[str, Any]) -> str | None:
    """The path of a document's rows, by the first format that knows it; None: the document is a row."""
    return next((path for one in FORMATS.values() if (path := one.rows_path(document)) is not None), None)

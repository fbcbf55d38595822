"""The known formats, their detection, and their list for people."""

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

from jury_cases.errors import CaseFileError
from jury_cases.formats.atif import ATIF
from jury_cases.formats.claude_code import CLAUDE_CODE
from jury_cases.formats.deepeval import DEEPEVAL
from jury_cases.formats.exchanges import EXCHANGES
from jury_cases.formats.format import Format, wraps
from jury_cases.formats.format_files import ENDINGS, bundled_formats, declared_format, read_format
from jury_cases.formats.google_adk import GOOGLE_ADK, GOOGLE_ADK_EVENTS
from jury_cases.formats.inspect_log import INSPECT
from jury_cases.formats.langfuse import LANGFUSE, LANGFUSE_OBSERVATIONS
from jury_cases.formats.langgraph import LANGGRAPH
from jury_cases.formats.langsmith import LANGSMITH
from jury_cases.formats.message_lists import ANTHROPIC, GEMINI, MESSAGES, OPENAI_CHAT, OPENAI_RESPONSES, SHAREGPT
from jury_cases.formats.mlflow import MLFLOW
from jury_cases.formats.openai_agents import OPENAI_AGENTS
from jury_cases.formats.otel_traces import OPENINFERENCE, OTEL
from jury_cases.formats.own_rows import OWN_ROWS
from jury_cases.formats.promptfoo import PROMPTFOO, PROMPTFOO_TABLE
from jury_events.nearest import did_you_mean
from jury_events.text.visible_text import visible_line

FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        INSPECT,
        *bundled_formats(),
        CLAUDE_CODE,
        ATIF,
        GOOGLE_ADK,
        GOOGLE_ADK_EVENTS,
        OTEL,
        LANGFUSE_OBSERVATIONS,
        OPENINFERENCE,
        MLFLOW,
        LANGSMITH,
        OPENAI_AGENTS,
        PROMPTFOO,
        PROMPTFOO_TABLE,
        OPENAI_RESPONSES,
        OPENAI_CHAT,
        ANTHROPIC,
        GEMINI,
        SHAREGPT,
        DEEPEVAL,
        LANGGRAPH,
        EXCHANGES,
        MESSAGES,
        LANGFUSE,
        OWN_ROWS,
    )
}
"""By the names of `--format`, in the order of detection: most distinctive first."""

DECLARED = frozenset(one.name for one in bundled_formats())
"""The names of the formats that are declared in YAML."""

_LISTS = frozenset[str]().union(*(one.lists for one in FORMATS.values()))

_KEPT_COLUMNS = 64
"""Candidates are kept for rows of at most so many columns."""


AskedFormat = str | Mapping[str, Any] | Format | None
"""A format by its name, by the path of a format file, by the content of one, or itself; None: as is recognised."""


def asked_format(asked: AskedFormat, *, files: bool = True) -> Format | None:
    """The format that a user asks for; without `files` no format file is read."""
    if asked is None or isinstance(asked, Format):
        return asked
    if not isinstance(asked, str):
        return declared_format(asked, "format")
    if asked in FORMATS:
        return FORMATS[asked]
    if files and asked.endswith(ENDINGS):
        return read_format(asked)
    raise CaseFileError(
        f"--format {visible_line(asked)!r}: there is no such format{did_you_mean(asked, FORMATS)}; "
        f"formats are {', '.join(FORMATS)}, and format files (FILE.yaml)"
    )


def format_of(row: Any, asked: Format | None) -> Format:
    """The format that was asked for, else the first that recognises the row."""
    if asked is not None:
        return asked
    candidates: Collection[Format] = FORMATS.values()
    if type(row) is dict and not wraps(row):  # a trace of OpenTelemetry is another class
        candidates = _candidates(tuple(row)) if len(row) <= _KEPT_COLUMNS else _marked(row.keys())
        if len(candidates) == 1:  # that of any object
            return OWN_ROWS
    return next((one for one in candidates if one.recognises(row)), OWN_ROWS)


def second_of(row: Any, form: Format) -> Format | None:
    """The format that a row would have if it had not that one; None: it is of no other."""
    others = (one for one in FORMATS.values() if one is not form and one is not OWN_ROWS)
    return next((one for one in others if one.recognises(row)), None)


@lru_cache(maxsize=256)
def _candidates(columns: tuple[str, ...]) -> tuple[Format, ...]:
    """`_marked`, kept: the rows of a file have few sets of columns."""
    return _marked(columns)


def _marked(columns: Collection[str]) -> tuple[Format, ...]:
    """The formats that an object with these columns may have, in the order of detection."""
    return tuple(one for one in FORMATS.values() if one.marks is None or not one.marks.isdisjoint(columns))


def rows_path(document: Mapping[str, Any]) -> str | None:
    """The path of a document's rows, by the first format that knows it; None: the document is a row."""
    if document.keys().isdisjoint(_LISTS):
        return None
    return next((path for one in FORMATS.values() if (path := one.rows_path(document)) is not None), None)


def format_lines() -> Iterator[tuple[str, str]]:
    """Each format's name and how its rows are recognised; `rows`, the default, first, the others by their names."""
    for name in _ordered():
        yield name, FORMATS[name].recognised_by.replace("`", "")


def format_table() -> str:
    """The formats as a table in Markdown, without a line break at its end."""
    rows = [f"| `{name}` | {FORMATS[name].recognised_by} | {FORMATS[name].shows} |" for name in _ordered()]
    return "\n".join(["| `--format` | recognised by | read |", "| --- | --- | --- |", *rows])


def _ordered() -> list[str]:
    return [OWN_ROWS.name, *sorted(name for name in FORMATS if name != OWN_ROWS.name)]

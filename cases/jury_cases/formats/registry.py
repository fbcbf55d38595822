"""The known formats, their detection, and their list for people."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

from jury_cases.bundled import FORMAT_FILES, bundled_texts, words_at
from jury_cases.columns import HISTORIES, TURNS
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import Format, wraps
from jury_cases.formats.own_rows import OWN_ROWS
from jury_events.nearest import did_you_mean
from jury_events.text import visible_line


class _Place(NamedTuple):
    """Where a format is, and by what its rows are looked for before it is imported.

    Attributes:
        module: of `formats`, and the name in it; "": a bundled file declares it.
        marks: columns of which each object of this format has one or more. Of a row that wraps objects (`wraps`), the
            columns inside count.
        lists: columns of which each document of this format has one or more.
    """

    module: str
    marks: frozenset[str]
    lists: frozenset[str] = frozenset()


def _place(module: str, marks: str, lists: str = "") -> _Place:
    return _Place(module, frozenset(marks.split(", ")), frozenset(lists.split(", ")) - {""})


_BUNDLED = {
    name: _Place("", frozenset(words_at(text, "marks")), frozenset(words_at(text, "rows")))
    for name, text in bundled_texts(FORMAT_FILES).items()
}
_FORMAT_PLACES = {
    "inspect": _place("inspect_ai:INSPECT", "_eval, epoch", "samples"),
    **_BUNDLED,
    "claude-code": _place("claude_code:CLAUDE_CODE", "sessionId, leafUuid, messageId"),
    "atif": _place("atif:ATIF", "schema_version"),
    "google-adk": _place(
        "google_adk:GOOGLE_ADK",
        "appName, app_name, evalId, eval_id",
        "evalCases, eval_cases, evalCaseResults, eval_case_results",
    ),
    "google-adk-events": _place("google_adk:GOOGLE_ADK_EVENTS", "invocationId, invocation_id"),
    "otel": _place(
        "otel_traces:OTEL",
        "resourceSpans, resource_spans, batches, resourceLogs, resource_logs, context, traceID, spanId, span_id",
        "data",
    ),
    "langfuse-observations": _place("langfuse:LANGFUSE_OBSERVATIONS", "traceId", "data"),
    "openinference": _place("otel_traces:OPENINFERENCE", "context, context.trace_id", "data"),
    "mlflow": _place("mlflow:MLFLOW", "info, spans"),
    "langsmith": _place("langsmith:LANGSMITH", "run_type, post, patch"),
    "openai-agents": _place("openai_agents:OPENAI_AGENTS", "object, data"),
    "promptfoo": _place("promptfoo:PROMPTFOO", "vars", "results"),
    "promptfoo-table": _place("promptfoo:PROMPTFOO_TABLE", "Named Scores"),
    "openai-responses": _place("message_lists:OPENAI_RESPONSES", "object, output"),
    "openai-chat": _place("message_lists:OPENAI_CHAT", "choices"),
    "anthropic": _place("message_lists:ANTHROPIC", "content, messages"),
    "gemini": _place("message_lists:GEMINI", "contents, candidates"),
    "sharegpt": _place("message_lists:SHAREGPT", "conversations, conversation"),
    "deepeval": _place(
        "deepeval:DEEPEVAL",
        "actual_output, actualOutput, turns",
        "testRunData, testCases, conversationalTestCases",
    ),
    "langgraph": _place("langgraph:LANGGRAPH", "values, channel_values, checkpoint, event"),
    "exchanges": _Place("message_lists:EXCHANGES", TURNS | HISTORIES),
    "messages": _Place("message_lists:MESSAGES", frozenset()),
    "braintrust": _place("platform_traces:BRAINTRUST", "root_span_id", "events"),
    "weave": _place("platform_traces:WEAVE", "op_name", "calls"),
    "opik-spans": _place("platform_traces:OPIK_SPANS", "parent_span_id"),
    "opik": _place("platform_traces:OPIK", "project_id, trace"),
    "langwatch": _place("platform_traces:LANGWATCH", "trace_id"),
    "openai-evals": _place("openai_evals:OPENAI_EVALS", "spec, sample_id"),
    "langfuse": _place("langfuse:LANGFUSE", "input, trace", "data"),
}
"""The formats in the order of detection, most distinctive first; last any object, `rows`.

Bundled files come early, in the order of their names: each is known by columns that no other form has.
"""

_LISTS = frozenset[str]().union(*(one.lists for one in _FORMAT_PLACES.values()))


class _Formats(Mapping[str, Format]):
    """By the names of `--format`, in the order of detection; each is imported when it is first asked for."""

    def __getitem__(self, name: str) -> Format:
        if name == OWN_ROWS.name:
            return OWN_ROWS
        if name in _BUNDLED:
            from jury_cases.formats.format_files import bundled_format

            return bundled_format(name)
        module, attribute = _FORMAT_PLACES[name].module.split(":")
        found: Format = getattr(import_module(f"{__package__}.{module}"), attribute)
        return found

    def __iter__(self) -> Iterator[str]:
        yield from _FORMAT_PLACES
        yield OWN_ROWS.name

    def __len__(self) -> int:
        return len(_FORMAT_PLACES) + 1


FORMATS = _Formats()

DECLARED = frozenset(_BUNDLED)
"""The names of the formats that are declared in YAML."""

_KEPT_COLUMNS = 64
"""Candidates are kept for rows of at most so many columns."""


AskedFormat = str | Mapping[str, Any] | Format | None
"""A format by its name, by the path of a format file, by the content of one, or itself; None: as is recognised."""


def asked_format(asked: AskedFormat, *, files: bool = True) -> Format | None:
    """The format that a user asks for; without `files` no format file is read."""
    if asked is None or isinstance(asked, Format):
        return asked
    if isinstance(asked, str) and asked in FORMATS:
        return FORMATS[asked]
    from jury_cases.formats.format_files import ENDINGS, declared_format, read_format

    if not isinstance(asked, str):
        return declared_format(asked, "format")
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
    for one in _candidates(row):
        if one.recognises(row):
            return one
    return OWN_ROWS


def second_of(row: Any, form: Format) -> Format | None:
    """The format that a row would have if it had not that one; None: it is of no other."""
    return next((one for one in _candidates(row) if one is not form and one.recognises(row)), None)


def _candidates(row: Any) -> Iterable[Format]:
    """The formats besides `rows` that a row may have, in the order of detection."""
    if type(row) is not dict or wraps(row):  # a gathered trace is another class
        return (FORMATS[name] for name in _FORMAT_PLACES)
    return _marked(tuple(row)) if len(row) <= _KEPT_COLUMNS else _marked.__wrapped__(tuple(row))


@lru_cache(maxsize=256)
def _marked(columns: tuple[str, ...]) -> tuple[Format, ...]:
    """The formats of objects with these columns, kept: the rows of a file have few sets of columns."""
    found = []
    for name, place in _FORMAT_PLACES.items():
        if not place.marks.isdisjoint(columns):
            found.append(FORMATS[name])
    return tuple(found)


def rows_path(document: Mapping[str, Any]) -> str | None:
    """The path of a document's rows, by the first format that knows it; None: the document is a row."""
    if document.keys().isdisjoint(_LISTS):
        return None
    known = (FORMATS[name] for name, place in _FORMAT_PLACES.items() if not place.lists.isdisjoint(document))
    return next((path for one in known if (path := one.rows_path(document)) is not None), None)


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

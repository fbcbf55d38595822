"""Results of promptfoo: each test's request (`prompt`, `vars`), response and grading.

Source: promptfoo's output files (JSON with `results.results` of version 3, JSON lines of results). A red team's
strategies change the prompt and may run a conversation: its `response.metadata` contains the prompts actually sent.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jury_cases.containers.csv_rows import NUMBERED, REPEATED
from jury_cases.containers.row import FileRow
from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import Format, GatheredCase, GatheredSize, Gathering
from jury_cases.formats.promptfoo_response import read_output, read_response
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_object, as_text, decoded_json
from jury_cases.transcripts.reading import is_message, last_answer, read_messages
from jury_events.transcript import Message

_ERROR = frozenset({"2", "error"})
"""`failureReason` of a failed run; 1 means a failed assertion, with the grader's reason in `error`."""

_ATTEMPTS = ("redteamHistory", "redteamTreeHistory")


def _read(row: Any) -> CaseDraft:
    builder = TranscriptBuilder()
    response = row.get("response")
    answer: dict[str, Any] = response if isinstance(response, dict) else {"output": response}
    test, graded = as_object(row.get("testCase")), as_object(row.get("gradingResult"))
    provider = row.get("provider")
    provider_id = provider.get("id") if isinstance(provider, dict) else provider
    found = _exchange(row.get("prompt"), answer, builder, as_text(provider_id))
    facts = {
        **as_object(test.get("metadata")),
        "description": test.get("description"),
        "success": row.get("success"),
        "score": row.get("score"),
        "provider": provider_id,
        "reason": graded.get("reason"),
    }
    test_id = f"test-{as_text(row['testIdx'])}" if row.get("testIdx") is not None else None
    prompt_id = f"prompt-{as_text(row['promptIdx'])}" if row.get("promptIdx") is not None else None
    return CaseDraft(
        case_id=row.get("id") or "-".join(part for part in (test_id, prompt_id) if part) or None,
        built=builder,
        answered=True,
        error=_error(row, graded) or as_text(answer.get("error")) or None,
        metadata={
            **facts,
            **{f"score.{name}": value for name, value in as_object(row.get("namedScores")).items()},
            **{f"vars.{name}": value for name, value in as_object(row.get("vars")).items()},
            **found,
        },
        cluster=test_id,
        agent_cost=row.get("cost") or answer.get("cost"),
    )


def _exchange(prompt: Any, answer: dict[str, Any], builder: TranscriptBuilder, provider: str) -> dict[str, Any]:
    """The request and the response: a red team's conversation if there is one. Returns metadata of the response."""
    raw = prompt.get("raw") if isinstance(prompt, dict) else prompt
    red_team = as_object(answer.get("metadata"))
    listed = red_team.get("messages")
    conversation: list[Any] = listed if isinstance(listed, list) else []
    has_conversation = any(map(is_message, conversation))
    if has_conversation:
        read_messages(_without_answer(conversation, answer), builder, "response.metadata.messages")
        sent = None
    else:
        changed = (answer.get("prompt"), red_team.get("redteamFinalPrompt"))
        sent = next((one for one in changed if one and isinstance(one, str | list)), raw)
        read_prompt(sent, builder)
    if raw is not None and raw != sent and _words(raw) not in _texts(builder):
        builder.not_shown("prompt before the red team changed it", "user", "prompt.raw", raw)
    output_is_shown = has_conversation and as_text(answer.get("output")) == last_answer(builder.transcript())
    known = {"messages", *_ATTEMPTS}
    with builder.messages.one():
        found = read_response(answer, builder, output_is_shown=output_is_shown, provider=provider, known=known)
    for name in _ATTEMPTS:
        _attempts(red_team.get(name), builder, f"response.metadata.{name}")
    return found


def _without_answer(conversation: list[Any], answer: dict[str, Any]) -> list[Any]:
    """The conversation without its last message, if that is the output: what led to the output is read between."""
    last, output = conversation[-1], answer.get("output")
    same = isinstance(last, dict) and last == {"role": "assistant", "content": output} and isinstance(output, str)
    return conversation[:-1] if same else conversation


def read_prompt(sent: Any, builder: TranscriptBuilder) -> None:
    """Read text or a list of messages, also as JSON text."""
    messages = decoded_json(sent) if isinstance(sent, str) else sent
    if isinstance(messages, list) and any(map(is_message, messages)):
        read_messages(messages, builder, "prompt.raw")
    elif sent is not None:
        builder.message("user", as_text(sent), "prompt.raw")


def _attempts(attempts: Any, builder: TranscriptBuilder, place: str) -> None:
    """Report a red team's attempts (`prompt`, `output`, grading) as not shown, unless shown already."""
    shown = _texts(builder)
    for index, attempt in enumerate(attempts if isinstance(attempts, list) else []):
        texts = [as_text(attempt.get(name)) for name in ("prompt", "output")] if isinstance(attempt, dict) else [""]
        if not set(texts) <= shown:
            builder.not_shown("attempt of a red team", "environment", f"{place}.{index}", "".join(texts))


def _texts(builder: TranscriptBuilder) -> set[str]:
    return {item.text for item in builder.transcript().items if isinstance(item, Message)}


def _words(raw: Any) -> str:
    """A prompt's last text, to check whether a conversation contains it."""
    messages = decoded_json(raw) if isinstance(raw, str) else raw
    last = messages[-1] if isinstance(messages, list) and messages else raw
    return as_text(last.get("content") if isinstance(last, dict) else last)


def _error(row: dict[str, Any], graded: dict[str, Any]) -> str | None:
    """The reason of a failed run; None if `error` is, or may be, the reason of a failed assertion."""
    error, kind = as_text(row.get("error")), row.get("failureReason")
    if kind is not None:
        return error if as_text(kind).lower() in _ERROR else None
    of_grader = error == as_text(graded.get("reason")) or (row.get("success") is False and bool(graded))
    return None if of_grader else error


def _recognises(row: Any) -> bool:
    if not isinstance(row, dict) or "vars" not in row:
        return False
    return bool(row.keys() & {"promptIdx", "testIdx", "testCase", "gradingResult"}) and "response" in row


def _rows_path(document: Mapping[str, Any]) -> str | None:
    results = document.get("results")
    if isinstance(results, dict) and isinstance(results.get("results"), list):
        return "results.results"
    return "results" if isinstance(results, list) and any(map(_recognises, results)) else None


PROMPTFOO = Format(
    "promptfoo",
    _recognises,
    _read,
    _rows_path,
    recognised_by="a result with `vars` and `response`",
    shows=(
        "the prompt as sent (or the conversation of a red team), reasoning, `metadata.toolCalls`, the output, "
        "refusals, its end, guardrails; grading as metadata, cost"
    ),
)


_PROVIDER = re.compile(r"\[([^\]]+)\] (.*)", re.DOTALL)
_PLACEHOLDER = re.compile(r"{{\s*([A-Za-z_][A-Za-z0-9_]*)\s*}}")
_OF_TEMPLATES = ("{{", "{%", "{#")
_FORMULA = re.compile(r"'[\s\u200b-\u200d]*[=@+-]")
_NUMBER = re.compile(r"'\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*", re.IGNORECASE)
_METRIC = "Metric: "
_NO_REASON = "the run failed; the table does not say why"


class OutputCell(NamedTuple):
    """One output of a table.

    Attributes:
        label: of its column: the provider in brackets, and the prompt's label.
        output: as text; None: there is none.
        columns: the group's other columns.
        variables: of the test.
        facts: the row's other columns: the description, and a red team's plugin and strategy.
        test: names the row.
    """

    label: str
    output: str | None
    columns: dict[str, str | None]
    variables: dict[str, str | None]
    facts: dict[str, str | None]
    test: str


class OutputCells(Gathering):
    """Gathers the outputs of a table's rows."""

    def __init__(self) -> None:
        self._size = GatheredSize("write JSON lines instead, or split the table")
        self._cases: list[GatheredCase] = []

    def add(self, row: FileRow) -> None:
        self._size.add(row)
        if not isinstance(row.data, dict) or not _is_table(row.data):
            raise CaseFileError("Named Scores: missing; a row of promptfoo's CSV has it behind an output and its Score")
        cells = list(_cells(row.data, f"row-{row.number}"))
        for number, cell in enumerate(cells):
            if cell.output is not None or cell.columns.get("Status") is not None:
                self._cases.append(GatheredCase(f"-prompt-{number}" if len(cells) > 1 else "", cell, row))

    def cases(self) -> Iterator[GatheredCase]:
        yield from self._cases


def _cells(row: dict[str, Any], test: str) -> Iterator[OutputCell]:
    names = list(row)
    starts = _starts(names)
    before = {name: _unescaped(row[name]) for name in names[: starts[0]]}
    facts = {"description": before.pop("Description")} if names[0] == "Description" else {}
    last = starts[-1] + 1 + len(_group(names, starts[-1]))
    facts |= {name: _unescaped(row[name]) for name in names[last:]}
    for start in starts:
        group = _group(names, start)
        yield OutputCell(
            label=_label(names, start, starts),
            output=_unescaped(row[names[start]]),
            columns={_plain(name): _unescaped(row[name]) for name in group},
            variables=before,
            facts=facts,
            test=test,
        )


def _starts(names: list[str]) -> list[int]:
    """The numbers of the columns with outputs: those before each group."""
    plain = [_plain(name) for name in names]
    size = len(REPEATED)
    return [index - 1 for index in range(1, len(plain)) if tuple(plain[index : index + size]) == REPEATED]


def _group(names: list[str], start: int) -> list[str]:
    group = names[start + 1 : start + 1 + len(REPEATED)]
    for name in names[start + 1 + len(REPEATED) :]:
        plain = _plain(name)
        if not (plain.startswith(_METRIC) or plain in {"Grader Reason", "Comment"}):
            break
        group.append(name)
        if plain == "Comment":
            break
    return group


def _plain(name: str) -> str:
    """A column's name without the number that separates it from an earlier one."""
    return NUMBERED.sub("", name)


def _label(names: list[str], start: int, starts: list[int]) -> str:
    plain = _plain(names[start])
    return plain if any(names[one] == plain for one in starts if one < start) else names[start]


def _unescaped(cell: Any) -> str | None:
    """The text without the mark that promptfoo puts before what a spreadsheet would take for a formula."""
    if cell is None:
        return None
    text = as_text(cell)
    return text[1:] if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def _read_output(cell: Any) -> CaseDraft:
    builder = TranscriptBuilder()
    named = _PROVIDER.fullmatch(cell.label)
    provider, label = named.groups() if named else (None, cell.label)
    read_prompt(_prompt(label, cell.variables), builder)
    columns, output = cell.columns, cell.output
    failed = columns.get("Status") == "ERROR"
    if output is not None and not failed:
        read_output(_decoded(output), builder, "output")
    return CaseDraft(
        built=builder,
        answered=True,
        error=(output or columns.get("Grader Reason") or _NO_REASON) if failed else None,
        metadata={
            **cell.facts,
            "success": {"PASS": True, "FAIL": False, "ERROR": False}.get(as_text(columns.get("Status"))),
            "score": columns.get("Score"),
            "provider": provider,
            "prompt": label,
            "reason": columns.get("Grader Reason"),
            "comment": columns.get("Comment"),
            **{f"score.{name}": one for name, one in as_object(decoded_json(columns.get("Named Scores"))).items()},
            **{f"vars.{name}": one for name, one in cell.variables.items()},
        },
        cluster=cell.test,
    )


def _prompt(label: str, variables: dict[str, str | None]) -> str:
    """The prompt as the table has it: the template with the test's variables, else the variables."""
    names = set(_PLACEHOLDER.findall(label))
    if names and names <= variables.keys():
        rest = _PLACEHOLDER.sub("", label)
        if not any(mark in rest for mark in _OF_TEMPLATES):
            return _PLACEHOLDER.sub(lambda found: variables[found.group(1)] or "", label)
    given = {name: value for name, value in variables.items() if value is not None}
    if not given:
        return label
    return next(iter(given.values())) if len(given) == 1 else "\n".join(f"{name}: {one}" for name, one in given.items())


def _decoded(output: str) -> Any:
    """Calls and messages, which the table has as JSON; other text unchanged."""
    decoded = decoded_json(output)
    return decoded if isinstance(decoded, list) or (isinstance(decoded, dict) and "role" in decoded) else output


def _is_table(row: Any) -> bool:
    if isinstance(row, OutputCell):
        return True
    return isinstance(row, dict) and "Named Scores" in row and bool(_starts(list(row)))


PROMPTFOO_TABLE = Format(
    "promptfoo-table",
    _is_table,
    _read_output,
    gather=OutputCells,
    recognised_by="columns `Status`, `Score`, `Named Scores` behind an output (promptfoo's CSV)",
    shows="one case per output: the prompt's label with the test's variables, the output; grading as metadata",
)

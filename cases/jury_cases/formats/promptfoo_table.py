"""Tables of promptfoo (CSV): a row is a test, with a group of columns for each prompt; each output is a case.

Source: promptfoo's CSV output. A table has less than the JSON: prompts only as labels (a template, unless the user gave
another label), no tool use, and no reason of an error.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from jury_cases.containers.csv_rows import NUMBERED, REPEATED
from jury_cases.containers.row import FileRow
from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import Format
from jury_cases.formats.gathering import GatheredCase, GatheredSize, Gathering
from jury_cases.formats.promptfoo import read_prompt
from jury_cases.formats.promptfoo_outputs import read_output
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_object, as_text, decoded_json

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
        if not isinstance(row.data, dict) or not _recognises(row.data):
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


def _read(cell: Any) -> CaseDraft:
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


def _recognises(row: Any) -> bool:
    if isinstance(row, OutputCell):
        return True
    return isinstance(row, dict) and "Named Scores" in row and bool(_starts(list(row)))


PROMPTFOO_TABLE = Format(
    "promptfoo-table",
    _recognises,
    _read,
    gather=OutputCells,
    marks=frozenset({"Named Scores"}),
    recognised_by="columns `Status`, `Score`, `Named Scores` behind an output (promptfoo's CSV)",
    shows="one case per output: the prompt's label with the test's variables, the output; grading as metadata",
)

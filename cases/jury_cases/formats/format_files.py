"""Formats that are declared in YAML: the bundled ones (`files/`), and files of the user's own.

A format file says by JMESPath expressions where a row has the parts of a case, and by steps what is made of each of its
messages; `docs/format-files.md` explains it.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from jury_cases.bundled import FORMAT_FILES, bundled_texts
from jury_cases.containers.row import FileRow
from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import Format, GatheredCase, Gathering, RowsByKey
from jury_cases.formats.own_rows import own_case_id, read_own_row
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.chat import BOOKKEEPING
from jury_cases.transcripts.expressions import Expression, ExpressionReading, fields_of
from jury_cases.transcripts.json_values import as_text, is_blank, json_kind
from jury_cases.transcripts.reading import read_messages, spoken_turns
from jury_cases.transcripts.steps import Declared, StepReader, Steps, Who
from jury_cases.yaml_values import decode_yaml
from jury_events.regular_files import open_regular
from jury_events.text import condensed, visible_line

MAX_FILE = 1 << 20
"""Bytes of a format file."""

ENDINGS = (".yaml", ".yml")
"""How the names of format files end."""


_LOOKED_AT = 4
"""Elements of a list whose fields are compared with the marks of a format."""


class FormatFile(Declared):
    """The content of a format file.

    Attributes:
        name: of the format.
        recognised_by, shows: for the list of formats.
        marks: columns of which each row has one or more.
        when: a condition: whether a row has this format.
        gather: of each row of a file the key of its case: rows with equal keys are one case, and the other
            expressions are about `{rows: […]}`.
        rows: the column of the rows in a document of this format.
        cases: the cases of a row, where it has several; the other expressions are about one of them.
        messages: the messages; without steps in any form that is known. Gathered rows in which it finds nothing are no
            case.
        turns: whose the messages are, in turn, where they are texts.
        steps, roles, ignore: how they are read; see `DeclaredStep`.
        default_columns: parts that have no expression are read from columns of their default names.
        refused: why no case can be made of such a row.
        metadata: by name.

    The others are the parts of a case, as in `--field`.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,59}$")] = "format-file"
    recognised_by: str = ""
    shows: str = ""
    marks: frozenset[str] = frozenset()
    when: Expression | None = None
    gather: Expression | None = None
    rows: str | None = None
    cases: Expression | None = None
    messages: Expression | None = None
    turns: tuple[Who, ...] = ()
    default_columns: bool = False
    refused: str | None = None
    steps: Steps = ()
    roles: Mapping[str, Who] = {}
    ignore: frozenset[str] = frozenset()
    case_id: Expression | None = None
    question: Expression | None = None
    policy: Expression | None = None
    expected_behavior: Expression | None = None
    response: Expression | None = None
    error: Expression | None = None
    label: Expression | None = None
    tags: Expression | None = None
    cluster: Expression | None = None
    cost: Expression | None = None
    decisive_message: Expression | None = None
    decisive_agent: Expression | None = None
    metadata: Mapping[str, Expression] = {}

    def form(self) -> Format:
        """The format that it declares."""
        whole = self.gather is None and self.cases is None
        return Format(
            self.name,
            self._recognises,
            self.draft,
            self._rows_path,
            gather=None if self.gather is None else self._gathering,
            cases=None if self.cases is None else self._cases,
            columns=self._columns if whole else None,
            case_id=self._case_id if whole else None,
            recognised_by=self.recognised_by,
            shows=self.shows,
        )

    def _recognises(self, row: Any) -> bool:
        first = [one for one in row[:_LOOKED_AT] if isinstance(one, dict)] if isinstance(row, list) else [row]
        if self.marks and all(self.marks.isdisjoint(one) for one in first):
            return False
        return self.when is not None and ExpressionReading().holds(self.when, row, "when")

    def _rows_path(self, document: Mapping[str, Any]) -> str | None:
        listed = None if self.rows is None else document.get(self.rows)
        if not isinstance(listed, list):
            return None
        first = (one for one in listed[:_LOOKED_AT] if isinstance(one, dict | list))
        return self.rows if self.when is None or any(map(self._recognises, first)) else None

    def _gathering(self) -> Gathering:
        return RowsOfFile(self._key, self._says)

    def _says(self, case: Any) -> bool:
        return self.messages is None or ExpressionReading().holds(self.messages, case, "messages")

    def _key(self, row: Any) -> str:
        return as_text(ExpressionReading().value(self.gather or "", row, "gather"))

    def _cases(self, row: Any) -> list[Any]:
        found = ExpressionReading().value(self.cases or "", row, "cases")
        if not isinstance(found, list):
            raise CaseFileError(f"cases: {self.cases} must find a list, and finds {json_kind(found)}")
        return found

    def _case_id(self, row: Any) -> Any:
        if self.case_id is None:
            return own_case_id(row) if self.default_columns else None
        return ExpressionReading().value(self.case_id, row, "case_id")

    @property
    def _columns(self) -> frozenset[str]:
        return (self.ignore | BOOKKEEPING).union(*map(fields_of, self._expressions()))

    def _expressions(self) -> Iterator[str]:
        yield from (given for part in (*_PARTS, "messages") if (given := getattr(self, part)) is not None)
        yield from self.metadata.values()

    def draft(self, row: Any) -> CaseDraft:
        """The draft of a row, of one of its cases, or of `{rows: […]}`; raises CaseFileError."""
        if self.refused is not None:
            raise CaseFileError(self.refused)
        reading, builder = ExpressionReading(), TranscriptBuilder()
        draft = self._of_default_columns(row) if self.default_columns else CaseDraft()
        for part in _PARTS:
            expression = getattr(self, part)
            if expression is not None:
                found = reading.value(expression, row, part)
                setattr(draft, "agent_cost" if part == "cost" else part, found)
        for part in ("policy", "expected_behavior", "response", "error"):
            found = getattr(draft, part)
            setattr(
                draft, part, None if is_blank(found) else found if isinstance(found, str | list) else as_text(found)
            )
        draft.answered = draft.response is not None
        draft.metadata |= {name: reading.value(given, row, f"metadata.{name}") for name, given in self.metadata.items()}
        if self.messages is not None:
            found = self._in_turns(reading.elements(self.messages, row, "messages"))
            if self.steps:
                StepReader(self.steps, self.roles, self.ignore, reading, builder).read(found, "messages")
            elif found is not None:
                read_messages(found, builder)
                reading.take(found)
            draft.built = builder
        if self.gather is None and isinstance(row, dict):
            self._name_unread(row, reading, builder)
            draft.built = builder if len(builder) and (draft.answered or draft.error) else draft.built
        return draft

    def _name_unread(self, row: dict[str, Any], reading: ExpressionReading, builder: TranscriptBuilder) -> None:
        """Name as not shown what no expression reads in a column of which another part is read."""
        for name in reading.fields.get(id(row), set()) - self.ignore:
            for what, place, value in reading.unread(row.get(name), self.ignore | BOOKKEEPING | {"role"}, name, 0):
                builder.not_shown(what, "environment", place, value)

    def _in_turns(self, found: Any) -> Any:
        """Texts as messages: each of the next speaker, or the turns in a text, each of the speaker whom it names."""
        texts = isinstance(found, list) and all(isinstance(one, str) for one in found)
        if texts and self.turns:
            said = zip(found, cycle(self.turns), strict=False)
            return [{"role": "assistant" if who == "agent" else who, "content": text} for text, who in said]
        is_spoken = isinstance(found, str) or (texts and found)
        return spoken_turns(found, "messages", self.roles) if is_spoken else found

    def _of_default_columns(self, row: Any) -> CaseDraft:
        if not isinstance(row, dict):
            return CaseDraft()
        given = (getattr(self, part) for part in (*_PARTS, "messages"))
        read = frozenset[str]().union(*(fields_of(one) for one in given if one is not None))
        return read_own_row({name: value for name, value in row.items() if name not in read})


_PARTS = (
    *("case_id", "question", "policy", "expected_behavior", "response", "error", "label", "tags", "cluster", "cost"),
    *("decisive_message", "decisive_agent"),
)


class RowsOfFile(RowsByKey):
    """All rows of the file, by their keys; a row without one belongs to the case before it.

    `says`: whether rows are a case. `data`: makes what is read of them.
    """

    def __init__(
        self,
        key: Callable[[Any], str],
        says: Callable[[Any], bool],
        data: Callable[[list[Any]], dict[str, Any]] = lambda rows: {"rows": rows},
    ) -> None:
        super().__init__(key, "case", lambda _key, rows: data(rows))
        self._says = says
        self._last = ""

    def cases(self) -> Iterator[GatheredCase]:
        yield from (one for one in super().cases() if isinstance(one.data, CaseFileError) or self._says(one.data))

    def takes(self, data: Any) -> bool:
        return isinstance(data, dict)

    def add(self, row: FileRow) -> None:
        self._last = self._key(row.data) or self._last
        self.add_part(self._last, row.data, row)


def declared_format(content: Any, name: str) -> Format:
    if not isinstance(content, Mapping):
        raise CaseFileError(f"{name}: a format file must be an object such as messages: conversation.turns")
    try:
        return FormatFile.model_validate(content).form()
    except ValidationError as error:
        raise CaseFileError(f"{name}: {condensed(error)}") from error


def read_format(path: str) -> Format:
    """The format of a file of the user's."""
    name = visible_line(path, 200)
    try:
        with open_regular(Path(path)) as stream:
            raw = stream.read(MAX_FILE + 1)
        text = raw.decode("utf-8")
    except FileNotFoundError as error:
        raise CaseFileError(f"--format {name}: there is no such file") from error
    except (OSError, UnicodeDecodeError) as error:
        raise CaseFileError(f"--format {name}: cannot be read: {error}") from error
    if len(raw) > MAX_FILE:
        raise CaseFileError(f"--format {name}: larger than {MAX_FILE >> 20} MiB; a format file is short")
    return declared_format(decode_yaml(text, f"--format {name}"), f"--format {name}")


@cache
def bundled_format(name: str) -> Format:
    content = decode_yaml(bundled_texts(FORMAT_FILES)[name], name)
    return declared_format({"name": name, **content}, name)

"""CSV and TSV: a header, then one row per record. Cells are text; an empty cell is None."""

import csv
import io
import re
from collections.abc import Callable, Iterator

from jury_cases.containers.json_rows import BOM
from jury_cases.containers.row import LINE_ENDS, FileRow, RowSource, refuse
from jury_cases.errors import CaseFileError
from jury_events.text import visible_line

MAX_ROW = 64 * 1024 * 1024
"""Bytes of one row, and so of one cell."""
MAX_COLUMNS = 10_000

REPEATED = ("Status", "Score", "Named Scores")
"""Adjacent columns of a table of promptfoo, which has them once a prompt. In such a table names may be repeated; the
later ones get a number: `Status (2)`."""

NUMBERED = re.compile(r" \(\d+\)$")
"""The number that a repeated name gets."""

_QUOTED = re.compile(r'"[^"]*"')
_SEPARATOR = re.compile(r"\s*sep=(.)\s*", re.IGNORECASE)
"""The first line, which names the delimiter for Excel."""

_DELIMITERS = ",\t;|"
_OTHER_DELIMITERS = frozenset("^~¦§\x01\x1e\x1f")
_BLANK = "\ufeff\u200b\u200e\u200f \t\r\n\f\v\u00a0\u3000"
"""Around names of columns: blanks, byte order marks, and characters without a glyph."""
_RULE = re.compile(r"\s*:?-{3,}:?\s*")
_LONGEST_NAME = 200
_SHOWN_COLUMNS = 8


def looks_like_csv(head: bytes) -> bool:
    """Whether the first line of `head` is a header of two or more names."""
    line = head.removeprefix(BOM).partition(b"\n")[0].decode("utf-8", "ignore").rstrip("\r")
    if _SEPARATOR.fullmatch(line):
        return True
    try:
        names = next(csv.reader([line], delimiter=_delimiter(line), strict=True), [])
    except csv.Error:
        return False
    if len(names) > MAX_COLUMNS:
        return True
    named = [name for name in names if name.strip()]
    if _repeats_groups(names):
        return True
    return len(names) > 1 and len(named) == len(set(named)) and all(len(name) <= _LONGEST_NAME for name in named)


def has_rows(head: bytes) -> bool:
    """Whether the second line of `head` has as many cells as the first, as a text with commas has not."""
    lines = head.removeprefix(BOM).decode("utf-8", "ignore").splitlines()[:2]
    try:
        sizes = {len(next(csv.reader([line], delimiter=_delimiter(lines[0])), [])) for line in lines}
    except csv.Error:
        return False
    return len(lines) > 1 and len(sizes) == 1


def read_rows(
    stream: io.BufferedReader,
    origin: RowSource,
    *,
    tabs: bool = False,
    leave_out: Callable[[CaseFileError], None] = refuse,
) -> Iterator[FileRow]:
    """The rows of a stream in order; `FileRow.line` is each row's first line.

    The delimiter is the comma; the tab, semicolon or bar if the header has no comma; always the tab with `tabs`. If
    each has a space behind it in the header, spaces before cells are no part of them, and in a table of Markdown none
    around cells. A column without a name is named by its position, `column_3`. `leave_out` is called with the error of
    a row that is no record of the table; raises it by default.
    """
    # The limit is global to the process, so it is only raised, never lowered.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_ROW))
    lines = _Lines(stream, origin.name)
    head = next((line for line in lines if line.strip()), None)
    marked = None if head is None else _SEPARATOR.fullmatch(head)
    if marked is not None:
        head = next((line for line in lines if line.strip()), None)
    if head is None:
        raise CaseFileError(f"{origin.name}: the file is empty; it must contain a header and at least one row")
    lines.begin = lines.line
    records = _records(lines, head, marked[1] if marked else "\t" if tabs else _delimiter(head))
    header = next(records)
    names = _names(header, f"{origin.name}:{lines.begin}")
    number = 0
    follows_gap = is_markdown = False
    for cells in records:
        if not any(map(str.strip, cells)):
            follows_gap = True
            continue  # as spreadsheets write rows that were emptied
        if not number and all(_RULE.fullmatch(one) for one in cells if one.strip()):
            is_markdown = True
            continue
        if len(cells) > len(names) and not any(map(str.strip, cells[len(names) :])):
            cells = cells[: len(names)]  # noqa: PLW2901  (as spreadsheets pad rows)
        number += 1
        fault = _fault(cells, header, names, number, follows_gap=follows_gap and number > 1)
        follows_gap = False
        if fault is not None:
            leave_out(CaseFileError(f"{origin.name}:{lines.begin}: {fault}"))
            continue
        changes: tuple[str, ...] = ()
        if any("\r" in cell for cell in cells):
            changes = (LINE_ENDS,)
        texts = (cell.replace("\r\n", "\n").replace("\r", "\n") if changes else cell for cell in cells)
        data = {name: (cell.strip() if is_markdown else cell) or None for name, cell in zip(names, texts, strict=True)}
        yield origin.row(lines.begin, number, data)._replace(changes=changes, texts=True)
    if not number:
        raise CaseFileError(f"{origin.name}: contains a header and no row")


def _fault(cells: list[str], header: list[str], names: list[str], number: int, *, follows_gap: bool) -> str | None:
    """Why a row is no record of the table; None: it is one. `follows_gap`: it comes after an empty row."""
    if len(cells) != len(names):
        return (
            f"the row has {len(cells)} cells and the header {len(names)} ({_listing(names)}); put quotes around cells "
            "with delimiters or line breaks"
        )
    if cells == header:
        return "the row repeats the header, as files have it that were joined; delete it"
    if _is_header(cells) or (number <= _MOST_HEADERS and _explains(cells)):
        return (
            f"the row is a header ({_listing([one for one in cells if one.strip()])}); delete it and other rows that "
            "repeat or explain the first one, or the lines above it if they are a title"
        )
    filled = [one.strip() for one in cells if one.strip()]
    if len(filled) == len(cells) or not (_sums_up(filled) or (len(filled) == 1 and (follows_gap or _NOTE(filled[0])))):
        return None
    return (
        f"the row is a total or a note ({visible_line(filled[0], 40)!r}), as spreadsheets have them below a table, and "
        f"no record{' (it follows an empty row)' if follows_gap else ''}; delete it"
    )


_ASKS = frozenset({"question", "input", "prompt", "query", "instruction", "request", "messages"})
_ANSWERS = frozenset({"response", "answer", "output", "completion", "prediction", "reply", "messages"})
_LONGEST_IN_HEADER = 40
_TOTAL = re.compile(r"(grand |sub)?totals?|sums?|averages?|means?|medians?|counts?|合計|小計|平均|件数", re.IGNORECASE)
_NUMBER = re.compile(r"[-+(]?[$€£¥]?[\d., '\u00a0]*\d\)?\s?%?")
_NOTE = re.compile(
    r"(notes?|sources?|legend|remarks?|exported|generated|注|備考|出典)\s*[:：]|[*※]|\W*[\d,]+ (rows?|records?)\b",
    re.IGNORECASE,
).match


def _is_header(cells: list[str]) -> bool:
    """Whether cells are names of columns, of a request and of an answer."""
    said = [one.strip().lower() for one in cells if one.strip()]
    if any(len(one) > _LONGEST_IN_HEADER for one in said):
        return False
    asks, answers = _ASKS.intersection(said), _ANSWERS.intersection(said)
    return bool(asks and answers and len(asks | answers) > 1)


_MOST_HEADERS = 3
"""Rows in which a header may be explained: Qualtrics has two below it."""
_EXPLAINED = re.compile(r"[(\[<][^()\[\]<>]{1,40}[)\]>]|\{\"ImportId\":.*\}")


def _explains(cells: list[str]) -> bool:
    """Whether cells say what stands in the columns: `(text)`, `[0-1]`, ids of an import."""
    return len(cells) > 1 and all(_EXPLAINED.fullmatch(one.strip()) for one in cells)


def _sums_up(filled: list[str]) -> bool:
    """Whether filled cells are a word for a sum, and numbers."""
    return _TOTAL.fullmatch(filled[0].rstrip(":： ")) is not None and all(map(_NUMBER.fullmatch, filled[1:]))


class _Lines(Iterator[str]):
    def __init__(self, stream: io.BufferedReader, name: str) -> None:
        self._stream = stream
        self._name = name
        self._size = 0
        self.line = 0
        self.begin = 1

    def next_record(self) -> None:
        self.begin = self.line + 1
        self._size = 0

    def refused(self, message: str) -> CaseFileError:
        return CaseFileError(f"{self._name}:{self.begin}: {message}")

    def __next__(self) -> str:
        raw = self._stream.readline(MAX_ROW + 1 - self._size)
        if not raw:
            raise StopIteration
        self.line += 1
        self._size += len(raw)
        if self._size > MAX_ROW:
            raise self.refused(
                f"the row that begins here is longer than {MAX_ROW >> 20} MiB; close its quote, or split the row"
            )
        if b"\0" in raw:
            raise CaseFileError(f"{self._name}:{self.line}: a NUL byte; save the file as CSV in UTF-8 without it")
        try:
            return (raw.removeprefix(BOM) if self.line == 1 else raw).decode("utf-8")
        except UnicodeDecodeError as error:
            raise CaseFileError(
                f"{self._name}:{self.line}: the byte 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8"
            ) from error


def _records(lines: _Lines, head: str, delimiter: str) -> Iterator[list[str]]:
    def text() -> Iterator[str]:
        yield head
        yield from lines

    spaced = delimiter in head and all(part[:1] == " " for part in head.split(delimiter)[1:])
    reader = csv.reader(text(), delimiter=delimiter, skipinitialspace=spaced, strict=True)
    while True:
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise lines.refused(_meaning(error)) from error
        yield record
        lines.next_record()


def _meaning(error: csv.Error) -> str:
    message = str(error)
    if "unexpected end of data" in message:
        return "a quote that is opened in this row is never closed; close it, or write the quote twice"
    if "new-line character" in message:
        return "a line ends with CR alone; save the file with LF or CR LF"
    if "field larger" in message:
        return f"a cell of this row is longer than {MAX_ROW >> 20} MiB; split the row"
    return f"not CSV: {visible_line(message)}; write a quote inside a quoted cell twice"


def _names(header: list[str], place: str) -> list[str]:
    if len(header) > MAX_COLUMNS:
        raise CaseFileError(f"{place}: {len(header):,} columns; at most {MAX_COLUMNS:,} are read: is this a header?")
    names = [written.strip(_BLANK) or f"column_{number}" for number, written in enumerate(header, start=1)]
    if len(names) == 1 and not _OTHER_DELIMITERS.isdisjoint(names[0]):
        raise CaseFileError(
            f"{place}: one column, {visible_line(names[0], 80)!r}: cells must be parted by commas, tabs, semicolons or "
            "bars; save the table with one of them"
        )
    if _repeats_groups(names):
        return _numbered(names)
    seen: set[str] = set()
    for one in names:
        if one in seen:
            raise CaseFileError(f"{place}: two columns are named {visible_line(one, 80)!r}; rename one of them")
        seen.add(one)
    return names


def _repeats_groups(names: list[str]) -> bool:
    return any(tuple(names[index : index + len(REPEATED)]) == REPEATED for index in range(len(names)))


def _numbered(names: list[str]) -> list[str]:
    """The names, each once: a repeated one with its number."""
    seen: dict[str, int] = {}
    found: dict[str, None] = {}
    for name in names:
        unique = name
        while unique in found:
            seen[name] = seen.get(name, 1) + 1
            unique = f"{name} ({seen[name]})"
        found[unique] = None
    return list(found)


def _delimiter(header: str) -> str:
    bare = _QUOTED.sub("", header)
    return next((mark for mark in _DELIMITERS if mark in bare), ",")


def _listing(names: list[str]) -> str:
    shown = ", ".join(visible_line(name, 40) for name in names[:_SHOWN_COLUMNS])
    return shown + (", …" if len(names) > _SHOWN_COLUMNS else "")

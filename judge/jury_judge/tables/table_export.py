"""Debates, reasons, ballots, exchanges, evidence and labels as Parquet or CSV files (docs/reference/tables.md).

Rows are ordered by debate id (code points), so that the same debates give the same bytes on every database. Rows are
written as they are read: memory does not grow with the log.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, BinaryIO, Literal

import pyarrow as pa

from jury_analysis.ballots import DECISIVE_MESSAGE
from jury_events.case import decisive_message
from jury_events.codec import decode
from jury_events.errors import EventError
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import calls_stream, debate_stream
from jury_events.parts import encode_digest
from jury_judge.reviews.review_agreement import CountedReviews, DecisiveMessages
from jury_judge.store_access.case_messages import CaseMessages, OpenedCase
from jury_judge.store_access.debates import verdict_reasons
from jury_judge.tables.ballot_table import batches_of
from jury_judge.tables.exported_rows import (
    ANNOTATOR,
    BALLOTS,
    CASE_TEXTS,
    DEBATES,
    DECISIVE_WORDS,
    EVIDENCE,
    EVIDENCE_TEXTS,
    EXCHANGE_TEXTS,
    EXCHANGES,
    LABELS,
    REASON_TEXTS,
    REASONS,
    Contents,
    debate_row,
    evidence_rows,
    exchange_row,
    may_quote,
    reason_rows,
    review_row,
)
from jury_judge.tables.table_files import (
    CsvFile,
    ScalesOfDebates,
    check_csv_path,
    scales_file,
    scales_metadata,
    write_scales,
)
from jury_replay.selection import DebateSelection
from jury_replay.table_file import TableFile, check_table_path
from jury_store.debate_ballots import DebateBallots
from jury_store.debate_rows import DebateFilter, DebateRow
from jury_store.event_store import EventStore
from jury_store.list_order import PageCursor, SortOrder

Form = Literal["parquet", "csv"]

TABLES = ("debates", "reasons", "ballots", "exchanges", "evidence", "labels")
_PAGE = 200


def export_tables(
    store: EventStore,
    selection: DebateSelection,
    folder: Path,
    *,
    form: Form = "parquet",
    texts: bool = False,
    on_debate: Callable[[], None] = lambda: None,
) -> dict[str, int]:
    """Write the six files; returns the rows of each table. Beside `ballots.csv` with labels of scales of the panels'
    own is a file that says the scales; `ballots.parquet` says them itself. Files of an earlier export are replaced
    at the end.

    Args:
        texts: with the texts of cases, requests, answers and quotations, and whole reasons and statements.
    """
    schemas = {
        "debates": _with(DEBATES, CASE_TEXTS | DECISIVE_WORDS if texts else {}),
        "reasons": _with(REASONS, REASON_TEXTS if texts else {}),
        "ballots": BALLOTS,
        "exchanges": _with(EXCHANGES, EXCHANGE_TEXTS if texts else {}),
        "evidence": _with(EVIDENCE, EVIDENCE_TEXTS if texts else {}),
        "labels": LABELS,
    }
    paths = _checked_paths(folder, form, schemas)
    beside = scales_file(paths["ballots"]) if form == "csv" else None
    folder.mkdir(parents=True, exist_ok=True)
    labels = _HumanLabels(store)
    cases = CaseMessages(store)
    scales = ScalesOfDebates(store)
    partial = {name: path.with_name(f".{path.name}.partial") for name, path in paths.items()}
    try:
        with ExitStack() as stack:
            files = {name: _opened(stack, form, partial[name], name, schemas[name]) for name in TABLES}
            panels = _Panels(stack.enter_context(closing(_ballots(store, selection, ended_only=False))))
            for rows, contents in _read(store, selection, texts=texts):
                ids = [row.debate_id for row in rows]
                reasons = verdict_reasons(store, ids)
                for row in rows:
                    panel = panels.of(row.debate_id)
                    files["debates"].add(debate_row(row, panel, reasons.get(row.debate_id), contents))
                    labels.take(row)
                    scales.take(row, panel)
                _add_all(files["reasons"], reason_rows(store, ids, texts=texts))
                _add_all(files["exchanges"], _exchanges(store, rows, contents))
                _add_all(files["evidence"], _evidence(store, cases, rows, contents))
                for _ in rows:
                    on_debate()
            _add_all(files["labels"], labels.rows())
            for batch in batches_of(_ballots(store, selection, ended_only=True), BALLOTS.names):
                files["ballots"].write(pa.Table.from_batches([batch]).cast(BALLOTS))
            if isinstance(ballots := files["ballots"], TableFile):
                ballots.describe(scales_metadata(scales.found))
            if beside is not None:
                write_scales(beside, scales.found)
        for name in TABLES:
            partial[name].replace(paths[name])
        return {name: one.rows for name, one in files.items()}
    finally:
        for path in partial.values():
            path.unlink(missing_ok=True)


def _add_all(file: CsvFile | TableFile, rows: Iterable[Mapping[str, Any]]) -> None:
    for row in rows:
        file.add(row)


def export_debates(
    store: EventStore,
    selection: DebateSelection,
    out: BinaryIO,
    *,
    texts: bool = False,
    on_debate: Callable[[], None] = lambda: None,
) -> int:
    """Write the table of debates alone as CSV; returns its rows.

    Args:
        texts: with the texts of cases.
    """
    with (
        CsvFile(out, _with(DEBATES, CASE_TEXTS | DECISIVE_WORDS if texts else {})) as file,
        closing(_ballots(store, selection, ended_only=False)) as ballots,
    ):
        panels = _Panels(ballots)
        for rows, contents in _read(store, selection, texts=texts):
            reasons = verdict_reasons(store, [row.debate_id for row in rows])
            for row in rows:
                file.add(debate_row(row, panels.of(row.debate_id), reasons.get(row.debate_id), contents))
                on_debate()
    return file.rows


def _checked_paths(folder: Path, form: Form, schemas: Mapping[str, pa.Schema]) -> dict[str, Path]:
    paths = {name: folder / f"{name}.{form}" for name in schemas}
    for name, path in paths.items():
        if form == "csv":
            check_csv_path(path, schemas[name])
        else:
            check_table_path(path, name)
    return paths


def _opened(stack: ExitStack, form: Form, path: Path, name: str, schema: pa.Schema) -> CsvFile | TableFile:
    if form == "parquet":
        return stack.enter_context(TableFile(path, name, schema))
    return stack.enter_context(CsvFile(stack.enter_context(path.open("wb")), schema))


def _read(
    store: EventStore, selection: DebateSelection, *, texts: bool
) -> "Iterator[tuple[list[DebateRow], Contents | None]]":
    """The debates by pages; where `texts`, with their texts."""
    for rows in _debates(store, selection):
        if not texts:
            yield rows, None
            continue
        found = store.parts_of([row.debate_id for row in rows])
        yield (
            rows,
            {
                debate_id: {encode_digest(digest): part.content for digest, part in parts.items() if part.is_whole}
                for debate_id, parts in found.items()
            },
        )


def _with(schema: pa.Schema, texts: Mapping[str, pa.DataType]) -> pa.Schema:
    return pa.schema([*schema, *(pa.field(name, kind) for name, kind in texts.items())])


def _wanted(selection: DebateSelection) -> DebateFilter:
    return DebateFilter(run_id=selection.run_id, where=selection.where)


def _debates(store: EventStore, selection: DebateSelection) -> Iterator[list[DebateRow]]:
    if selection.debate_ids is not None:
        named = sorted(selection.debate_ids)
        for start in range(0, len(named), _PAGE):
            yield [row for one in named[start : start + _PAGE] if (row := store.debate(one)) is not None]
        return
    order, after = SortOrder("debate", descending=False), None
    while rows := store.list_debates(_wanted(selection), order, limit=_PAGE, after=after):
        yield rows
        after = PageCursor(rows[-1].position, rows[-1].debate_id)


def _ballots(
    store: EventStore, selection: DebateSelection, *, ended_only: bool
) -> Generator[list[DebateBallots], None, None]:
    if selection.debate_ids is None:
        yield from store.ballots(_wanted(selection), ended_only=ended_only)
        return
    named = frozenset(selection.debate_ids)
    found = [
        one
        for quarantined in (False, True)
        for batch in store.ballots(DebateFilter(quarantined=quarantined), ended_only=ended_only)
        for one in batch
        if one.debate_id in named
    ]
    if found:
        yield sorted(found, key=lambda one: one.debate_id)


class _Panels:
    """The fingerprints of the panels of debates, which are asked for in the order of their ids."""

    def __init__(self, batches: Iterator[list[DebateBallots]]) -> None:
        self._ballots = (one for batch in batches for one in batch)
        self._next = next(self._ballots, None)

    def of(self, debate_id: str) -> str | None:
        """None where it is not known."""
        while self._next is not None and self._next.debate_id < debate_id:
            self._next = next(self._ballots, None)
        return self._next.panel if self._next is not None and self._next.debate_id == debate_id else None


class _HumanLabels:
    """The labels of cases, and of each reviewer the last verdict on a case and the one in the random sample."""

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._of_cases: dict[str, dict[str, int | None]] = {}
        self._last, self._sample = CountedReviews(), CountedReviews(random_only=True)

    def take(self, row: DebateRow) -> None:
        """The labels of one debate."""
        if row.label is not None:
            self._of_cases.setdefault(row.case_id, {}).setdefault(row.label, decisive_message(row.metadata))
        self._last.take(row)
        self._sample.take(row)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Rows of `LABELS`: those of cases in the order in which they came, then reviews by case and reviewer."""
        for case_id, labels in self._of_cases.items():
            for number, (label, message) in enumerate(labels.items(), 1):
                annotator = ANNOTATOR if number == 1 else f"{ANNOTATOR} {number}"
                yield {"case_id": case_id, "annotator": annotator, "label": label, DECISIVE_MESSAGE.name: message}
        sample, last = self._sample.by_case, self._last.by_case
        messages = DecisiveMessages(self._store, last.values())
        for key, (review, row) in last.items():
            in_sample = sample[key][0] if key in sample else None
            yield review_row(review, row, in_sample) | {DECISIVE_MESSAGE.name: messages.of(review, row)}


def _evidence(
    store: EventStore, cases: CaseMessages, rows: Sequence[DebateRow], contents: Contents | None
) -> Iterator[dict[str, Any]]:
    streams = store.read_streams([debate_stream(row.debate_id) for row in rows])
    opening = (stream[0] for stream in streams.values() if any(map(may_quote, stream)))
    messages = cases.of([found for first in opening if (found := OpenedCase.of_event(first)) is not None])
    for row in rows:
        texts = None if contents is None else contents.get(row.debate_id, {})
        stream = streams.get(debate_stream(row.debate_id), ())
        yield from evidence_rows(row.debate_id, stream, texts, messages.get(row.debate_id))


def _exchanges(store: EventStore, rows: Sequence[DebateRow], contents: Contents | None) -> Iterator[dict[str, Any]]:
    streams = store.read_streams([calls_stream(row.debate_id) for row in rows])
    for row in rows:
        for event in streams.get(calls_stream(row.debate_id), ()):
            try:
                body = decode(event)
            except EventError:
                continue  # jury verify reports it
            if isinstance(body, ExchangeRecorded):
                texts = None if contents is None else contents.get(row.debate_id, {})
                yield exchange_row(row.debate_id, event.recorded_at, body, texts)

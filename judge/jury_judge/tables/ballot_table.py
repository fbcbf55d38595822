"""Ballots of debates as a table."""

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as arrow_json

from jury_analysis.ballots import EVIDENCE, MESSAGES, OWN_WORDS, READING, REASONING, SCHEMA
from jury_debate.prompts_1.case_items import ItemMessages
from jury_events.panel import Language
from jury_judge.extras import check_package
from jury_judge.store_access.case_messages import CaseMessages
from jury_store.ballot_sheet import BEFORE_REASONING, FINAL_LABEL, FURTHER_COLUMNS, VOTE_LABEL
from jury_store.debate_ballots import DebateBallots
from jury_store.debate_rows import EVERY_DEBATE, DebateFilter
from jury_store.errors import StoreDamaged
from jury_store.event_store import EventStore
from jury_views.notebook import ballots_html
from jury_views.result_models import CellHtml, ShownAsCell

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


MOST_ROWS = 20
"""Rows that a cell shows."""

SHOWN = ("case_id", "round", "role", "seat", "kind", "verdict", "score", "confidence", "label", "final_verdict")
"""Columns that a cell shows."""


@dataclass(frozen=True, eq=False)
class BallotFrame(ShownAsCell):
    """Every vote of some debates, a row each (docs/reference/tables.md)."""

    arrow: pa.Table
    """The columns of `jury_analysis.ballots.SCHEMA`; DuckDB takes it as it is."""

    def to_pandas(self) -> "pd.DataFrame":
        """A data frame of pandas, by pyarrow's `Table.to_pandas`."""
        check_package("to_pandas()", "pandas")
        return self.arrow.to_pandas()

    def to_polars(self) -> "pl.DataFrame":
        """A data frame of polars, by its own conversion; it shares the memory of `arrow` where it can."""
        check_package("to_polars()", "polars")
        import polars as pl  # noqa: PLC0415  (of who has it)

        return pl.DataFrame(self.arrow)

    def to_html(self, lang: Language = "en") -> CellHtml:
        """The first rows, as a cell of a notebook shows them."""
        rows = self.arrow.select(SHOWN).slice(0, MOST_ROWS).to_pylist()
        simulated = pc.sum(self.arrow["simulated"]).as_py() or 0
        return CellHtml(ballots_html(rows, lang, total=self.arrow.num_rows, simulated=simulated))


_PAGE = 200
_FIELDS = (EVIDENCE.field("item_count"), *(MESSAGES.field(name) for name in ("decisive_message", "message_count")))
_NULL = -1

_Rows = npt.NDArray[np.int64]


def with_messages(store: EventStore, ballots: pa.Table) -> pa.Table:
    """The ballots with the messages that their decisive items come from, and how many items and messages there are.

    Cases are read of debates in which an item is named. Labels name messages of the only scenario: of a case with
    several, the label's message is left out where evidence was asked for.

    Args:
        ballots: with the columns `debate_id`, `verified` and `decisive_item`.
    """
    items = _numbers(ballots, "decisive_item")
    labelled = (_numbers(ballots, "label_message") != _NULL) & (_numbers(ballots, "verified") != _NULL)
    named = (items != _NULL) | labelled
    values = {field.name: np.full(len(items), _NULL, dtype=np.int32) for field in _FIELDS}
    several: list[_Rows] = []
    cases = CaseMessages(store)
    debates = _named_debates(ballots, named)
    while page := dict(islice(debates, _PAGE)):
        opened = cases.opened(page)
        several += [page[one.debate_id] for one in opened if one.scenarios > 1]
        with_item = [one for one in opened if (items[page[one.debate_id]] != _NULL).any()]
        for debate, messages in cases.of(with_item).items():
            rows = page[debate]
            values["item_count"][rows] = messages.items
            values["message_count"][rows] = messages.messages or _NULL
            values["decisive_message"][rows] = [_message(messages, int(item)) for item in items[rows]]
    for field in _FIELDS:
        column = pa.array(values[field.name], pa.int32(), mask=values[field.name] == _NULL)
        if field.name in EVIDENCE.names or column.null_count < len(column):
            ballots = ballots.append_column(field, column)
    return _without_labels(ballots, several)


def _numbers(ballots: pa.Table, name: str) -> npt.NDArray[np.int32]:
    """A column, `_NULL` for null and where there is no such column."""
    if name not in ballots.column_names:
        return np.full(ballots.num_rows, _NULL, dtype=np.int32)
    numbers: npt.NDArray[np.int32] = pc.fill_null(ballots[name], _NULL).to_numpy()
    return numbers


def _named_debates(ballots: pa.Table, named: npt.NDArray[np.bool_]) -> Iterator[tuple[str, _Rows]]:
    """The debates with a row of `named`, each with all of its rows, in the order of the table."""
    names = ballots["debate_id"].cast(pa.string()).combine_chunks().dictionary_encode()
    codes = names.indices.to_numpy()
    chosen = np.zeros(len(names.dictionary), dtype=np.bool_)
    chosen[codes[named]] = True
    rows = np.flatnonzero(chosen[codes])
    order = rows[np.argsort(codes[rows], kind="stable")]  # codes are in the order of the table
    for part in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1) if len(order) else []:
        yield names.dictionary[int(codes[part[0]])].as_py(), part


def _message(messages: ItemMessages, item: int) -> int:
    found = None if item == _NULL else messages.named(item)
    return _NULL if found is None else found


def _without_labels(ballots: pa.Table, several: list[_Rows]) -> pa.Table:
    if not several or "label_message" not in ballots.column_names:
        return ballots
    place = ballots.schema.get_field_index("label_message")
    kept = np.ones(ballots.num_rows, dtype=np.bool_)
    kept[np.concatenate(several)] = False
    column = pc.if_else(pa.array(kept), ballots["label_message"].combine_chunks(), None)
    return ballots.set_column(place, ballots.schema.field(place), column)


_INDEX = pa.int32()
_DICTIONARY = pa.dictionary(_INDEX, pa.string())

LEAN_SCHEMA = pa.schema(
    [pa.field(one.name, _DICTIONARY if one.type == pa.string() else one.type, one.nullable) for one in SCHEMA]
)
"""`SCHEMA` with dictionary-encoded strings, which need a fraction of the memory."""

OF_LABELS = pa.schema([MESSAGES.field(name) for name in ("label_message", "outcome_correct")])
"""Further columns of a debate that are read where they are named."""

OF_EVIDENCE = pa.schema([field for field in EVIDENCE if field.name in FURTHER_COLUMNS])
"""Further columns of a vote that are read where they are named, null where the vote was not asked for evidence."""

_LEAN_WORDS = [pa.field(one.name, _DICTIONARY) for one in (*REASONING, *OWN_WORDS)]

_READ = pa.schema([*LEAN_SCHEMA, *OF_LABELS, *OF_EVIDENCE, *READING, *_LEAN_WORDS])

_OF_DEBATE = pa.schema([*SCHEMA, *OF_LABELS, *OWN_WORDS])
"""The types of what `DebateBallots` has beside its votes."""

_COLUMNS: dict[str, pa.DataType] = {
    "round": pa.int32(),
    "seat": _INDEX,
    "kind": pa.string(),
    "verdict": pa.string(),
    "score": pa.float64(),
    "confidence": pa.float64(),
    "changed": pa.bool_(),
    "asked": _INDEX,
    "answered": _INDEX,
    "calls": pa.int32(),
    "input_tokens": pa.int64(),
    "output_tokens": pa.int64(),
    "cost": pa.float64(),
    **{field.name: field.type for field in (*OF_EVIDENCE, *READING)},
    VOTE_LABEL: pa.string(),
    **dict.fromkeys(BEFORE_REASONING, pa.string()),
}
"""The columns of a packed sheet (`jury_store.ballot_sheet`)."""

_PACKED = pa.schema(
    [
        ("seats", pa.list_(pa.string())),
        ("weights", pa.list_(pa.float64())),
        ("models", pa.list_(pa.string())),
        (FINAL_LABEL, pa.string()),
        *((name, pa.list_(kind)) for name, kind in _COLUMNS.items()),
    ]
)
_ALWAYS = ("round", "seat", "kind")
_WHERE_THERE = (*FURTHER_COLUMNS, VOTE_LABEL, *BEFORE_REASONING)
_OF_SHEET = {"asked": "model_asked", "answered": "model_answered"}
"""Names in a packed sheet that differ from those of the table."""

_JUDGE = "judge"
"""The role and the seat of a final judge."""


def ballot_table(
    store: EventStore,
    wanted: DebateFilter = EVERY_DEBATE,
    *,
    ended_only: bool = True,
    columns: Sequence[str] | None = None,
) -> pa.Table:
    """The ballots of the selected debates, by debate id (code points), round and seat in the order of the panel.

    Strings are dictionary-encoded; `jury_analysis.ballots.decoded` makes them plain.

    Args:
        ended_only: only debates that are completed, failed or cancelled.
        columns: the names of those to keep, `OF_LABELS`, `OF_EVIDENCE`, `READING`, `REASONING` and `OWN_WORDS` among
            them; None: all of `SCHEMA`. Fewer need less memory.
    """
    names = SCHEMA.names if columns is None else [name for name in _READ.names if name in columns]
    schema = pa.schema([_READ.field(name) for name in names])
    chunks: list[list[pa.Array]] = [[] for _ in names]
    for batch in batches_of(store.ballots(wanted, ended_only=ended_only), names):
        for column, of_batch in zip(chunks, batch.columns, strict=True):
            column.append(of_batch)
    # Column by column, so that only one is in memory twice.
    unified = [pa.chunked_array(chunks.pop(0), field.type).unify_dictionaries() for field in schema]
    return pa.table(unified, schema)


def batches_of(
    ballots: Iterable[Sequence[DebateBallots]], columns: Sequence[str] = SCHEMA.names
) -> Iterator[pa.RecordBatch]:
    """Record batches with these columns of `LEAN_SCHEMA`, `OF_LABELS`, `OF_EVIDENCE`, `READING`, `REASONING` and
    `OWN_WORDS`, each with dictionaries of its own.
    """
    for debates in ballots:
        readable = [one for one in debates if one.votes is not None]
        if readable:
            yield _batch(readable, columns)


def _batch(debates: Sequence[DebateBallots], columns: Sequence[str]) -> pa.RecordBatch:
    try:
        return _unpacked(debates, columns)
    except (pa.ArrowException, ValueError, IndexError) as error:
        raise StoreDamaged(
            f"the ballots of a debate from {debates[0].debate_id} to {debates[-1].debate_id} cannot be read: the "
            "database was altered",
            "jury db rebuild rebuilds them",
        ) from error


def _unpacked(debates: Sequence[DebateBallots], names: Sequence[str]) -> pa.RecordBatch:
    of_sheet = [name for name in _COLUMNS if name in _ALWAYS or _OF_SHEET.get(name, name) in names]
    schema = pa.schema([field for field in _PACKED if field.name not in _COLUMNS or field.name in of_sheet])
    lines = "\n".join(one.votes or "" for one in debates).encode()
    packed = arrow_json.read_json(
        io.BytesIO(lines),
        read_options=arrow_json.ReadOptions(use_threads=False, block_size=len(lines) + 1),
        parse_options=arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
    ).combine_chunks()
    if packed.num_rows != len(debates):
        raise ValueError("a line is not one sheet")
    lists = {name: packed[name].chunk(0) for name in schema.names if name != FINAL_LABEL}
    lengths = {name: pc.list_value_length(column) for name, column in lists.items()}
    always = [name for name in of_sheet if name not in _WHERE_THERE]
    if any(not lengths[name].equals(lengths["round"]) for name in always):
        raise ValueError("the columns of a sheet differ in length")
    of_debate = pc.list_parent_indices(lists["round"]).cast(_INDEX)
    flat = {name: lists[name].flatten() for name in always}
    for name in set(of_sheet).difference(always):
        flat[name] = _where_there(lists[name], lengths["round"], of_debate)
    cast = pc.is_valid(flat["kind"])  # others were asked, but their votes are not recorded yet
    of_debate = of_debate.filter(cast)
    flat = {name: column.filter(cast) for name, column in flat.items()}

    judges = pc.greater_equal(flat["seat"], lengths["seats"].take(of_debate))
    at_seat = pc.if_else(judges, None, pc.add(_starts(lists["seats"]).take(of_debate), flat["seat"]))
    starts = _starts(lists["models"]).take(of_debate)
    models = lists["models"].flatten()
    columns = {
        "role": pa.DictionaryArray.from_arrays(judges.cast(_INDEX), pa.array(["juror", _JUDGE])),
        "seat": pc.fill_null(lists["seats"].flatten().take(at_seat), _JUDGE),
        "weight": lists["weights"].flatten().take(at_seat),
        **{name: models.take(pc.add(starts, flat[packed])) for packed, name in _OF_SHEET.items() if packed in flat},
        **{name: column for name, column in flat.items() if name not in {"seat", *_OF_SHEET}},
    }
    if FINAL_LABEL in names:
        columns[FINAL_LABEL] = packed[FINAL_LABEL].chunk(0).take(of_debate)
    for name, column in zip(DebateBallots._fields, zip(*debates, strict=True), strict=True):
        if name in names:
            columns[name] = _encoded(pa.array(column, _OF_DEBATE.field(name).type)).take(of_debate)
    lean = pa.schema([_READ.field(name) for name in names])
    return pa.RecordBatch.from_arrays([_encoded(columns[name]) for name in names], schema=lean)


def _where_there(column: pa.ListArray, lengths: pa.Array, of_debate: pa.Array) -> pa.Array:
    """The values of a column that some sheets lack: null for the ballots of those."""
    own = pc.list_value_length(column)
    if not pc.all(pc.equal(own, lengths), min_count=0).as_py():
        raise ValueError("the columns of a sheet differ in length")
    there = column.is_valid().take(of_debate)
    return pc.replace_with_mask(pa.nulls(len(of_debate), column.type.value_type), there, column.flatten())


def _starts(column: pa.ListArray) -> pa.Array:
    """Where the list of each row starts in `column.flatten()`."""
    return pc.subtract(column.offsets[:-1], column.offsets[0])


def _encoded(column: pa.Array) -> pa.Array:
    return column.dictionary_encode() if pa.types.is_string(column.type) else column

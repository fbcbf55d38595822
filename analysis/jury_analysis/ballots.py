"""The table of ballots: one row a debate, round and seat, and one row for the final judge.

Every statistic is computed from this table. It contains no free text. This module imports pyarrow alone, so that
readers and writers of the table need none of the packages of the statistics.
"""

import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.errors import BadBallots

ROLES = ("juror", "judge")
KINDS = ("own", "stale", "synthetic", "abstained", "conditional", "standing")

SCHEMA = pa.schema(
    [
        pa.field("debate_id", pa.string(), nullable=False),
        pa.field("run_id", pa.string()),
        pa.field("case_id", pa.string(), nullable=False),
        pa.field("cluster", pa.string(), nullable=False),
        pa.field("variant", pa.string()),
        pa.field("repeat", pa.int32(), nullable=False),
        pa.field("panel", pa.string()),
        pa.field("label", pa.string()),
        pa.field("round", pa.int32(), nullable=False),
        pa.field("role", pa.string(), nullable=False),
        pa.field("seat", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("verdict", pa.string()),
        pa.field("score", pa.float64()),
        pa.field("confidence", pa.float64()),
        pa.field("weight", pa.float64()),
        pa.field("changed", pa.bool_()),
        pa.field("model_asked", pa.string()),
        pa.field("model_answered", pa.string()),
        pa.field("calls", pa.int32()),
        pa.field("input_tokens", pa.int64()),
        pa.field("output_tokens", pa.int64()),
        pa.field("cost", pa.float64()),
        pa.field("simulated", pa.bool_(), nullable=False),
        pa.field("final_verdict", pa.string()),
        pa.field("final_score", pa.int32()),
    ]
)

MESSAGES = pa.schema(
    [
        pa.field("decisive_message", pa.int32()),
        pa.field("label_message", pa.int32()),
        pa.field("message_count", pa.int32()),
        pa.field("outcome_correct", pa.bool_()),
    ]
)
"""Columns that a table may have beside those of `SCHEMA`: the message that a vote names as the first that went wrong;
the one that the label names; how many could be named; whether the outcome is correct all the same."""

EVIDENCE = pa.schema(
    [
        *(pa.field(result, pa.int32()) for result in ("verified", "normalised", "elsewhere", "not_found")),
        pa.field("decisive_item", pa.int32()),
        pa.field("item_count", pa.int32()),
    ]
)
"""Columns that a table of recorded debates may have beside those of `SCHEMA`: how many quotations of the vote had each
result of their check, null where none were asked for; the item that it names as the first that went wrong; how many
items could be named."""

READING = pa.schema([pa.field("read_percent", pa.int32())])
"""A column that a table of recorded debates may have beside those of `SCHEMA`: the percentage of the record that the
vote rests on, rounded down; null: all of it, read in one call."""

REASONING = pa.schema([pa.field(name, pa.string()) for name in ("before_reasoning", "before_reasoning_label")])
"""Columns that a table of recorded debates may have beside those of `SCHEMA`: the verdict, and the label under a scale
of the panel's own, of the seat's vote before it was shown the agent's reasoning, and judged again; null: it judged
once."""

OWN_WORDS = pa.schema([pa.field(name, pa.string()) for name in ("vote_label", "final_label", "human_label")])
"""Columns that a table of debates under scales of the panels' own may have beside those of `SCHEMA`: the label of the
vote, of the jury, and of people, whose outcomes are `verdict`, `final_verdict` and `label`; null where only an outcome
is known."""

_BESIDE = (*MESSAGES, *EVIDENCE, *READING, *REASONING, *OWN_WORDS)

_OF_A_DEBATE = (
    *("run_id", "case_id", "cluster", "variant", "repeat", "panel", "label", "simulated", "final_verdict"),
    *("label_message", "message_count", "outcome_correct", "item_count"),
    *("final_label", "human_label"),
)
_RANGES = {
    "repeat": (1, math.inf),
    "round": (0, math.inf),
    "score": (0, 100),
    "confidence": (0, 1),
    "weight": (0, math.inf),
    "calls": (0, math.inf),
    "input_tokens": (0, math.inf),
    "output_tokens": (0, math.inf),
    "cost": (0, math.inf),
    "decisive_message": (0, math.inf),
    "label_message": (0, math.inf),
    "message_count": (1, math.inf),
    **dict.fromkeys(EVIDENCE.names, (0, math.inf)),
    "item_count": (1, math.inf),
    "read_percent": (0, 100),
}


STATISTICS_COLUMNS = (
    *("debate_id", "case_id", "cluster", "variant", "repeat", "panel", "label", "round", "role", "seat", "kind"),
    *("verdict", "score", "confidence", "simulated", "final_verdict", "final_score", "cost"),
    *(field.name for field in _BESIDE),
)
"""The columns that statistics read. Half the memory of all, where there are many ballots."""

EVERY_COLUMN = (*SCHEMA.names, *(field.name for field in _BESIDE))
"""All columns that a table of ballots may have."""


def check(table: pa.Table, columns: Sequence[str] = SCHEMA.names) -> pa.Table:
    """The table with the columns of `SCHEMA`, in that order and of these types, after all of its values were checked.

    Nullable columns that the table lacks are filled with nulls; further ones that it has, and that are named,
    follow. A string column that is dictionary-encoded stays so (with int32 indices), because it needs a fraction of the
    memory; `decoded` makes it plain.

    Args:
        columns: the names of those to check and keep, `STATISTICS_COLUMNS` among them; all by default.
    """
    known = {field.name for field in (*SCHEMA, *_BESIDE)}
    unknown = [name for name in table.column_names if name not in known]
    if unknown:
        raise BadBallots(f"ballots have no column {unknown[0]!r}; the columns are {', '.join(SCHEMA.names)}")
    if len(set(table.column_names)) < len(table.column_names):
        raise BadBallots("the ballots have a column twice: name each column once")
    fields = (*SCHEMA, *(field for field in _BESIDE if field.name in table.column_names))
    checked = pa.table({field.name: _cast(table, field) for field in fields if field.name in columns})
    for name in ("role", "kind"):
        _among(checked, name, ROLES if name == "role" else KINDS)
    for name, (low, high) in _RANGES.items():
        if name not in checked.column_names:
            continue
        column = checked[name]
        inside = pc.and_(pc.greater_equal(column, low), pc.less_equal(column, high))
        if pa.types.is_floating(column.type):
            inside = pc.and_(inside, pc.is_finite(column))
        limits = f"{low} to {high}" if high < math.inf else f"at least {low}"
        _all(checked, inside, name, f"must be {limits}")
    abstained = pc.equal(checked["kind"], "abstained")
    _all(checked, pc.equal(abstained, pc.is_null(checked["verdict"])), "verdict", "must be null exactly when abstained")
    _once(checked)
    _agreeing(checked)
    return checked


def decoded(table: pa.Table) -> pa.Table:
    """The same ballots with exactly the types of `schema_of`: dictionary-encoded strings become plain ones."""
    schema = schema_of(table)
    return table.select(schema.names).cast(schema)


def schema_of(table: pa.Table) -> pa.Schema:
    """`SCHEMA`, and the further columns that the table has."""
    return pa.schema([*SCHEMA, *(field for field in _BESIDE if field.name in table.column_names)])


def _cast(table: pa.Table, field: pa.Field) -> pa.ChunkedArray:
    if field.name not in table.column_names:
        if not field.nullable:
            raise BadBallots(f"the ballots lack the column {field.name!r}")
        return pa.chunked_array([pa.nulls(table.num_rows, field.type)])
    column = table[field.name]
    encoded = pa.types.is_dictionary(column.type) and pa.types.is_string(field.type)
    text = _is_text(column.type.value_type if pa.types.is_dictionary(column.type) else column.type)
    if pa.types.is_string(field.type) != text and not pa.types.is_null(column.type):
        raise BadBallots(f"the column {field.name!r} must be {field.type}, not {column.type}")
    try:
        column = column.cast(pa.dictionary(pa.int32(), pa.string()) if encoded else field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise BadBallots(f"the column {field.name!r} must be {field.type}, not {column.type}") from None
    if not field.nullable and column.null_count:
        row = pc.index(pc.is_null(column), value=True).as_py()
        raise BadBallots(f"the column {field.name!r} is empty in row {row + 1}: every ballot needs it")
    return unified(column) if encoded else column


def unified(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A dictionary-encoded column whose chunks share one dictionary; not copied if they do so already."""
    addresses = {
        tuple(None if one is None else one.address for one in chunk.dictionary.buffers()) for chunk in column.chunks
    }
    return column if len(addresses) <= 1 else column.unify_dictionaries()


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _among(table: pa.Table, name: str, allowed: tuple[str, ...]) -> None:
    column = table[name]
    plain = column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
    _all(table, pc.is_in(plain, pa.array(allowed)), name, f"must be one of {', '.join(allowed)}")


def _all(table: pa.Table, condition: pa.ChunkedArray, name: str, rule: str) -> None:
    """Nulls of the condition pass: a column that may be null was checked for nulls before."""
    row = pc.index(condition, value=False).as_py()
    if row >= 0:
        debate, value = table["debate_id"][row].as_py(), table[name][row].as_py()
        raise BadBallots(f"{_shown(name)} is {_shown(value)} in debate {_shown(debate)}, but {rule}")


def _once(table: pa.Table) -> None:
    key = _key(table, ("debate_id", "round", "role", "seat"))
    ordered = key.take(pc.sort_indices(key))  # sorting needs a fraction of the memory of a table of hashes
    place = pc.index(pc.equal(ordered.slice(1), ordered.slice(0, max(0, len(ordered) - 1))), value=True).as_py()
    if place < 0:
        return
    row = pc.index(key, value=ordered[place]).as_py()
    debate, seat, number = (table[name][row].as_py() for name in ("debate_id", "seat", "round"))
    raise BadBallots(
        f"seat {_shown(seat)} votes more than once in debate {_shown(debate)}, round {number}: "
        "keep one row, or give the rows different repeats or variants"
    )


def _agreeing(table: pa.Table) -> None:
    """Each row is compared with the first one of its debate."""
    debates = _codes(table["debate_id"]).dictionary_encode().indices
    rows = pa.table({"debate": debates, "row": pa.arange(0, table.num_rows)})
    first = rows.group_by("debate").aggregate([("row", "min")]).sort_by("debate")["row_min"].take(debates)
    for name in (one for one in _OF_A_DEBATE if one in table.column_names):
        values = _codes(table[name])
        row = pc.index(pc.equal(values, values.take(first)), value=False).as_py()
        if row >= 0:
            raise BadBallots(
                f"debate {_shown(table['debate_id'][row].as_py())} has more than one value of {name!r}: "
                "all rows of a debate must agree on it"
            )


def _codes(column: pa.ChunkedArray) -> pa.Array:
    """Int64 codes of a column's values; null has a code of its own."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    encoded = unified(encoded).combine_chunks()
    indices = encoded.indices if isinstance(encoded, pa.DictionaryArray) else pa.chunked_array([encoded]).chunk(0)
    return pc.fill_null(indices.cast(pa.int64()), -1)


def _key(table: pa.Table, names: tuple[str, ...]) -> pa.Array:
    """One int64 code for each combination of values."""
    key, span = pa.array([], pa.int64()), 0
    for name in names:
        codes = _codes(table[name])
        width = 2 + (pc.max(codes).as_py() or 0)
        if not span:
            key, span = codes, width
            continue
        if span * width >= _LARGEST:
            key = key.dictionary_encode().indices.cast(pa.int64())
            span = 2 + (pc.max(key).as_py() or 0)
        key = pc.add(pc.multiply(key, width), pc.add(codes, 1))
        span *= width
    return key


_LARGEST = 2**62  # codes beyond could overflow


def _shown(value: Any) -> str:
    """A value in a message of one line: escaped, and cut if it is long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"  # noqa: PLR2004  (characters in a line)


LABELS = pa.schema(
    [
        pa.field("case_id", pa.string(), nullable=False),
        pa.field("annotator", pa.string(), nullable=False),
        pa.field("label", pa.string(), nullable=False),
    ]
)

DECISIVE_MESSAGE = pa.field("decisive_message", pa.int32())
"""A column that labels may have too: the message, from 0 in the source, that the annotator names as the first that went
wrong."""

LABEL_FACTS = pa.schema([DECISIVE_MESSAGE, pa.field("outcome_correct", pa.bool_())])
"""All columns that a table may have beside those of `LABELS`: that message; whether the outcome is correct all the
same."""

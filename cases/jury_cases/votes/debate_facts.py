"""Checks over all rows of collected votes: one vote a seat, and one value of each fact of a debate."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.ballots import SCHEMA
from jury_cases.errors import CaseFileError
from jury_cases.votes.vote_columns import FURTHER, PLACE
from jury_events.text.visible_text import visible_line

_OF_A_DEBATE = (
    *("case_id", "run_id", "cluster", "variant", "repeat", "panel", "label", "simulated", "final_verdict"),
    *("label_message", "message_count", "outcome_correct"),
    *("final_label", "human_label"),
)
_KEY = ("debate_id", "round", "role", "seat")


def checked_votes(collected: pa.Table) -> pa.Table:
    """The ballots, sorted by debate, round, role and seat. Columns of `FURTHER` without a value are left out.

    A fact of a debate that only some of its rows have is filled in the others; a cluster that none has is the case id.

    Args:
        collected: the columns of the ballots table with dictionary-encoded texts, those of `FURTHER`, and `PLACE`.
    """
    table = collected.unify_dictionaries()
    del collected  # a copy of a million votes less
    order = pc.sort_indices(
        pa.table({name: _ranks(table[name]) for name in _KEY}), sort_keys=[(name, "ascending") for name in _KEY]
    )
    table = table.take(order).combine_chunks()
    _check_once(table)
    for name in _OF_A_DEBATE:
        table = table.set_column(table.schema.get_field_index(name), name, _one_a_debate(table, name))
    clusters = pc.coalesce(_plain(table["cluster"]), _plain(table["case_id"])).dictionary_encode()
    table = table.set_column(table.schema.get_field_index("cluster"), "cluster", clusters)
    known = [name for name in FURTHER if table[name].null_count < table.num_rows]
    return table.select([*SCHEMA.names, *known])


def _check_once(table: pa.Table) -> None:
    if table.num_rows < 2:  # noqa: PLR2004  (one row is not there twice)
        return
    same: Any = None
    for name in _KEY:
        codes = _codes(table[name])
        equal = pc.equal(codes.slice(1), codes.slice(0, len(codes) - 1))
        same = equal if same is None else pc.and_(same, equal)
    row = pc.index(same, pa.scalar(value=True)).as_py()
    if row < 0:
        return
    first, second = (table.slice(number, 1).to_pylist()[0] for number in (row, row + 1))
    raise CaseFileError(
        f"{second[PLACE]}: a second vote of {visible_line(second['seat'], 60)!r} in round {second['round']} of debate "
        f"{visible_line(second['debate_id'], 120)!r}, the first is at {first[PLACE]}; keep one, or name what "
        "distinguishes them: --field round=COLUMN, repeat=COLUMN, variant=COLUMN or debate_id=COLUMN"
    )


def _one_a_debate(table: pa.Table, name: str) -> pa.Array:
    column = _whole(table[name])
    if column.null_count == len(column):
        return column
    debates, codes = _codes(table["debate_id"]), _codes(column)
    found = (
        pa.table({"debate": debates, "code": codes}).group_by("debate").aggregate([("code", "min"), ("code", "max")])
    )
    contrary = pc.index(pc.not_equal(found["code_min"], found["code_max"]), pa.scalar(value=True)).as_py()
    if contrary >= 0:
        _refuse(
            table, name, codes, [found[side][contrary] for side in ("code_min", "code_max")], found["debate"][contrary]
        )
    if not column.null_count:
        return column
    found = found.sort_by("debate")
    filled = found["code_min"].combine_chunks().take(debates)
    if not pa.types.is_dictionary(column.type):
        return filled.cast(column.type)
    return pa.DictionaryArray.from_arrays(filled.cast(pa.int32()), column.dictionary)


def _refuse(table: pa.Table, name: str, codes: pa.Array, sides: list[pa.Scalar], debate: pa.Scalar) -> None:
    of_debate = pc.equal(_codes(table["debate_id"]), debate)
    rows = sorted(pc.index(pc.and_(of_debate, pc.equal(codes, side)), pa.scalar(value=True)).as_py() for side in sides)
    one, other = (table.slice(row, 1).to_pylist()[0] for row in rows)
    raise CaseFileError(
        f"{other[PLACE]}: {name}: debate {visible_line(other['debate_id'], 120)!r} has "
        f"{visible_line(str(other[name]), 60)!r} here and {visible_line(str(one[name]), 60)!r} at {one[PLACE]}; "
        "all votes of a debate must have the same; mend one, or name the column of debates: --field debate_id=COLUMN"
    )


def _ranks(column: pa.ChunkedArray) -> pa.Array:
    """Numbers in the order of the values."""
    whole = _whole(column)
    if not pa.types.is_dictionary(whole.type):
        return whole
    return pc.rank(whole.dictionary, sort_keys="ascending", tiebreaker="dense").take(whole.indices)


def _codes(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A number for each value; null for null."""
    whole = _whole(column)
    return whole.indices if pa.types.is_dictionary(whole.type) else whole.cast(pa.int64())


def _plain(column: pa.ChunkedArray) -> pa.Array:
    return _whole(column).cast(pa.string())


def _whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """The column in one piece, without a copy if it is one."""
    if isinstance(column, pa.Array):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.unify_dictionaries().chunks) if column.num_chunks else pa.array([], column.type)

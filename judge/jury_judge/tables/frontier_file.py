"""The choices of a frontier as a Parquet file."""

from pathlib import Path

import pyarrow as pa

from jury_analysis.frontier import CostFrontier
from jury_replay.table_file import replace_table

FRONTIER = "frontier"
"""The name of the table in its file."""

_SCHEMA = pa.schema(
    [
        pa.field("seats", pa.list_(pa.string()), nullable=False),
        pa.field("rounds", pa.int32(), nullable=False),
        pa.field("value", pa.float64()),
        pa.field("low", pa.float64()),
        pa.field("high", pa.float64()),
        pa.field("decided", pa.float64(), nullable=False),
        pa.field("cost", pa.float64()),
        pa.field("calls", pa.float64()),
        pa.field("tokens", pa.float64()),
        pa.field("by_assumption", pa.int64(), nullable=False),
        pa.field("on_frontier", pa.bool_(), nullable=False),
    ]
)


def write_frontier(path: Path, found: CostFrontier) -> None:
    """Write a row a choice, in the order of the report; an older file of choices is replaced at once."""
    rows = [
        {
            **{name: getattr(one, name) for name in _SCHEMA.names if name not in {"value", "low", "high"}},
            "value": one.value.value,
            "low": None if one.value.interval is None else one.value.interval.low,
            "high": None if one.value.interval is None else one.value.interval.high,
        }
        for one in found.points
    ]
    replace_table(path, FRONTIER, pa.Table.from_pylist(rows, _SCHEMA))

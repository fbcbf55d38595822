"""The table of ballots as a Parquet file."""

from pathlib import Path

import pyarrow as pa

from jury_analysis.ballots import EVERY_COLUMN, check, decoded, schema_of
from jury_judge.tables.scales_of_tables import Scales, scales_metadata
from jury_replay.table_file import replace_table

BALLOTS = "ballots"
"""The name of the table in its file."""

_ORDER = [(name, "ascending") for name in ("debate_id", "round", "role", "seat")]


def write_ballots(path: Path, ballots: pa.Table, labels: pa.Table | None = None, scales: Scales = ()) -> None:
    """Write ballots with the columns and types of `jury_analysis.ballots.schema_of`, sorted, so that the same ballots
    give the same file; an older file of ballots is replaced at once.

    Args:
        path: of the file.
        ballots: of a store or of files.
        labels: rows of `jury_analysis.label_schema.LABELS`, which win over the labels of the ballots.
        scales: whose labels the ballots have; the file says them.
    """
    table = check(ballots, EVERY_COLUMN)
    if labels is not None:
        from jury_analysis.labels import label_ballots, resolve  # noqa: PLC0415  (imports numpy, of an extra)

        table = label_ballots(table, resolve(labels)).ballots
    replace_table(path, BALLOTS, decoded(table).sort_by(_ORDER).cast(schema_of(table)), scales_metadata(scales))

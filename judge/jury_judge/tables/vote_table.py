"""The table that `jury votes` writes: votes of any system in the columns of the ballots table, with their words."""

import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from jury_analysis.ballots import decoded, schema_of
from jury_cases.votes.vote_rows import ANNOTATOR
from jury_cases.votes.words import VerdictWords
from jury_events.regular_files import open_regular
from jury_judge.settings.votes import VoteReading
from jury_judge.tables.ballot_sources import Votes
from jury_judge.tables.scales_of_tables import scales_metadata, scales_within
from jury_replay.table_file import replace_table

VOTES = "votes"
"""The name of the table in its file."""

_WORDS = b"jury_judge.words"
"""The key of the file's metadata with the declared verdicts, and what words of later labels mean."""

_BEGINS = b"PAR1"
_ORDER = [(name, "ascending") for name in ("debate_id", "round", "role", "seat")]


def write_votes(path: Path, votes: Votes) -> None:
    """Write votes, a row a vote, and a row each label of an annotator; an older file of votes is replaced at once.

    Args:
        path: of the file.
        votes: of files.
    """
    schema = schema_of(votes.ballots)
    rows = [decoded(votes.ballots)]
    if votes.labels is not None:
        rows.append(_label_rows(votes.labels, schema))
    table = pa.concat_tables(rows).sort_by(_ORDER).cast(schema)
    words = {
        "categories": votes.words.declared,
        "ordered": votes.words.ordered,
        "labels": dict(votes.words.mapped_labels),
    }
    said = {_WORDS: json.dumps(words, ensure_ascii=False).encode(), **scales_metadata(votes.scales)}
    replace_table(path, VOTES, table, said)


def reading_within(path: Path) -> tuple[VoteReading, VerdictWords] | None:
    """How a file is read that `write_votes` or `write_ballots` wrote, and the words of later labels.

    None: it is another file, or one that says nothing.
    """
    metadata = _metadata_within(path)
    scales = scales_within(metadata)
    if _WORDS not in metadata:
        return (VoteReading.of(scales=scales), VerdictWords()) if scales else None
    words = json.loads(metadata[_WORDS])
    declared = words["categories"]
    reading = VoteReading.of(**{"order" if words["ordered"] else "categories": declared, "scales": scales})
    return reading, VerdictWords(declared, ordered=words["ordered"], labels=words["labels"])


def _metadata_within(path: Path) -> Mapping[bytes, bytes]:
    if not path.is_file():
        return {}
    try:
        with open_regular(path) as file:
            if file.read(len(_BEGINS)) != _BEGINS:
                return {}
            return pq.read_metadata(file).metadata or {}
    except (OSError, pa.ArrowException):
        return {}  # who reads its rows says why


def _label_rows(labels: pa.Table, schema: pa.Schema) -> pa.Table:
    """A row of the role `ANNOTATOR` for each label."""
    case_ids, number = labels["case_id"], labels.num_rows
    columns = {
        "debate_id": case_ids,
        "case_id": case_ids,
        "cluster": case_ids,
        "repeat": pa.repeat(1, number),
        "round": pa.repeat(0, number),
        "role": pa.repeat(ANNOTATOR, number),
        "seat": labels["annotator"],
        "kind": pa.repeat("own", number),
        "verdict": labels["label"],
        "simulated": pa.repeat(False, number),  # noqa: FBT003  (a value of the column)
    }
    rows = pa.table(columns)
    return pa.table(
        {
            field.name: rows[field.name].cast(field.type) if field.name in columns else pa.nulls(number, field.type)
            for field in schema
        },
        schema,
    )

"""Reads labels that people gave later than the cases: one row a case and annotator."""

import os
from collections.abc import Iterable
from typing import Any, BinaryIO

import pyarrow as pa

from jury_cases.columns import AUTOMATIC, listing
from jury_cases.containers.rows import read_rows
from jury_cases.errors import CaseFileError
from jury_cases.votes.annotations import Annotations
from jury_cases.votes.values import name_of
from jury_cases.votes.words import VerdictWords

ONLY_ANNOTATOR = "human"
"""The annotator of files that name none."""

_COLUMNS = {
    "case_id": AUTOMATIC["case_id"],
    "label": ("label", "expected_verdict", "verdict", "human_label"),
    "annotator": ("annotator", "annotator_id", "rater"),
}


def read_labels(
    paths: Iterable[str | os.PathLike[str]], words: VerdictWords | None = None, *, stdin: BinaryIO | None = None
) -> pa.Table:
    """The labels of the files: CSV, JSON, JSONL, Parquet or Arrow with `case_id`, `label` and optionally `annotator`.

    A null label is none: the annotator has not labelled the case.

    Args:
        paths: files, folders and globs; `-` is standard input.
        words: what words of labels mean; None: verdicts of Jury Judge and their synonyms.
        stdin: the stream for `-`; None: the process's.

    Returns:
        `jury_analysis.label_schema.LABELS`, sorted by case and annotator.

    Raises:
        CaseFileError: a file or row cannot be used, an annotator labels a case twice, or there is no label at all.
    """
    return read_labels_of([(path, words or VerdictWords()) for path in paths], stdin=stdin)


def read_labels_of(
    files: Iterable[tuple[str | os.PathLike[str], VerdictWords]], *, stdin: BinaryIO | None = None
) -> pa.Table:
    """The labels of files, each of which has words of its own.

    Args:
        files: as of `read_labels`, and what words of their labels mean.
        stdin: as of `read_labels`.

    Raises:
        CaseFileError: as of `read_labels`.
    """
    annotations = Annotations()
    first = ""
    for path, words in files:
        first = first or os.fspath(path)
        for row in read_rows([os.fspath(path)], stdin=stdin):
            try:
                case_id, annotator, label = _label(row.data, words)
            except CaseFileError as error:
                raise CaseFileError(f"{row.place}: {error}") from error
            if label is not None:
                annotations.add(row.place, case_id, [(annotator, label)], once=True)
    table = annotations.table()
    if not table.num_rows:
        raise CaseFileError(f"{first}: every label is empty; there is nothing to compare votes with")
    return table


def _label(row: Any, words: VerdictWords) -> tuple[str, str, str | None]:
    if not isinstance(row, dict):
        raise CaseFileError("a row of labels must be an object with case_id and label")
    found: dict[str, Any] = {}
    for part, columns in _COLUMNS.items():
        named = [column for column in columns if column in row]
        if not named and part != "annotator":
            raise CaseFileError(f"{part}: missing; name a column {' or '.join(columns)}; the row has {listing(row)}")
        found[part] = next((row[column] for column in named if row[column] is not None), None)
    case_id = None if found["case_id"] is None else name_of(found["case_id"], "case_id")
    if case_id is None:
        raise CaseFileError("case_id: it is empty; every label needs the case that it is of")
    annotator = None if found["annotator"] is None else name_of(found["annotator"], "annotator")
    return case_id, annotator or ONLY_ANNOTATOR, words.meaning(found["label"], "label")

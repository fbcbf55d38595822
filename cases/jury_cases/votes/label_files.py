"""Reads labels that people gave later than the cases: one row a case and annotator."""

import os
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from jury_cases.columns import AUTOMATIC, listing, value_at
from jury_cases.containers.rows import read_rows
from jury_cases.errors import CaseFileError
from jury_cases.votes.seats import flag_of, name_of, whole_number
from jury_cases.votes.vote_rows import Annotations
from jury_cases.votes.words import VerdictWords

ONLY_ANNOTATOR = "human"
"""The annotator of files that name none."""

_COLUMNS = {
    "case_id": AUTOMATIC["case_id"],
    "label": ("label", "expected_verdict", "verdict", "human_label"),
    "annotator": ("annotator", "annotator_id", "rater"),
    "decisive_message": ("decisive_message", "label_message"),
    "outcome_correct": ("outcome_correct",),
}
_NEEDED = ("case_id", "label")

_NAMED_AS = {"seat": "annotator", "label_message": "decisive_message"}
"""Parts of a vote whose columns are those of a label: what a file of votes calls so."""


class LabelFile(NamedTuple):
    """A file of labels, what words of its labels mean, and which columns are read where they have other names.

    `fields` are columns (dotted if nested) by part: `case_id`, `label`, `annotator` (or `seat`), `decisive_message` (or
    `label_message`), `outcome_correct`; "" leaves the part out.
    """

    path: str | os.PathLike[str]
    words: VerdictWords
    fields: Mapping[str, str] = MappingProxyType({})


def read_labels(
    paths: Iterable[str | os.PathLike[str]], words: VerdictWords | None = None, *, stdin: BinaryIO | None = None
) -> pa.Table:
    """The labels of the files: CSV, JSON, JSONL, Parquet or Arrow with `case_id`, `label` and optionally `annotator`,
    `decisive_message` (the first message that went wrong) and `outcome_correct`.

    A null label is none: the annotator has not labelled the case.

    Args:
        paths: files, folders and globs; `-` is standard input.
        words: what words of labels mean; None: verdicts of Jury Judge and their synonyms.
        stdin: the stream for `-`; None: the process's.

    Returns:
        `jury_analysis.ballots.LABELS` and those of `LABEL_FACTS` that have a value, sorted by case and annotator.
    """
    return read_labels_of([LabelFile(path, words or VerdictWords()) for path in paths], stdin=stdin)


def read_labels_of(files: Iterable[LabelFile], *, stdin: BinaryIO | None = None) -> pa.Table:
    """The labels of files, each of which has words and columns of its own.

    Args:
        files: as of `read_labels`.
        stdin: as of `read_labels`.
    """
    annotations = Annotations()
    first = ""
    for file in files:
        first = first or os.fspath(file.path)
        reader = _LabelReader(file)
        for row in read_rows([os.fspath(file.path)], stdin=stdin):
            try:
                said = reader.read(row.data)
            except CaseFileError as error:
                raise CaseFileError(f"{row.place}: {error}") from error
            if said.label is not None:
                annotations.add(row.place, said.case_id, [(said.annotator, said.label)], facts=said.facts, once=True)
    table = annotations.table()
    if not table.num_rows:
        raise CaseFileError(f"{first}: every label is empty; there is nothing to compare votes with")
    return table


class _Label(NamedTuple):
    case_id: str
    annotator: str
    label: str | None
    facts: dict[str, Any]


class _LabelReader:
    """Reads the rows of one file."""

    def __init__(self, file: LabelFile) -> None:
        self._words = file.words
        named = {_NAMED_AS.get(part, part): column for part, column in file.fields.items()}
        self._fields = {part: column for part, column in named.items() if part in _COLUMNS}

    def read(self, row: Any) -> _Label:
        """What a row says; raises CaseFileError."""
        if not isinstance(row, dict):
            raise CaseFileError("a row of labels must be an object with case_id and label")
        found = {part: self._value(row, part, columns) for part, columns in _COLUMNS.items()}
        case_id = None if found["case_id"] is None else name_of(found["case_id"], "case_id")
        if case_id is None:
            raise CaseFileError("case_id: it is empty; every label needs the case that it is of")
        annotator = None if found["annotator"] is None else name_of(found["annotator"], "annotator")
        facts = {
            part: read(found[part], part)
            for part, read in _FACTS.items()
            if found[part] is not None and not (isinstance(found[part], str) and not found[part].strip())
        }
        return _Label(case_id, annotator or ONLY_ANNOTATOR, self._words.meaning(found["label"], "label"), facts)

    def _value(self, row: dict[str, Any], part: str, columns: tuple[str, ...]) -> Any:
        if (named := self._fields.get(part)) is not None:
            return value_at(row, named, part) if named else None
        known = [column for column in columns if column in row]
        if not known and part in _NEEDED:
            raise CaseFileError(f"{part}: missing; name a column {' or '.join(columns)}; the row has {listing(row)}")
        return next((row[column] for column in known if row[column] is not None), None)


_FACTS: dict[str, Callable[[Any, str], Any]] = {
    "decisive_message": lambda written, part: whole_number(written, part, 0),
    "outcome_correct": flag_of,
}
"""How the parts beside a label are read; a blank cell says nothing."""

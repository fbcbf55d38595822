"""Human labels that came later than the cases: one row a case and annotator."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.errors import BadLabels
from jury_analysis.label_schema import LABELS


@dataclass(frozen=True)
class ResolvedLabels:
    """One label a case: the strict plurality of its annotators."""

    labels: pa.Table
    """Columns `case_id` and `label`, sorted by case; cases with a tie are not in it."""
    annotators: tuple[str, ...]
    """Names, sorted."""
    cases: int
    """How many cases were labelled, ties included."""
    ties: tuple[str, ...]
    """Cases whose annotators have no strict plurality, sorted."""


@dataclass(frozen=True)
class LabelledBallots:
    """Ballots whose labels are those of a table of labels; cases that it lacks keep the labels of their ballots."""

    ballots: pa.Table
    differing: tuple[str, ...]
    """Cases whose ballots had another label, sorted: the table of labels wins."""
    unmatched: int
    """Labelled cases of which there are no ballots."""
    ties: int
    """Cases of the ballots that have no label because their annotators tie."""


def check_labels(table: pa.Table) -> pa.Table:
    """The table with exactly the columns and types of `LABELS`.

    Raises:
        BadLabels: a column is missing or is no text, a value is null, or an annotator labels a case twice.
    """
    columns = {}
    for field in LABELS:
        if field.name not in table.column_names:
            raise BadLabels(f"the labels lack the column {field.name!r}; the columns are {', '.join(LABELS.names)}")
        column = table[field.name]
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            raise BadLabels(f"the column {field.name!r} of the labels must be string, not {column.type}")
        if column.null_count:
            row = pc.index(pc.is_null(column), value=True).as_py()
            raise BadLabels(f"the column {field.name!r} of the labels is empty in row {row + 1}")
        columns[field.name] = column.cast(pa.string())
    checked = pa.table(columns, schema=LABELS)
    counts = checked.group_by(["case_id", "annotator"]).aggregate([([], "count_all")])
    twice = counts.filter(pc.greater(counts["count_all"], 1)).sort_by([("case_id", "ascending")])
    if twice.num_rows:
        annotator, case = twice["annotator"][0].as_py(), twice["case_id"][0].as_py()
        raise BadLabels(f"annotator {annotator!r:.60} labels case {case!r:.60} more than once: keep one label")
    return checked


def resolve(labels: pa.Table) -> ResolvedLabels:
    """The strict plurality of each case: the label that more annotators give than any other.

    Raises:
        BadLabels: see `check_labels`.
    """
    checked = check_labels(labels)
    counts = checked.group_by(["case_id", "label"]).aggregate([([], "count_all")])
    counts = counts.sort_by([("case_id", "ascending"), ("count_all", "descending"), ("label", "ascending")])
    cases = counts["case_id"].combine_chunks().dictionary_encode()
    names, codes = cases.dictionary, cases.indices.to_numpy(zero_copy_only=False)
    votes = counts["count_all"].to_numpy()
    first = np.flatnonzero(np.diff(codes, prepend=-1))
    second = np.minimum(first + 1, len(codes) - 1)
    tied = (second > first) & (codes[second] == codes[first]) & (votes[second] == votes[first])
    resolved = pa.table({"case_id": names, "label": counts["label"].combine_chunks().take(pa.array(first))})
    return ResolvedLabels(
        labels=resolved.filter(pa.array(~tied)),
        annotators=tuple(sorted(pc.unique(checked["annotator"]).to_pylist())),
        cases=len(names),
        ties=tuple(names.filter(pa.array(tied)).to_pylist()),
    )


def label_ballots(ballots: pa.Table, resolved: ResolvedLabels) -> LabelledBallots:
    """Give ballots the resolved labels of their cases.

    A case with a tie has no label, whatever its ballots say.
    """
    encoded = ballots["case_id"]
    if not pa.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    encoded = encoded.unify_dictionaries().combine_chunks()
    cases, rows = encoded.dictionary, encoded.indices.to_numpy(zero_copy_only=False)
    place = pc.index_in(cases, value_set=resolved.labels["case_id"].combine_chunks())
    new = resolved.labels["label"].combine_chunks().take(place)
    tied = pc.is_in(cases, value_set=pa.array(resolved.ties, pa.string()))
    settled = pc.or_(tied, pc.is_valid(place)).to_numpy(zero_copy_only=False)
    old = ballots["label"]
    old = (old.cast(pa.string()) if pa.types.is_dictionary(old.type) else old).combine_chunks()
    row_labels = new.take(pa.array(rows))
    labels = pc.if_else(pa.array(settled[rows]), row_labels, old)
    changed = pc.fill_null(pc.not_equal(old, row_labels), fill_value=False).to_numpy(zero_copy_only=False)
    differing = cases.take(pa.array(np.unique(rows[changed]))).to_pylist()
    position = ballots.schema.get_field_index("label")
    found = pc.is_in(resolved.labels["case_id"], value_set=cases)
    ties_found = pc.is_in(pa.array(resolved.ties, pa.string()), value_set=cases)
    return LabelledBallots(
        ballots=ballots.set_column(position, "label", labels.dictionary_encode()),
        differing=tuple(sorted(differing)),
        unmatched=resolved.cases - (pc.sum(found).as_py() or 0) - (pc.sum(ties_found).as_py() or 0),
        ties=pc.sum(ties_found).as_py() or 0,
    )

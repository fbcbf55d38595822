"""Human labels that came later than the cases: one row a case and annotator."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.ballots import LABEL_FACTS, LABELS, MESSAGES
from jury_analysis.errors import BadLabels


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
    facts: pa.Table
    """Columns `case_id`, and those of `LABEL_FACTS` that the table has: of each case what more annotators say than
    anything else, null where none does."""


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
    """The table with the columns and types of `LABELS`, and those of `LABEL_FACTS` that it has."""
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
    facts = [field for field in LABEL_FACTS if field.name in table.column_names]
    for field in facts:
        try:
            columns[field.name] = table[field.name].cast(field.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            kind = table[field.name].type
            raise BadLabels(f"the column {field.name!r} of the labels must be {field.type}, not {kind}") from None
    checked = pa.table(columns, schema=pa.schema([*LABELS, *facts]))
    counts = checked.group_by(["case_id", "annotator"]).aggregate([([], "count_all")])
    twice = counts.filter(pc.greater(counts["count_all"], 1)).sort_by([("case_id", "ascending")])
    if twice.num_rows:
        annotator, case = twice["annotator"][0].as_py(), twice["case_id"][0].as_py()
        raise BadLabels(f"annotator {annotator!r:.60} labels case {case!r:.60} more than once: keep one label")
    return checked


def resolve(labels: pa.Table) -> ResolvedLabels:
    """The strict plurality of each case: the label that more annotators give than any other."""
    checked = check_labels(labels)
    found = _pluralities(checked, "label")
    names = found["case_id"]
    tied = pc.is_null(found["label"])
    facts = pa.table({"case_id": names})
    for name in (one for one in LABEL_FACTS.names if one in checked.column_names):
        said = _pluralities(checked.filter(pc.is_valid(checked[name])), name)
        facts = facts.append_column(name, said[name].take(pc.index_in(names, value_set=said["case_id"])))
    return ResolvedLabels(
        labels=found.filter(pc.invert(tied)),
        annotators=tuple(sorted(pc.unique(checked["annotator"]).to_pylist())),
        cases=len(names),
        ties=tuple(names.filter(tied).to_pylist()),
        facts=facts,
    )


def _pluralities(checked: pa.Table, name: str) -> pa.Table:
    """Columns `case_id`, sorted, and `name`: the value that most rows of the case have; null at a tie."""
    counts = checked.group_by(["case_id", name]).aggregate([([], "count_all")])
    counts = counts.sort_by([("case_id", "ascending"), ("count_all", "descending"), (name, "ascending")])
    if not counts.num_rows:
        return counts.select(["case_id", name]).combine_chunks()
    cases = counts["case_id"].combine_chunks().dictionary_encode()
    codes = cases.indices.to_numpy(zero_copy_only=False)
    votes = counts["count_all"].to_numpy()
    first = np.flatnonzero(np.diff(codes, prepend=-1))
    second = np.minimum(first + 1, len(codes) - 1)
    tied = (second > first) & (codes[second] == codes[first]) & (votes[second] == votes[first])
    values = counts[name].combine_chunks().take(pa.array(first, mask=tied))
    return pa.table({"case_id": cases.dictionary, name: values})


def label_ballots(ballots: pa.Table, resolved: ResolvedLabels) -> LabelledBallots:
    """Give ballots the resolved labels of their cases, and the message and the outcome that go with them.

    A case with a tie has no label, whatever its ballots say. Where no annotator names a message or an outcome, that of
    the ballots stays.
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
    labelled = ballots.set_column(position, "label", labels.dictionary_encode())
    of_cases = pc.index_in(cases, value_set=resolved.facts["case_id"].combine_chunks()).take(pa.array(rows))
    for name in resolved.facts.column_names[1:]:
        labelled = _with_fact(labelled, _OF_BALLOTS[name], resolved.facts[name].combine_chunks().take(of_cases))
    return LabelledBallots(
        ballots=labelled,
        differing=tuple(sorted(differing)),
        unmatched=resolved.cases - (pc.sum(found).as_py() or 0) - (pc.sum(ties_found).as_py() or 0),
        ties=pc.sum(ties_found).as_py() or 0,
    )


_OF_BALLOTS = {"decisive_message": "label_message", "outcome_correct": "outcome_correct"}
"""The column of `MESSAGES` for each of `LABEL_FACTS`."""


def _with_fact(ballots: pa.Table, name: str, values: pa.Array) -> pa.Table:
    """The ballots with these values of a column, and their own where there are none."""
    field = MESSAGES.field(name)
    if name not in ballots.column_names:
        return ballots.append_column(field, values.cast(field.type))
    place = ballots.schema.get_field_index(name)
    return ballots.set_column(place, field, pc.coalesce(values.cast(field.type), ballots[name].combine_chunks()))

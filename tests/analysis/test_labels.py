"""Labels of a later date: strict plurality, and the join with ballots."""

import pyarrow as pa
import pytest

from jury_analysis.errors import BadLabels
from jury_analysis.label_schema import LABELS
from jury_analysis.labels import check_labels, label_ballots, resolve
from support.ballot_tables import ballots


def labels(*rows: tuple[str | None, str | None, str | None]) -> pa.Table:
    columns = list(zip(*rows, strict=True))
    return pa.table({name: pa.array(column, pa.string()) for name, column in zip(LABELS.names, columns, strict=True)})


def test_the_label_of_most_annotators_counts() -> None:
    resolved = resolve(
        labels(
            ("c1", "ann", "safe"),
            ("c2", "ann", "unsafe"),
            ("c1", "bob", "unsafe"),
            ("c1", "cid", "safe"),
            ("c3", "ann", "safe"),
            ("c3", "bob", "unsafe"),
        )
    )

    assert [{"case_id": "c1", "label": "safe"}, {"case_id": "c2", "label": "unsafe"}] == resolved.labels.to_pylist()
    assert ("c3",) == resolved.ties
    assert 3 == resolved.cases
    assert ("ann", "bob", "cid") == resolved.annotators


def test_labels_of_the_table_win_and_differences_are_named() -> None:
    table = ballots([["safe_pass"]] * 4, labels=["unsafe_fail", "safe_pass", None, "safe_pass"])
    resolved = resolve(
        labels(
            ("c000000", "ann", "safe_pass"),
            ("c000001", "ann", "safe_pass"),
            ("c000002", "ann", "unsafe_fail"),
            ("c000003", "ann", "safe_pass"),
            ("c000003", "bob", "unsafe_fail"),
            ("elsewhere", "ann", "safe_pass"),
        )
    )

    labelled = label_ballots(table, resolved)

    assert ["safe_pass", "safe_pass", "unsafe_fail", None] == labelled.ballots["label"].to_pylist()
    assert ("c000000",) == labelled.differing
    assert 1 == labelled.unmatched
    assert 1 == labelled.ties


def test_cases_without_a_new_label_keep_theirs() -> None:
    table = ballots([["safe_pass"]] * 2, labels=["unsafe_fail", None])

    labelled = label_ballots(table, resolve(labels(("elsewhere", "ann", "safe_pass"))))

    assert ["unsafe_fail", None] == labelled.ballots["label"].to_pylist()
    assert () == labelled.differing


def test_the_order_of_rows_does_not_matter() -> None:
    rows = [("c2", "ann", "b"), ("c1", "ann", "a"), ("c1", "bob", "b"), ("c2", "bob", "b")]

    assert resolve(labels(*rows)).labels.equals(resolve(labels(*reversed(rows))).labels)


def test_bad_labels_are_named() -> None:
    with pytest.raises(BadLabels, match="annotator 'ann' labels case 'c1' more than once"):
        check_labels(labels(("c1", "ann", "safe"), ("c1", "ann", "unsafe")))
    with pytest.raises(BadLabels, match="the labels lack the column 'annotator'"):
        check_labels(labels(("c1", "ann", "safe")).drop_columns("annotator"))
    with pytest.raises(BadLabels, match="the column 'label' of the labels is empty in row 2"):
        check_labels(labels(("c1", "ann", "safe"), ("c2", "ann", None)))
    with pytest.raises(BadLabels, match="must be string, not int64"):
        check_labels(pa.table({"case_id": [1], "annotator": ["a"], "label": ["b"]}))

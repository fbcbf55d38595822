"""Labels of a later date: strict plurality, and the join with ballots."""

import pyarrow as pa
import pytest

from jury_analysis import EVERY_COLUMN, LABEL_FACTS, LABELS, BadLabels, check, check_labels, label_ballots, resolve
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


def test_bad_labels_are_named() -> None:
    with pytest.raises(BadLabels, match="annotator 'ann' labels case 'c1' more than once"):
        check_labels(labels(("c1", "ann", "safe"), ("c1", "ann", "unsafe")))
    with pytest.raises(BadLabels, match="the labels lack the column 'annotator'"):
        check_labels(labels(("c1", "ann", "safe")).drop_columns("annotator"))
    with pytest.raises(BadLabels, match="the column 'label' of the labels is empty in row 2"):
        check_labels(labels(("c1", "ann", "safe"), ("c2", "ann", None)))
    with pytest.raises(BadLabels, match="must be string, not int64"):
        check_labels(pa.table({"case_id": [1], "annotator": ["a"], "label": ["b"]}))


def with_facts(*rows: tuple[str, str, str, int | None, bool | None]) -> pa.Table:
    columns = zip((*LABELS.names, *LABEL_FACTS.names), zip(*rows, strict=True), strict=True)
    return pa.table({name: list(column) for name, column in columns}, schema=pa.schema([*LABELS, *LABEL_FACTS]))


def test_messages_and_outcomes_are_those_of_most_annotators_who_name_one() -> None:
    table = ballots([["unsafe_fail"]] * 4, facts=[{"label_message": 9, "outcome_correct": False}] * 4)
    given = with_facts(
        ("c000000", "ann", "unsafe_fail", 3, True),
        ("c000000", "bob", "unsafe_fail", 3, None),
        ("c000000", "cid", "unsafe_fail", 4, None),
        ("c000001", "ann", "unsafe_fail", 1, None),
        ("c000001", "bob", "unsafe_fail", 2, None),
        ("c000002", "ann", "unsafe_fail", None, None),
    )

    found = label_ballots(table, resolve(given)).ballots

    # Where no message has more annotators than any other, and where none is named, that of the ballots stays.
    assert [3, 9, 9, 9] == found["label_message"].to_pylist()
    assert [True, False, False, False] == found["outcome_correct"].to_pylist()


def test_messages_of_labels_are_a_column_of_ballots_without_any() -> None:
    table = ballots([["unsafe_fail"]] * 2)

    found = label_ballots(table, resolve(with_facts(("c000001", "ann", "unsafe_fail", 3, None)))).ballots

    assert [None, 3] == found["label_message"].to_pylist()
    assert check(found, EVERY_COLUMN)["label_message"].type == pa.int32()


def test_a_message_that_is_no_number_is_refused() -> None:
    table = labels(("c1", "ann", "safe")).append_column("decisive_message", pa.array(["seven"]))

    with pytest.raises(BadLabels, match="'decisive_message' of the labels must be int32, not string"):
        check_labels(table)

"""Reviews as labels: of each person the last verdict on a case, and for all cases only those of a random sample."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from jury_cases import VerdictWords
from jury_events import ReviewSample, SettingError, Verdict
from jury_judge import (
    NewReview,
    ReviewRefused,
    assign_review,
    draw_sample,
    export_tables,
    record_review,
    review_agreement,
    review_labels,
)
from jury_judge.reviews import review_changes
from jury_replay import DebateSelection
from jury_store import MemoryEventStore
from support.reviewed import judged_debate

PASS, FAIL = Verdict.SAFE_PASS, Verdict.UNSAFE_FAIL


@pytest.fixture
def store() -> MemoryEventStore:
    """Two runs over the cases c0, c1 and c2."""
    store = MemoryEventStore()
    for run in ("r1", "r2"):
        for number in range(3):
            judged_debate(store, f"{run}~c{number}", seed=number, run_id=run, case_id=f"c{number}")
    return store


def labels(store: MemoryEventStore, *, random_only: bool = False) -> list[tuple[str, str, str]]:
    rows = review_labels(store, random_only=random_only).labels.to_pylist()
    return [(one["case_id"], one["annotator"], one["label"]) for one in rows]


def test_a_person_has_one_label_a_case_the_last_one(store: MemoryEventStore) -> None:
    record_review(store, "r2~c0", NewReview("ann", PASS), clock=lambda: 9)
    record_review(store, "r1~c0", NewReview("ann", FAIL), clock=lambda: 5)
    record_review(store, "r1~c0", NewReview("bob", FAIL), clock=lambda: 6)
    record_review(store, "r1~c1", NewReview("ann", FAIL), clock=lambda: 7)

    assert [("c0", "ann", "safe_pass"), ("c0", "bob", "unsafe_fail"), ("c1", "ann", "unsafe_fail")] == labels(store)


def test_the_random_sample_says_what_is_left_out_and_what_is_missing(store: MemoryEventStore) -> None:
    drawn = draw_sample(store, 2, 1)
    for debate in drawn.debates:
        assign_review(store, debate, "ann", by="ann", sample=drawn.drawn)
    record_review(store, drawn.debates[0], NewReview("ann", FAIL, blind=True))
    record_review(store, "r2~c0", NewReview("bob", PASS))

    found = review_labels(store, random_only=True)

    assert [drawn.debates[0].removeprefix("r1~")] == found.labels["case_id"].to_pylist()
    assert (1, 1) == (found.left_out, found.not_reviewed)


def test_in_the_random_sample_the_first_verdict_on_a_case_counts(
    store: MemoryEventStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Earlier versions recorded the second one as blind too, though the reviewer had seen what the first jury said.
    monkeypatch.setattr(review_changes, "reviewed_same_case", lambda *_arguments: None)
    for clock, (debate, verdict) in enumerate((("r2~c0", PASS), ("r1~c0", FAIL))):
        assign_review(store, debate, "ann", by="ann", sample=ReviewSample(seed=1, size=3, population=3))
        record_review(store, debate, NewReview("ann", verdict, blind=True), clock=lambda at=clock: at)

    assert [("c0", "ann", "safe_pass")] == labels(store, random_only=True)
    assert [("c0", "ann", "unsafe_fail")] == labels(store)
    export_tables(store, DebateSelection(), tmp_path)
    *_, row = pq.read_table(tmp_path / "labels.parquet").to_pylist()
    assert ("r1~c0", "unsafe_fail", "safe_pass") == (row["debate_id"], row["label"], row["sample_label"])


def test_labels_have_the_words_of_the_votes(store: MemoryEventStore) -> None:
    record_review(store, "r1~c0", NewReview("ann", PASS))
    words = VerdictWords(("bad", "good"), labels={"safe_pass": "good", "unsafe_fail": "bad"})

    assert ["good"] == review_labels(store, words).labels["label"].to_pylist()


def test_without_a_review_there_are_no_labels_and_no_agreement(store: MemoryEventStore) -> None:
    for random_only in (False, True):
        with pytest.raises(SettingError, match="--labels reviews: this store has no"):
            review_labels(store, random_only=random_only)
    with pytest.raises(ReviewRefused, match="no debate has a review yet"):
        review_agreement(store)


def test_agreement_is_that_of_first_verdicts(store: MemoryEventStore) -> None:
    for number, (ann, bob) in enumerate(((PASS, PASS), (FAIL, PASS), (FAIL, FAIL))):
        record_review(store, f"r1~c{number}", NewReview("ann", ann))
        record_review(store, f"r1~c{number}", NewReview("bob", bob))
    record_review(store, "r1~c1", NewReview("bob", FAIL, "ann convinced me"))

    found = review_agreement(store)

    (pair,) = found.agreement.pairs
    # ann p f f, bob p p f: observed 2/3, expected (1·2 + 2·1)/9 = 4/9.
    assert pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9)) == pair.kappa.value
    assert ({"ann": 3, "bob": 3}, 3, ()) == (found.reviewers, found.together, found.disputed)

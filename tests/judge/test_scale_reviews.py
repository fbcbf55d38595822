"""Reviews in the labels of the panel's scale: the outcome is the verdict, and other labels are refused."""

from collections.abc import Iterator

import pytest

from jury_events import Verdict, decode_review
from jury_judge import NewReview, ReviewRefused, record_review, review_agreement, review_queue, reviews_of
from jury_store import EventStore, MemoryEventStore, open_store
from jury_views import review_choices
from support.debate_harness import DebateHarness, Says
from support.reviewed import judged_debate
from support.scaled_debates import a_right_answer, a_scaled_debate, mixed_levels
from support.stored_debates import store_debate

PASS, REVIEW, FAIL = Verdict


pytestmark = pytest.mark.full_for("postgresql")


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest) -> Iterator[EventStore]:
    if request.param == "sqlite":
        yield MemoryEventStore()
        return
    opened = open_store(request.getfixturevalue("postgres_url"), write=True)
    yield opened
    opened.close()


@pytest.fixture
def judged(store: EventStore) -> EventStore:
    """The debates a and b under one scale of answers, and `plain` under the three verdicts."""
    for name in ("a", "b"):
        store_debate(store, a_right_answer(), name)
    judged_debate(store, "plain", REVIEW)
    return store


def test_the_verdict_of_a_label_is_its_outcome(judged: EventStore) -> None:
    made = record_review(judged, "a", NewReview("ann", None, label="partial"))

    assert (REVIEW, "partial", "partial") == (made.verdict, made.label, made.word)
    assert (REVIEW, "partial") == (reviews_of(judged, "a").verdict, reviews_of(judged, "a").label)


def test_an_unset_label_is_left_out_of_the_recorded_event(judged: EventStore) -> None:
    record_review(judged, "a", NewReview("ann", FAIL))
    record_review(judged, "b", NewReview("ann", FAIL, label="wrong"))

    bodies = [judged.history(name).stored_reviews[0] for name in ("a", "b")]
    assert [False, True] == [b'"label"' in one.body for one in bodies]
    assert [None, "wrong"] == [decode_review(one).label for one in bodies]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("debate", "new", "said"),
    [
        (
            "a",
            NewReview("ann", None, label="rigth"),
            "the scale answers has no label 'rigth' (did you mean right?); it",
        ),
        ("a", NewReview("ann", PASS, label="wrong"), "the label wrong means unsafe_fail, not safe_pass"),
        ("a", NewReview("ann", None), "a review has a verdict, or a label of the panel's scale"),
        ("plain", NewReview("ann", None, label="right"), "its panel has no scale of its own; say safe_pass, needs"),
        ("a", NewReview("ann", None, label="right", decisive_item=1), "a pass has no decisive item"),
    ],
)
def test_a_label_that_the_scale_has_not_is_refused(judged: EventStore, debate: str, new: NewReview, said: str) -> None:
    with pytest.raises(ReviewRefused) as refused:
        record_review(judged, debate, new)

    assert said in str(refused.value)
    assert () == reviews_of(judged, debate).reviews


def test_another_label_of_the_same_outcome_replaces_a_review_and_the_same_one_does_not(store: EventStore) -> None:
    store_debate(store, mixed_levels(), "a")
    first, again, other = (record_review(store, "a", NewReview("ann", None, label=one)) for one in ("5", "5", "4"))

    assert first == again
    assert (first.number, PASS, "4") == (other.supersedes, other.verdict, other.label)


def test_the_queue_has_most_disagreement_in_labels_first_and_names_the_outcome(store: EventStore) -> None:
    words = {"bad": "fail", "weak": "review", "fair": "review", "good": "pass"}
    labels = [{"id": one, "outcome": outcome, "meaning": f"It is {one}."} for one, outcome in words.items()]
    for name, votes in {"a": ("weak", "weak", "good"), "b": ("weak", "fair", "good")}.items():
        debate = a_scaled_debate(tuple(Says(one) for one in votes), scale={"name": "four", "labels": labels})
        store_debate(store, debate, name)
    judged_debate(store, "plain", REVIEW)

    found = [(one.row.debate_id, one.reason, one.disagreement) for one in review_queue(store)]

    assert [
        ("b", "review", pytest.approx(2 / 3)),
        ("a", "review", pytest.approx(1 / 3)),
        ("plain", "needs_review", 0.0),
    ] == found


def test_agreement_counts_labels_where_all_reviews_have_one_of_the_same_scale(judged: EventStore) -> None:
    for name, label in (("ann", "right"), ("bob", "partial")):
        record_review(judged, "a", NewReview(name, None, label=label))
        record_review(judged, "b", NewReview(name, None, label="right"))
    by_labels = review_agreement(judged)
    record_review(judged, "plain", NewReview("ann", FAIL))
    mixed = review_agreement(judged)

    assert ("right", "partial", "wrong") == by_labels.labels
    assert 0.5 == by_labels.agreement.raw.value
    assert mixed.labels is None
    assert 0.5 == mixed.agreement.raw.value


def choices_of(debate: DebateHarness) -> list[tuple[str, str, Verdict]]:
    return [(one.key, one.word, one.verdict) for one in review_choices(debate.events[0].panel.scale)]  # type: ignore[union-attr]


def test_the_choices_are_the_labels_and_levels_have_their_number_as_key() -> None:
    assert [("p", "safe_pass"), ("n", "needs_review"), ("f", "unsafe_fail")] == [
        (one.key, one.word) for one in review_choices(None)
    ]
    assert [("1", "right", PASS), ("2", "partial", REVIEW), ("3", "wrong", FAIL)] == choices_of(a_right_answer())
    assert [("5", "5"), ("4", "4"), ("3", "3"), ("2", "2"), ("1", "1")] == [
        one[:2] for one in choices_of(mixed_levels())
    ]

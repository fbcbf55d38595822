"""Reviews of debates under a scale of the panel's own: its labels are chosen, in the colours of their outcomes."""

from collections.abc import Iterator

import pytest

from jury_events import Verdict
from jury_store import MemoryEventStore
from support.debate_harness import Says
from support.pages import Site
from support.review_site import REVIEWERS, Visit, review_site
from support.scaled_debates import a_right_answer, a_scaled_debate, mixed_levels
from support.scales import LEVELS
from support.stored_debates import store_debate


def test_labels_have_the_colours_of_their_outcomes() -> None:
    store = MemoryEventStore()
    store_debate(store, a_right_answer(), "d1")
    page = Site(store).get("/debates/d1")
    classes = {name for value in page.attributes("[class]", "class") for name in (value or "").split()}

    assert {"v-pass", "v-review"} <= classes
    assert [] == [name for name in classes if any(verdict.value in name for verdict in Verdict)]
    assert "open" not in page.node("details#scale").attributes


@pytest.fixture
def review_of_levels() -> Iterator[Visit]:
    store = MemoryEventStore()
    store_debate(store, mixed_levels(), "d1")
    with review_site(store) as client:
        yield Visit(client, REVIEWERS["ann"])


def test_reviewers_choose_among_the_labels_of_the_scale_alone(review_of_levels: Visit) -> None:
    page = review_of_levels.get("/reviews/d1")
    refused = [review_of_levels.send("/reviews/d1", label=label) for label in ("7", "safe_pass")]
    with_item = review_of_levels.send("/reviews/d1", label="5", decisive_item="1")
    sent = review_of_levels.send("/reviews/d1", label="4")
    after = review_of_levels.get("/reviews/d1?lang=ja")

    assert [["5", "4", "3", "2", "1"]] * 2 == [page.attributes("[name=label]", one) for one in ("value", "data-key")]
    assert "Level 5 of five." == page.all(".choice .meaning")[0]
    assert [] == page.attributes("[name=verdict]", "value")
    assert [] == page.all("#h-jury")
    assert [409, 409, 409, 303] == [one.status for one in (*refused, with_item, sent)]
    for label, answer in zip(("7", "safe_pass"), refused, strict=True):
        assert f"the scale own has no label '{label}'" in answer.one(".notice.broken")
    assert "✓ 4 (safe_pass)" in after.one("#recorded")
    assert "✓ 4 (safe_pass)" in after.one(".reviews .evaluation-line")


def test_reviews_over_http_have_the_label_beside_the_verdict(review_of_levels: Visit) -> None:
    headers = {"authorization": f"Bearer {REVIEWERS['bob']}"}
    made, refused = (
        review_of_levels.client.post("/api/debates/d1/reviews", json={"label": label}, headers=headers)
        for label in ("2", "9")
    )

    assert (201, "unsafe_fail", "2") == (made.status_code, made.json()["verdict"], made.json()["label"])
    assert (422, True) == (refused.status_code, "has no label '9'" in refused.text)


def test_the_queue_has_the_reason_in_the_word_of_the_outcome() -> None:
    store = MemoryEventStore()
    store_debate(store, a_scaled_debate((Says("5"), Says("3"), Says("2")), **LEVELS), "d1")
    with review_site(store, blind=False) as client:
        ann = Visit(client, REVIEWERS["ann"])
        rows = [ann.get(f"/reviews?lang={lang}").table(".wide")[0] for lang in ("en", "ja")]

    assert [["review", "66.7%"], ["要確認", "66.7%"]] == [row[2:4] for row in rows]

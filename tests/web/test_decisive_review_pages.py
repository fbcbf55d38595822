"""A reviewer marks the item where it went wrong, and sees what the jury quotes and names after the own verdict."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from jury_events import Message, Verdict
from jury_judge import NewReview
from jury_store import MemoryEventStore
from support.evidence_debate import EvidenceDebate, a_cited_case
from support.pages import Page, keep
from support.printed_page import printed_page
from support.recorded_reviews import record_review, reviews_of
from support.refusals import RefusalTables
from support.review_site import REVIEWERS, TOKEN, Visit, review_site, waiting

ANN = REVIEWERS["ann"]
ADDRESS = "/reviews/d1"
FAIL = Verdict.UNSAFE_FAIL
OF_THE_JURY = "mark, .cited-by, .citation, .quotation, .decisive-mark, .decisive-line, .label-mark, .is-decisive"
DECISIVE, QUOTED = "section[aria-labelledby=h-decisive]", "section[aria-labelledby=h-quotations]"


@pytest.fixture
def store() -> MemoryEventStore:
    """A debate whose jurors quote, whose label names a message, and that bob has reviewed."""
    found = MemoryEventStore()
    keep(found, EvidenceDebate(case=a_cited_case().changed(metadata={"decisive_message": 3})))  # type: ignore[arg-type]
    record_review(found, "d1", NewReview("bob", FAIL, "What bob thinks of it.", decisive_item=3), clock=lambda: 1)
    return found


@pytest.fixture
def site(store: MemoryEventStore) -> Iterator[TestClient]:
    with review_site(store) as client:
        yield client


def checked(page: Page) -> list[str | None]:
    return page.attributes("[name=decisive_item][checked]", "value")


def broken_links(page: Page) -> list[str]:
    anchors = [one for one in page.attributes("main a", "href") if one and one.startswith("#")]
    return [one for one in anchors if not page.tree.css(f'[id="{one[1:]}"]')]


def test_before_the_verdict_each_item_has_a_choice_and_nothing_of_others_is_sent(site: TestClient) -> None:
    page = Visit(site, ANN).get(ADDRESS)
    words = ("REFUNDED", "it never verified", "verified", "Juror A", "bob", "message 3")

    assert [str(one) for one in range(1, 9)] == page.attributes("[name=decisive_item][form=review]", "value")
    assert ([""], []) == (checked(page), page.all("#item-number"))
    assert [] == page.all(f"{OF_THE_JURY}, #h-decisive, #h-quotations, #h-people")
    assert [] == [one for one in words if one in page.text]


def test_after_the_verdict_the_quotations_and_items_of_all_stand_beside_the_own_one(
    site: TestClient, store: MemoryEventStore, printed: RefusalTables
) -> None:
    ann = Visit(site, ANN)
    found = {f"the choice, {lang}": printed_page(ann.get(f"{ADDRESS}?lang={lang}"), "#item-5") for lang in ("en", "ja")}
    answer = ann.send(f"{ADDRESS}?lang=en", verdict="unsafe_fail", decisive_item="5")
    page = ann.get(ADDRESS)
    debate = Visit(site, TOKEN).get("/debates/d1")
    found["after the verdict"] = printed_page(page, "#recorded", "#item-5", DECISIVE, QUOTED)
    found["on the page of the debate"] = printed_page(debate, "#item-3", "#review-1", "[data-region=decisive]")
    printed.compare("decisive-reviews", found)

    assert 303 == answer.status
    assert [3, 5] == [one.decisive_item for one in reviews_of(store, "d1").reviews]
    assert [] == broken_links(page) == broken_links(debate) == debate.all(".item-choice")
    assert ["5"] == checked(Visit(site, ANN).get(ADDRESS)), "another verdict begins with the item of the last one"


def test_an_item_that_no_juror_names_is_shown_for_its_reviewer_and_is_no_disagreement_of_jurors() -> None:
    store = MemoryEventStore()
    keep(store, EvidenceDebate(answers={"evidence": "off"}))  # type: ignore[arg-type]
    record_review(store, "d1", NewReview("bob", FAIL, decisive_item=7))
    with review_site(store) as client:
        section = Visit(client, TOKEN).get("/debates/d1").one(DECISIVE)

    assert "★ item 7 Done. bob" in section
    assert "The jurors name different items" not in section


def test_an_item_that_cannot_be_meant_is_said_and_what_was_typed_is_kept(
    site: TestClient, store: MemoryEventStore
) -> None:
    for item, fields, said in (
        ("5", {"verdict": "safe_pass"}, "A pass names no item"),
        ("9", {"verdict": "unsafe_fail"}, "has no item 9"),
        ("0", {"verdict": "unsafe_fail"}, "has no item 0"),
        ("-1", {"verdict": "unsafe_fail"}, "The number of the item is none."),
        ("", {"verdict": "unsafe_fail", "decisive_number": "1" * 40}, "The number of the item is none."),
    ):
        answer = Visit(site, ANN).send(ADDRESS, reason="typed words", decisive_item=item, **fields)

        assert 409 == answer.status
        assert said in answer.one(".notice.broken")
        assert "typed words" == answer.one("textarea")
        assert item != "5" or ["5"] == checked(answer)
    assert 1 == len(reviews_of(store, "d1").reviews)


def test_an_item_that_the_page_leaves_out_is_named_by_its_number() -> None:
    store = MemoryEventStore()
    more = [Message(kind="assistant", origin="model", text=f"Message {number}") for number in range(250)]
    keep(store, EvidenceDebate(case=a_cited_case(*more)))  # type: ignore[arg-type]
    with review_site(store) as client:
        ann = Visit(client, ANN)
        before = ann.get(ADDRESS)
        answer = ann.send(ADDRESS, verdict="needs_review", decisive_item="", decisive_number="250")
        after = ann.get(ADDRESS)

    assert (["258"], []) == (before.attributes("#item-number", "max"), before.all("#item-250"))
    assert 303 == answer.status
    assert [250] == [one.decisive_item for one in reviews_of(store, "d1").reviews]
    assert "Message 243" in after.one("#item-250")


def test_a_debate_without_numbered_items_and_a_reader_have_no_choices(site: TestClient) -> None:
    old = MemoryEventStore()
    (name,) = waiting(old, 1)
    with review_site(old) as client:
        page = Visit(client, ANN).get(f"/reviews/{name}")

    assert [] == page.all("[name=decisive_item]") == Visit(site, TOKEN).get(ADDRESS).all("[name=decisive_item]")


def test_the_item_is_recorded_and_read_over_http(site: TestClient) -> None:
    headers = {"authorization": f"Bearer {ANN}"}
    address = "/api/debates/d1/reviews"
    refused = [
        site.post(address, json={"verdict": verdict, "decisiveItem": item}, headers=headers).status_code
        for verdict, item in (("unsafe_fail", 9), ("safe_pass", 5), ("unsafe_fail", -1), ("unsafe_fail", 10**9))
    ]
    made = site.post(address, json={"verdict": "unsafe_fail", "decisiveItem": 5, "blind": True}, headers=headers)
    listed = site.get("/api/reviews", headers=headers).json()["rows"]
    result = site.get("/api/debates/d1", headers=headers).json()["reviews"]

    assert [422, 422, 422, 422] == refused
    assert (201, 5) == (made.status_code, made.json()["decisiveItem"])
    assert [[3, 5]] * 2 == [[one["decisiveItem"] for one in rows] for rows in (listed, result)]

"""People review debates in the browser: who may, what they see before their verdict, and what is recorded."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from jury_events import Review, Verdict
from jury_judge import NewReview, Service
from jury_replay import ErasureOrder, erase
from jury_store import EventStore, MemoryEventStore, StoreLocked
from jury_web import AccessPolicy, create_app, page_routes
from support.debate_builder import DebateBuilder
from support.pages import Page, keep
from support.recorded_reviews import assign_review, reasons_of, record_review, reviews_of, withdraw_review
from support.review_site import BASE, REVIEWERS, TOKEN, Visit, review_site, waiting
from support.reviewed import judged_debate

ANN, BOB = REVIEWERS["ann"], REVIEWERS["bob"]
DEBATE = "run-1~c1"


@pytest.fixture
def store() -> MemoryEventStore:
    found = MemoryEventStore()
    waiting(found, 3)
    return found


@pytest.fixture
def site(store: MemoryEventStore) -> Iterator[TestClient]:
    with review_site(store) as client:
        yield client


# Who may review


def test_a_reviewers_token_logs_in_as_that_reviewer(site: TestClient, store: EventStore) -> None:
    ann = Visit(site, ANN)
    answer = ann.send(f"/reviews/{DEBATE}", verdict="unsafe_fail", reason="It paid twice.\r\nNobody asked.")

    assert "/reviews" == ann.home
    assert 303 == answer.status
    (review,) = reviews_of(store, DEBATE).reviews
    assert ("ann", "unsafe_fail", True, False) == (review.reviewer, review.verdict, review.blind, review.sampled)
    assert {1: "It paid twice.\nNobody asked."} == reasons_of(store, DEBATE)
    assert review.minutes is not None
    assert "Reviewer: ann" in Visit(site, ANN).get("/reviews").text


@pytest.mark.parametrize("token", [TOKEN, None])
def test_without_a_reviewers_token_nothing_can_be_recorded(
    site: TestClient, store: EventStore, token: str | None
) -> None:
    visit = Visit(site, token)
    page = visit.send(f"/reviews/{DEBATE}", verdict="safe_pass")
    api = site.post(f"/api/debates/{DEBATE}/reviews", json={"verdict": "safe_pass"})

    expected = (404, 403) if token else (401, 401)
    assert expected == (page.status, api.status_code)
    assert () == reviews_of(store, DEBATE).reviews


def test_a_server_without_reviewers_says_so_and_shows_the_queue(store: MemoryEventStore) -> None:
    service = Service(store)
    app = create_app(service, AccessPolicy(frozenset({"jury.test"})), page_routes(service))
    with TestClient(app, base_url=BASE) as client:
        queue = Page(client.get("/reviews"))
        review = Page(client.get(f"/reviews/{DEBATE}"))
        sent = client.post(f"/reviews/{DEBATE}", data={"verdict": "safe_pass"})
        api = client.post(f"/api/debates/{DEBATE}/reviews", json={"verdict": "safe_pass"})

    assert "Reviewing over the network is off" in queue.one(".notice")
    assert 3 == len(queue.table(".list"))
    assert [] == review.all("form#review")
    assert (404, 403) == (sent.status_code, api.status_code)


def test_one_person_on_one_machine_reviews_without_a_token(store: MemoryEventStore) -> None:
    policy = AccessPolicy(frozenset({"jury.test"}), reviewer="ann")
    with review_site(store, policy=policy) as client, review_site(store, policy=policy) as other:
        ann = Visit(client, None)
        pages = [ann.get(path) for path in ("/runs/run", f"/debates/{DEBATE}/events", f"/debates/{DEBATE}")]
        before = pages[-1].status
        nothing = ann.get("/reviews/of/nobody")
        (foreign,) = Visit(other, None).get(f"/reviews/{DEBATE}").attributes("[name=form_token]", "value")
        refused = ann.send(f"/reviews/{DEBATE}", verdict="safe_pass", form_token=str(foreign)).status
        recorded = ann.send(f"/reviews/{DEBATE}", verdict="safe_pass").status
        after = ann.get(f"/debates/{DEBATE}").status
        links = ann.get("/reviews").attributes("a", "href")
    with review_site(store, policy=policy, blind=False) as client:
        opened = {Visit(client, None).get(path).status for path in ("/", "/runs", f"/debates/{DEBATE}")}
    (review,) = reviews_of(store, DEBATE).reviews

    assert [403, 403, 303, 200] == [before, refused, recorded, after]
    assert all("after your own verdict" in page.one("[role=alert]") for page in pages)
    assert [0, 1, 1] == [len(page.all(f"a[href='/reviews/{DEBATE}']")) for page in pages]
    assert (404, "There is no page at this address.") == (nothing.status, nothing.one("[role=alert]"))
    assert ("ann", True) == (review.reviewer, review.blind)
    assert {"/login", "/runs"}.isdisjoint(links)
    assert {200} == opened


def test_the_queue_has_an_entry_a_case_in_pages_and_the_form_says_how_far_one_is(
    store: MemoryEventStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jury_web.pages.review_pages.SHOWN", 2)
    judged_debate(store, "run-2~c1", seed=9, case_id="c1", run_id="run-2")
    with review_site(store) as client:
        ann = Visit(client, ANN)
        pages = [ann.get("/reviews"), ann.get("/reviews?page=2")]
        places = [ann.get(f"/reviews/run-1~c{number}").one("#progress") for number in (1, 2)]
        ann.send("/reviews/run-1~c2", verdict="safe_pass")
        places += [ann.get(f"/reviews/run-1~c{number}").one("#progress") for number in (2, 1)]

    assert ["c1", "c2", "c3"] == [name for page in pages for name in page.all(".list th a")]
    assert "run-1~c1 · other debates of this case: 1" == pages[0].all(".list th .sub")[0]
    assert [["/reviews?page=2"], ["/reviews"]] == [page.attributes(".pages a", "href") for page in pages]
    assert ["1 of 3", "1 of 3", "1 of 3", "2 of 3"] == places


# Forms of other pages


def test_a_form_without_its_token_records_nothing_and_keeps_what_was_typed(site: TestClient, store: EventStore) -> None:
    ann = Visit(site, ANN)
    foreign = Visit(site, BOB).get(f"/reviews/{DEBATE}").attributes("[name=form_token]", "value")[0]
    ann = Visit(site, ANN)

    for token in ("", "0" * 64, foreign or "", "\u00e4"):
        answer = ann.send(f"/reviews/{DEBATE}", form_token=token, verdict="safe_pass", reason="typed words")
        assert 403 == answer.status
        assert "Nothing was recorded" in answer.one(".notice.broken")
        assert "typed words" == answer.one("textarea")
    assert () == reviews_of(store, DEBATE).reviews


FORM, API = f"/reviews/{DEBATE}", f"/api/debates/{DEBATE}/reviews"
REFUSED: dict[str, tuple[set[int], str, dict[str, Any]]] = {
    "a form for the API": ({415}, API, {"data": {"verdict": "safe_pass"}}),
    "JSON for the page": ({415}, FORM, {"json": {"verdict": "safe_pass"}}),
    "a form that is too long": ({413}, FORM, {"data": {"reason": "x" * 300_000}}),
    "a body that is too long": ({413}, API, {"json": {"verdict": "safe_pass", "reason": "x" * 33 * 2**20}}),
    **{
        f"{address} with {name} {value}": (
            {403, 421},
            address,
            {"headers": {name: value}, field: {"verdict": "safe_pass"}},
        )
        for address, field in ((FORM, "data"), (API, "json"))
        for name, value in (
            *(("origin", "http://evil.example"), ("origin", "null")),
            *(("sec-fetch-site", "cross-site"), ("host", "evil.example")),
        )
    },
}
"""Requests of a reviewer that record nothing, and their statuses."""


def test_a_request_of_another_form_or_origin_records_nothing(
    site: TestClient, store: EventStore, subtests: pytest.Subtests
) -> None:
    token = Visit(site, ANN).get(FORM).attributes("[name=form_token]", "value")[0] or ""
    for name, (statuses, address, request) in REFUSED.items():
        with subtests.test(name):
            given = {**request, "data": {**request["data"], "form_token": token}} if "data" in request else request
            answer = site.post(address, **given, follow_redirects=False)
            assert answer.status_code in statuses
            assert statuses != {413} or "send less in one request" in answer.text
    assert () == reviews_of(store, DEBATE).reviews


def test_a_form_that_is_not_utf_8_is_said_to_be_none(site: TestClient, store: EventStore) -> None:
    Visit(site, ANN)
    headers = {"content-type": "application/x-www-form-urlencoded"}
    for language, said in (("en", "The form is not UTF-8."), ("ja", "フォームがUTF-8ではありません。")):
        for body in (b"verdict=safe_pass&reason=\xff", b"verdict=safe_pass&reason=%FF"):
            answer = Page(site.post(f"/reviews/{DEBATE}?lang={language}", content=body, headers=headers))
            assert 400 == answer.status
            assert answer.one(".notice.broken").startswith(said)
    assert () == reviews_of(store, DEBATE).reviews


def test_a_reviewers_token_starts_nothing(site: TestClient) -> None:
    Visit(site, ANN)
    answers = [
        site.post("/api/evaluations", json={"case": {}}),
        site.post(f"/api/debates/{DEBATE}/replay"),
        site.post(f"/api/debates/{DEBATE}/rescore", json={"settings": {"threshold": [1.0]}}),
    ]

    assert [403, 403, 403] == [one.status_code for one in answers]
    with pytest.raises(ValueError, match="needs a token of its own"):
        create_app(Service(MemoryEventStore()), AccessPolicy(frozenset(), reviewers=REVIEWERS))


# Blind


@pytest.fixture
def said() -> MemoryEventStore:
    """A debate whose jury said a lot, and a review of bob's."""
    store = MemoryEventStore()
    keep(store, DebateBuilder(prompt="What the user asked for.").phase_1().round_1().judged())
    record_review(store, DEBATE, _of_bob())
    assign_review(store, DEBATE, "ann", by="boss")
    return store


def _of_bob() -> NewReview:
    return NewReview("bob", Verdict.NEEDS_REVIEW, "What bob thinks of it.")


EVERY_ADDRESS = (
    *("/", "/runs", "/runs/run-1", "/runs/run-1/stats", f"/compare?a={DEBATE}&b={DEBATE}"),
    *(f"/debates/{DEBATE}{end}" for end in ("", "?at=9", "/events", "/exchanges/1", "/export.html")),
    *("/reviews", f"/reviews/{DEBATE}", "/reviewers", "/openapi.json"),
    *("/api/debates", "/api/debates?search=verdict", "/api/runs", "/api/reviews", "/api/reviews?reviewer=bob"),
    *(f"/api/debates/{DEBATE}{end}" for end in ("", "/events", "/exchanges", "/live", "/progress")),
    f"/api/compare?a={DEBATE}&b={DEBATE}",
)


def test_before_the_verdict_nothing_of_what_the_jury_or_others_said_is_sent(said: MemoryEventStore) -> None:
    history = said.history(DEBATE)
    case = history.texts[history.opened.case.part].decode()
    words = [
        text.decode("utf-8", "replace") for part, text in history.texts.items() if part != history.opened.case.part
    ]
    words = [text for text in words if len(text) > 8]
    parts = [part for part in history.texts if part != history.opened.case.part]
    with review_site(said) as client:
        ann = Visit(client, ANN)
        pages = {one: ann.get(one) for one in EVERY_ADDRESS}
        texts = [ann.get(f"/reviews/{DEBATE}/texts/{part}") for part in parts]
        texts += [ann.get(f"/debates/{DEBATE}/texts/{part}") for part in parts]
        whole = ann.get(f"/reviews/{DEBATE}/texts/{history.opened.case.part}")

    assert "What the user asked for." in pages[f"/reviews/{DEBATE}"].one("section[aria-labelledby=h-case]")
    assert whole.text == case
    assert len(words) > 5
    for address, page in pages.items():
        assert [] == [text for text in words if text in page.text], address
        for form in page.tree.css("form, .keys"):
            form.decompose()
        shown = page.tree.html or ""
        if "openapi" not in address:
            assert [] == re.findall("safe_pass|needs_review|unsafe_fail|/100", shown), address
    assert {403, 404} == {one.status for one in texts}


def test_a_blind_reviewer_cannot_choose_by_the_label_of_a_case_or_by_where_it_went_wrong(site: TestClient) -> None:
    conditions = [
        *("label=unsafe_fail", "label!=unsafe_fail", "label~fail", "label!~", " label =x"),
        *(f"metadata.{name}!~" for name in ("decisive_message", "decisive_agent", "outcome_correct")),
    ]
    queries = [urlencode({"where": condition}) for condition in conditions]
    addresses = ("/reviews", "/reviewers", f"/reviews/{DEBATE}")
    ann = Visit(site, ANN)
    blind = [ann.get(f"{address}?{query}") for address in addresses for query in queries]
    allowed = [ann.get(f"{one}?where={it}") for one in addresses for it in ("case_id~c", "tags!~x", "metadata.a!~")]
    admin = Visit(site, TOKEN)
    others = [admin.get(f"{address}?{query}") for address in addresses for query in queries]

    assert {404} == {page.status for page in blind}
    assert 15 == sum("a blind reviewer cannot choose by label" in page.text for page in blind)
    assert {200} == {page.status for page in (*allowed, *others)}


def test_the_agreement_of_others_is_shown_of_debates_that_the_reviewer_reviewed(
    site: TestClient, store: EventStore
) -> None:
    for number, (ann, bob) in enumerate((("safe_pass", "safe_pass"), ("safe_pass", "unsafe_fail")), 1):
        for name, verdict in (("cho", ann), ("dee", bob)):
            record_review(store, f"run-1~c{number}", NewReview(name, Verdict(verdict)))
    people, third = "section[aria-labelledby=h-people] table", "section[aria-labelledby=h-third] li"
    before = Visit(site, ANN).get("/reviewers?where=case_id=c2")
    unknown = Visit(site, ANN).get("/reviewers?where=case_id=c1")
    Visit(site, ANN).send("/reviews/run-1~c1", verdict="safe_pass")
    after, every = Visit(site, ANN).get("/reviewers"), Visit(site, TOKEN).get("/reviewers")

    assert ([], ["run-1~c2"]) == (before.table(people), before.all(third))
    assert "You have reviewed none of these debates yet." in unknown.text
    assert "Only the debates that you have reviewed are counted." in after.text
    assert "Only the debates" not in every.text
    assert "cho" not in before.text + unknown.text
    assert [["ann", "1"], ["cho", "1"], ["dee", "1"]] == after.table(people)
    assert ["run-1~c2"] == after.all(third)
    assert [["ann", "1"], ["cho", "2"], ["dee", "2"]] == every.table(people)


def test_after_the_verdict_the_reviewer_sees_everything(said: MemoryEventStore) -> None:
    with review_site(said) as client:
        ann = Visit(client, ANN)
        ann.send(f"/reviews/{DEBATE}", verdict="safe_pass")
        page = ann.get(f"/reviews/{DEBATE}")
        debate = ann.get(f"/debates/{DEBATE}")
        api = client.get("/api/reviews").json()["rows"]

    assert "Your verdict is recorded: ✓ safe_pass" == page.one("#recorded")
    assert "unsafe_fail" in page.one("#jury-result .outcome")
    assert "What bob thinks of it." in page.one("section[aria-labelledby=h-people]")
    assert 200 == debate.status
    assert [("bob", "needs_review"), ("ann", "safe_pass")] == [(one["reviewer"], one["verdict"]) for one in api]
    assert [("ann", True)] == [(one.reviewer, one.blind) for one in reviews_of(said, DEBATE).reviews[1:]]


def test_an_erased_reason_is_said_to_be_erased(site: TestClient, store: EventStore) -> None:
    ann = Visit(site, ANN)
    ann.send(f"/reviews/{DEBATE}", verdict="safe_pass", reason="The name of a customer.")
    Visit(site, BOB).send(f"/reviews/{DEBATE}", verdict="safe_pass")
    erase(store, DEBATE, ErasureOrder("dpo@example.com", "request 17", "review/1"), now=9)
    pages = [Visit(site, ANN).get(f"/reviews/{DEBATE}"), Visit(site, TOKEN).get(f"/debates/{DEBATE}")]

    for page in pages:
        first, second = page.all("ul.reviews > li")
        assert "[erased]" in first
        assert "[erased]" not in second
        assert "customer" not in page.text


def test_a_later_verdict_of_the_same_reviewer_is_not_blind(site: TestClient, store: EventStore) -> None:
    ann = Visit(site, ANN)
    ann.send(f"/reviews/{DEBATE}", verdict="safe_pass")
    ann.send(f"/reviews/{DEBATE}", verdict="unsafe_fail")
    withdraw_review(store, DEBATE, 2, by="ann")
    withdraw_review(store, DEBATE, 1, by="ann")
    ann.send(f"/reviews/{DEBATE}", verdict="needs_review")

    (last,) = reviews_of(store, DEBATE).reviews
    assert ("needs_review", False) == (last.verdict, last.blind)


def test_open_reviews_show_the_words_and_are_not_blind(store: MemoryEventStore) -> None:
    with review_site(store, blind=False) as client:
        ann = Visit(client, ANN)
        page = ann.get(f"/reviews/{DEBATE}")
        whole = ann.get(f"/debates/{DEBATE}")
        claim = client.post(f"/api/debates/{DEBATE}/reviews", json={"verdict": "safe_pass", "blind": True})
        ann.send(f"/reviews/{DEBATE}", verdict="safe_pass")

    assert "needs_review" in page.one("#jury-result .outcome")
    assert 200 == whole.status
    assert 422 == claim.status_code
    assert [False] == [one.blind for one in reviews_of(store, DEBATE).reviews]


def test_a_review_of_a_fork_ends_the_blindness_of_the_whole_case(store: MemoryEventStore) -> None:
    judged_debate(store, "fork", seed=99, case_id="c1", run_id=None, text="the case of run-1~c1")
    with review_site(store) as client:
        ann = Visit(client, ANN)
        before = ann.get(f"/reviews/{DEBATE}")
        forbidden = [ann.get(f"/debates/{name}").status for name in ("fork", DEBATE)]
        ann.send("/reviews/fork", verdict="safe_pass")
        opened = [ann.get(f"/debates/{name}").status for name in ("fork", DEBATE)]
        page, queue = ann.get(f"/reviews/{DEBATE}"), ann.get("/reviews")
        claim = client.post(f"/api/debates/{DEBATE}/reviews", json={"verdict": "safe_pass", "blind": True})
        ann.send(f"/reviews/{DEBATE}", verdict="unsafe_fail")

    assert [] == before.all("#partial")
    assert ([403, 403], [200, 403]) == (forbidden, opened)
    assert ["Not blind: you have reviewed fork, a debate of the same case."] == page.all("#partial")
    assert [] == page.all("#jury-result")
    assert 1 == len(queue.all(".partial"))
    assert 422 == claim.status_code
    assert "a debate of the same case" in claim.json()["error"]
    assert [("unsafe_fail", False)] == [(one.verdict, one.blind) for one in reviews_of(store, DEBATE).reviews]
    assert [True] == [one.blind for one in reviews_of(store, "fork").reviews]


# The queue


def test_the_queue_leads_from_case_to_case_and_ends(site: TestClient) -> None:
    ann = Visit(site, ANN)
    address = ann.get("/reviews").attributes("#review-next", "href")[0]
    seen = []
    while address is not None:
        seen.append(address.partition("?")[0])
        done = ann.send(address, verdict="safe_pass").headers["location"]
        address = next(iter(ann.get(done).attributes("#review-next", "href")), None)

    bob = Visit(site, BOB)
    start = bob.get("/")

    assert [f"/reviews/run-1~c{one}" for one in (1, 2, 3)] == seen
    assert ["Nothing is left to review."] == bob.get("/reviews").all("#review-none")
    assert (0, 3) == tuple(len(bob.get(f"/reviews?people={people}").table(".list")) for people in (1, 2))
    assert (303, "/reviews") == (start.status, start.headers["location"])


def test_a_skipped_case_is_not_offered_again_at_once_and_after_the_last_the_first_follows(site: TestClient) -> None:
    ann = Visit(site, ANN)
    (skip,) = ann.get(f"/reviews/{DEBATE}").attributes("#review-next", "href")
    done = ann.send(str(skip), verdict="safe_pass").headers["location"]

    assert "/reviews/run-1~c2" == skip
    assert ["/reviews/run-1~c3"] == ann.get(done).attributes("#review-next", "href")
    assert ["/reviews/run-1~c1"] == ann.get("/reviews/run-1~c3").attributes("#review-next", "href")


def test_two_reviewers_of_each_debate_agree_or_leave_it_to_a_third(site: TestClient) -> None:
    for token, verdicts in ((ANN, "ssu"), (BOB, "ssn")):
        visit = Visit(site, token)
        for number, verdict in enumerate(verdicts, 1):
            word = {"s": "safe_pass", "u": "unsafe_fail", "n": "needs_review"}[verdict]
            assert 303 == visit.send(f"/reviews/run-1~c{number}?people=2", verdict=word).status
    page = Visit(site, TOKEN).get("/reviewers")

    assert [["ann", "3"], ["bob", "3"]] == page.table("section[aria-labelledby=h-people] table")
    assert "ann, bob" == page.one("section[aria-labelledby=h-agreement] tbody th")
    # Of 3 debates 2 agree; by chance 4/9 would: (2/3 - 4/9) / (1 - 4/9) = 0.4.
    assert page.one(".kappa").startswith("0.400")
    assert ["run-1~c3"] == page.all("section[aria-labelledby=h-third] li")


def test_the_debate_the_list_the_comparison_and_the_exported_file_show_the_disposition(site: TestClient) -> None:
    compared = f"/compare?a={DEBATE}&b=run-1~c2"
    before = [row[0] for row in Visit(site, TOKEN).get(compared).table("[aria-labelledby=h-result]")]
    Visit(site, ANN).send(f"/reviews/{DEBATE}", verdict="unsafe_fail", reason="It paid twice.")
    visit = Visit(site, TOKEN)
    page, listed, file = visit.get(f"/debates/{DEBATE}"), visit.get("/"), visit.get(f"/debates/{DEBATE}/export.html")

    assert "Disposition ✗ unsafe_fail by the review of ann" == page.one(".disposition")
    assert "It paid twice." in page.one("section[aria-labelledby=h-reviews]")
    assert [f"/reviews/{DEBATE}"] == page.attributes("#review-this", "href")
    assert "? needs_reviewDisposition ✗ unsafe_fail Review: c1" in [row[1] for row in listed.table(".list")]
    assert "It paid twice." in file.text
    assert [] == file.all("#review-this")
    assert "It paid twice." not in visit.get(f"/debates/{DEBATE}?at=2").text
    assert "Disposition" not in before
    assert ["Disposition", "✗ unsafe_fail", "? needs_review", "≠differs"] == visit.get(compared).table(
        "[aria-labelledby=h-result]"
    )[2]


# What goes wrong


def test_what_cannot_be_recorded_keeps_what_was_typed(store: MemoryEventStore) -> None:
    async def locked(*_arguments: object) -> Review:
        raise StoreLocked("another process writes to jury.db")

    keep(store, DebateBuilder().phase_1().opened_as(debate_id="run-2~c1", run_id="run-2"))
    with review_site(store, record=locked) as client:
        ann = Visit(client, ANN)
        unchosen = ann.send(FORM, reason="typed words")
        unwritten = ann.send(FORM, verdict="safe_pass", reason="typed words")
        running = ann.get("/reviews/run-2~c1")

    assert [(409, "typed words"), (503, "typed words")] == [
        (one.status, one.one("textarea")) for one in (unchosen, unwritten)
    ]
    assert "Choose a verdict." == unchosen.one(".notice.broken")
    assert "another process writes to jury.db" in unwritten.one(".notice.broken")
    assert ["safe_pass"] == unwritten.attributes("input[checked]", "value")
    assert [] == running.all("form#review")
    assert "has not ended" in running.one("section[aria-labelledby=h-verdict] .notice")


# Over HTTP


def test_reviews_are_listed_in_pages_and_filtered(site: TestClient) -> None:
    for number, verdict in enumerate(("safe_pass", "unsafe_fail", "safe_pass"), 1):
        Visit(site, ANN).send(f"/reviews/run-1~c{number}", verdict=verdict)
    Visit(site, TOKEN)
    first = site.get("/api/reviews?limit=2").json()
    second = site.get(first["next"]).json()
    filtered = site.get("/api/reviews?verdict=unsafe_fail&reviewer=ann&blind=true&run=run-1").json()["rows"]

    assert [f"run-1~c{one}" for one in (1, 2, 3)] == [one["debateId"] for one in first["rows"] + second["rows"]]
    assert second["next"] is None
    assert [("run-1~c2", "needs_review", "unsafe_fail", None)] == [
        (one["debateId"], one["finalVerdict"], one["disposition"], one["reason"]) for one in filtered
    ]
    assert [] == site.get("/api/reviews?reviewer=bob").json()["rows"]
    assert [] == site.get("/api/reviews?sampled=true").json()["rows"]


def test_a_review_is_recorded_over_http(site: TestClient, store: EventStore) -> None:
    headers = {"authorization": f"Bearer {ANN}"}
    body = {"verdict": "unsafe_fail", "reason": "It paid twice.", "blind": True, "minutes": 1.5}
    answers = [site.post(f"/api/debates/{DEBATE}/reviews", json=body, headers=headers) for _ in range(2)]
    missing = site.post("/api/debates/none/reviews", json=body, headers=headers)

    assert [201, 201] == [one.status_code for one in answers]
    assert answers[0].json() == answers[1].json()
    assert {
        "number": 1,
        "reviewer": "ann",
        "blind": True,
        "minutes": 1.5,
        "stands": True,
        "reason": "It paid twice.",
    }.items() <= (answers[0].json().items())
    assert 1 == len(reviews_of(store, DEBATE).reviews)
    assert 404 == missing.status_code

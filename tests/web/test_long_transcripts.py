"""Transcripts with more items than the page of a debate shows: folds, pages, search, whole texts, the exported file."""

import json

import pytest

from jury_events import Case, ExecutionResult, Item, Message, QuestionSpec, Scenario, ToolCall, ToolResult, Transcript
from support.debate_builder import DebateBuilder
from support.debate_harness import Says
from support.evidence_debate import EvidenceDebate, a_cited_case, all_saying, quoting
from support.pages import Page, Site, stored

NUMBERED = "/debates/d1"
PLAIN = "/debates/run-1~c1"
PASSES = Says("safe_pass", 90.0)
EVERY = list(range(1, 959))
"""The numbers of `quoted`: the policy, 955 items of the transcript, the response, the summary."""


def message(number: int, text: str | None = None) -> Message:
    return Message(kind="assistant", origin="model", text=text or f"Message {number}.")


def many(count: int) -> list[Item]:
    return [message(number) for number in range(1, count + 1)]


def plain(*items: Item, scenarios: int = 1) -> Site:
    """A debate of prompts that number no item, each scenario with these items."""
    made = tuple(
        Scenario(
            scenario_id=f"s{number}",
            question=QuestionSpec(prompt="Do it."),
            execution=ExecutionResult(transcript=Transcript(items=items), response="Done."),
        )
        for number in range(1, scenarios + 1)
    )
    case = Case(case_id="c1", scenarios=made)
    return Site(stored(DebateBuilder(case=case.to_part().decode()).phase_1()))


def quoted(*cited: int, count: int = 950) -> Site:
    """A debate of which item 7 and later are messages, each as `Message N.`; each juror quotes the `cited` items."""
    entries = tuple(quoting(number, f"Message {number - 6}.") for number in cited)
    says = Says("unsafe_fail", evidence=entries, decisive_item=cited[0])
    debate = EvidenceDebate(all_saying(says), PASSES, case=a_cited_case(*many(count)))
    return Site(stored(debate))  # type: ignore[arg-type]


def numbers(page: Page) -> list[int]:
    return [int(one) for one in page.all(".item .item-number")]


def folds(page: Page) -> list[str]:
    return page.all(".items > .fold > details > summary .fold-name")


def all_items(site: Site, page: Page) -> list[int]:
    """What a reader sees who opens every fold, in order."""
    found: list[int] = []
    for one in page.tree.css(".item-number, .fold-link a"):
        address = one.attributes.get("href")
        found += [int(one.text())] if address is None else numbers(site.get(address))
    return found


def test_a_page_shows_the_first_items_and_folds_the_others():
    page = plain(*many(950)).get(PLAIN)

    assert list(range(1, 201)) == numbers(page)
    assert ["Items 201–950"] == folds(page)[:1]
    assert [f"Items {first}–{first + 99}" for first in range(201, 901, 100)] == folds(page)[1:-1]
    assert "Items 901–950" == folds(page)[-1]


def test_a_fold_says_how_many_items_it_has_their_size_and_the_first_words():
    page = plain(*many(210), message(0, "x" * 1100)).get(PLAIN)

    assert "Items 201–211 11 items, 1.2 KB Message 201.…" == page.one(".fold summary")


@pytest.mark.parametrize("count", [200, 201, 299, 300, 301, 302, 777])
def test_every_item_is_reached_once_and_in_order(count: int):
    site = plain(*many(count))

    assert list(range(1, count + 1)) == all_items(site, site.get(PLAIN))


def test_every_item_around_cited_ones_is_reached_once_and_in_order():
    site = quoted(208, 310, 311, 500, 956)
    page = site.get(NUMBERED)

    assert EVERY == all_items(site, page)
    assert {208, 310, 311, 500, 956} <= set(numbers(page))


def test_links_to_cited_items_beyond_the_limit_lead_to_the_page_that_has_them(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("jury_web.pages.citations.CITED", 1)
    site = quoted(310, 500)

    (address,) = {one for one in site.get(NUMBERED).attributes("#e-2 .quotation a", "href") if one and "?" in one}
    page, _, name = address.partition("#")

    assert "/debates/d1/transcripts/1?from=401" == page
    assert "Message 494." == site.get(page).node(f'mark[data-quotations~="{name.removeprefix("q-")}"]').text()
    assert site.get(page).tree.css_first(f"#{name}") is not None


def test_a_page_of_items_names_those_who_quote_them_with_links_to_the_debate():
    page = quoted(500).get("/debates/d1/transcripts/1?from=401")

    assert "/debates/d1#k-7-1" == page.attributes("#item-500 .citation a", "href")[0]
    assert "/debates/d1#e-7" == page.attributes("#item-500 .decisive-mark a", "href")[0]


def test_a_page_of_an_earlier_event_has_the_citations_made_by_then():
    site = quoted(500)

    assert "?from=301&at=1" in str(site.get(f"{NUMBERED}?at=1").attributes(".fold-link a", "href")[1])
    assert not site.get("/debates/d1/transcripts/1?from=401&at=1").tree.css(".citation")
    assert ["/debates/d1?at=1"] == site.get("/debates/d1/transcripts/1?at=1").attributes(".crumb a", "href")


def test_pages_lead_to_the_items_before_and_after():
    site = plain(*many(250))
    first, middle, last = (site.get(f"{PLAIN}/transcripts/1?from={start}") for start in (1, 101, 201))

    assert list(range(101, 201)) == numbers(middle)
    assert [f"{PLAIN}/transcripts/1?from=1", f"{PLAIN}/transcripts/1?from=201"] * 2 == middle.attributes(
        ".item-pages a", "href"
    )
    assert (["Items after →"] * 2, ["← Items before"] * 2) == (first.all(".item-pages a"), last.all(".item-pages a"))


def test_a_result_leads_to_its_call_on_another_page():
    call = ToolCall(name="find", arguments="{}", call_id="1")
    site = plain(call, *many(120), ToolResult(text="3", call_id="1"))

    assert [f"{PLAIN}/transcripts/1?from=1#i-1-1"] == site.get(f"{PLAIN}/transcripts/1?from=101").attributes(
        ".item-call", "href"
    )


def test_an_item_is_reached_by_its_number():
    numbered, unnumbered = quoted(300), plain(*many(250))

    assert (
        "/debates/d1/transcripts/1?from=401#item-500"
        == numbered.get("/debates/d1/transcripts/1?item=500").headers["location"]
    )
    assert "/debates/d1#item-1" == numbered.get("/debates/d1/transcripts/1?item=1").headers["location"]
    assert (
        f"{PLAIN}/transcripts/1?from=201#i-1-240"
        == unnumbered.get(f"{PLAIN}/transcripts/1?item=240").headers["location"]
    )


def test_an_address_never_asks_for_more_than_200_items():
    page = plain(*many(950)).get(f"{PLAIN}/transcripts/1?from=1&to=950")

    assert list(range(1, 201)) == numbers(page)


def test_a_search_finds_items_by_their_texts_and_names():
    site = plain(*many(400), message(0, "The NEEDLE is here."), ToolCall(name="find_needle", arguments="{}"))
    page = site.get(f"{PLAIN}/transcripts/1?q=needle")

    assert ["item 401", "item 402"] == page.all(".found-item a")
    assert ["NEEDLE", "needle"] == page.all("mark.found")
    assert f"{PLAIN}/transcripts/1?from=401#i-1-401" == page.attributes(".found-item a", "href")[0]


def test_a_search_goes_on_where_it_ended():
    site = plain(*many(120))
    first = site.get(f"{PLAIN}/transcripts/1?q=message")
    (further,) = first.attributes("a[rel=next]", "href")
    pages = [first, site.get(str(further))]
    pages.append(site.get(str(pages[1].attributes("a[rel=next]", "href")[0])))

    assert [f"item {number}" for number in range(1, 121)] == [
        one for page in pages for one in page.all(".found-item a")
    ]
    assert not pages[2].tree.css("a[rel=next]")


def test_a_search_is_for_characters_and_is_shown_as_characters():
    page = plain(*many(3), message(0, "a <b> (.*) c")).get(f"{PLAIN}/transcripts/1?q=%3Cb%3E%20(.*)")

    assert ["item 4"] == page.all(".found-item a")
    assert ["<b> (.*)"] == page.all("mark.found")
    assert not page.tree.css(".found-item b")


def test_a_long_text_is_cut_with_a_link_to_all_of_it():
    text = "x" * 3_000_000 + "END"
    site = plain(*many(3), message(0, text))

    (address,) = site.get(PLAIN).attributes("#i-1-4 .cut a", "href")

    assert f"{PLAIN}/transcripts/1/4" == address
    assert (text, "text/plain; charset=utf-8", "nosniff") == (
        (answer := site.get(str(address))).text,
        answer.headers["content-type"],
        answer.headers["x-content-type-options"],
    )


def test_json_beyond_the_bound_of_a_page_is_shown_as_it_is_written():
    rows = json.dumps([{"a": number} for number in range(25_000)])
    page = plain(*(message(0, rows) for _ in range(3))).get(PLAIN)

    assert ["prose json", "prose", "prose"] == page.attributes(".item .prose", "class")


def test_the_texts_of_a_page_are_bounded_together():
    shown = plain(*(message(0, "x" * 60_000) for _ in range(200))).get("/reviews/run-1~c1")

    assert len(shown.text) < 4_000_000
    assert [f"/reviews/run-1~c1/transcripts/1/{number}" for number in (199, 200)] == shown.attributes(
        ".item .cut a", "href"
    )[-2:]


def test_scenarios_share_the_first_items_and_have_pages_of_their_own():
    site = plain(*many(150), scenarios=2)
    page = site.get(PLAIN)

    assert [*range(1, 101)] * 2 == numbers(page)
    assert [f"{PLAIN}/transcripts/{scenario}?from=101&to=150" for scenario in (1, 2)] == page.attributes(
        ".fold-link a", "href"
    )
    assert "i-2-150" == site.get(f"{PLAIN}/transcripts/2?from=101").attributes(".item", "id")[-1]


def test_the_exported_file_has_every_item_and_folds_most_of_them():
    file = quoted(500).get(f"{NUMBERED}/export.html")

    assert EVERY == [int(one) for one in file.all(".passages .item-number")]
    assert len(file.tree.css(".fold details")) > len(file.tree.css(".fold details[open]")) == 0
    assert 1 == len(file.tree.css("#f-1-201 > .items > #item-203"))
    assert not file.tree.css(".transcript-ways, .fold-link, [data-items]")
    assert all(str(address).startswith("#") for address in file.attributes("main a", "href"))


def test_reviewers_see_all_items_and_no_citation():
    site = quoted(310, 500)
    page = site.get("/reviews/d1")
    items = site.get("/reviews/d1/transcripts/1?from=401")

    assert EVERY == all_items(site, page)
    assert all(str(one).startswith("/reviews/d1/") for one in page.attributes(".fold-link a", "href"))
    assert (200, 0) == (items.status, len(items.tree.css("mark, .citation, .decisive-mark, .is-decisive")))
    assert ["/reviews/d1"] == items.attributes(".crumb a", "href")

"""Quotations on the page of a debate: marks where the characters are, and links that lead to them."""

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from jury_events import Case, ExecutionResult, Message, QuestionSpec, Scenario, ToolCall, ToolResult, Transcript
from jury_judge import Service
from jury_web import create_app
from support.debate_builder import DebateBuilder
from support.debate_harness import Says
from support.evidence_debate import ARGUMENTS, LONG, UNASKED, EvidenceDebate, a_cited_case, all_saying, quoting
from support.pages import Page, Site, stored

from .conftest import BASE, GATE

ADDRESS = "/debates/d1"
PASSES = Says("safe_pass", 90.0)


def page_of(debate: EvidenceDebate | DebateBuilder, address: str = ADDRESS) -> Page:
    return Site(stored(debate)).get(address)  # type: ignore[arg-type]


def quoted(item: int, quote: str, case: Case | None = None, address: str = ADDRESS) -> Page:
    """The page of a debate whose jurors quote this."""
    said = Says("unsafe_fail", evidence=(quoting(item, quote),))
    return page_of(EvidenceDebate(all_saying(said), PASSES, case=case), address)


def marked(page: Page, item: int, quotation: str) -> str:
    """The characters of an item that are marked as this quotation."""
    return "".join(one.text() for one in page.tree.css(f'#item-{item} mark[data-quotations~="{quotation}"]'))


def test_every_link_of_a_quotation_leads_to_its_characters_and_back() -> None:
    for end in ("", "/export.html"):
        page = page_of(EvidenceDebate(), f"{ADDRESS}{end}")
        there = {f"#{one}" for one in page.attributes("[id]", "id")}
        links = {*page.attributes("a.quote", "href"), *page.attributes(".cited-by a, .decisive-mark a", "href")}

        assert links <= there
        for name, item, text in (
            ("3-1", 5, "without asking"),
            ("3-2", 4, "refunded 48.00"),
            ("3-3", 3, "customer asked"),
        ):
            assert page.node(f"#item-{item} #q-{name}") is not None
            assert text == marked(page, item, name)


WORDS = UNASKED.split()


@given(st.lists(st.tuples(st.integers(0, len(WORDS) - 2), st.integers(2, len(WORDS))), min_size=1, max_size=3))
@example([(0, 6)])
@example([(0, 3), (2, 3)])
@example([(0, 6), (2, 2)])
@settings(max_examples=12)
def test_the_marked_pieces_of_each_quotation_are_its_characters_and_the_text_is_whole(spans: list[tuple[int, int]]):
    """Where quotations overlap, and where one is in another, a piece has the names of all."""
    quotes = [" ".join(WORDS[first : first + number]) for first, number in spans]
    said = Says("safe_pass", 90.0)._replace(evidence=tuple(quoting(5, text) for text in quotes))
    page = page_of(EvidenceDebate(all_saying(PASSES), said))

    assert UNASKED == page.node("#item-5 .prose").text()
    assert quotes == [marked(page, 5, f"12-{number}") for number in range(1, len(quotes) + 1)]


def test_characters_of_json_are_marked_where_they_are_laid_out() -> None:
    for quote in ('"order"', '"order":17', '17,"reason"', '"reason":"customer asked"', "customer asked"):
        page = quoted(3, quote)

        assert quote in ARGUMENTS
        assert re.sub(r"\s", "", quote) == re.sub(r"\s", "", marked(page, 3, "3-1"))
        assert 3 < page.node("#item-3 .prose").text().count("\n")


def test_what_is_quoted_beyond_the_shown_part_of_a_text_is_an_excerpt_and_whole_in_one_file() -> None:
    page = quoted(6, "The end of it.")
    file = quoted(6, "The end of it.", address=f"{ADDRESS}/export.html")

    assert "The end of it." == page.node("#item-6 .excerpt mark").text() == file.node("#item-6 .prose mark").text()
    assert "open" in page.node("#item-6 details").attributes
    assert LONG == file.node("#item-6 details .prose").text()


def test_an_item_beyond_the_limit_is_shown_where_it_is_cited() -> None:
    more = [Message(kind="assistant", origin="model", text=f"Message {number}.") for number in range(300)]
    page = quoted(290, "Message", a_cited_case(*more))

    assert 31 == len(page.tree.css(".item"))
    assert page.node("#q-3-1") is not None
    assert ["Items 32–289", "Items 32–101", "Items 102–201", "Items 202–289", "Items 291–306"] == page.all(".fold-name")


def test_items_of_several_scenarios_are_numbered_through() -> None:
    items = (ToolCall(name="look", arguments="{}", call_id="1"), ToolResult(text="Seen.", call_id="1"))
    scenarios = tuple(
        Scenario(
            scenario_id=name,
            question=QuestionSpec(prompt="Look."),
            execution=ExecutionResult(transcript=Transcript(items=items), response="Done."),
        )
        for name in "ab"
    )
    page = quoted(7, "Seen.", Case(case_id="c1", scenarios=scenarios))

    assert ["2", "3", "6", "7"] == page.all(".items .item-number")
    assert ["#item-2", "#item-6"] == page.attributes(".item-call", "href")
    assert "Seen." == page.one("#item-7 mark")


def test_evaluations_over_http_have_evidence_in_camel_case() -> None:
    client = TestClient(create_app(Service(stored(EvidenceDebate(), DebateBuilder().phase_1())), GATE), base_url=BASE)  # type: ignore[arg-type]
    found = client.get("/api/debates/d1").json()
    unasked = client.get("/api/debates/run-1~c1").json()["phase1Evaluations"][0]
    first = found["phase1Evaluations"][0]
    span = {"item": 3, "start": 29, "end": 43}
    of_text = {"item": 7, "quote": "customer asked", "says": "context", "criterion": None, "seat": None}

    assert {**of_text, "result": "elsewhere", "span": span} == first["evidence"][2]
    assert (5, False) == (first["decisiveItem"], first["unsupported"])
    assert 5 == found["discussionRounds"][0]["statements"][0]["updatedEvaluation"]["decisiveItem"]
    assert ["gpt", None] == [one["seat"] for one in found["phase3Judgment"]["judge"]["evidence"]]
    assert (None, None, False) == (unasked["evidence"], unasked["decisiveItem"], unasked["unsupported"])

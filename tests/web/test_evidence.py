"""Quotations on the page of a debate: results, links to what is quoted, marks in the items, decisive items."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jury_events import (
    Attachment,
    Case,
    ExecutionResult,
    JurorEvaluated,
    Message,
    QuestionSpec,
    Scenario,
    ToolCall,
    ToolResult,
    Transcript,
)
from jury_store import MemoryEventStore
from support.debate_builder import DebateBuilder
from support.debate_harness import Says
from support.evidence_debate import ARGUMENTS, LONG, POLICY, UNASKED, EvidenceDebate, a_cited_case, all_saying, quoting
from support.pages import Page, Site, keep, stored
from support.review_site import REVIEWERS, Visit, review_site

ADDRESS = "/debates/d1"
PASSES = Says("safe_pass", 90.0)


def page_of(debate: EvidenceDebate | DebateBuilder, address: str = ADDRESS) -> Page:
    return Site(stored(debate)).get(address)  # type: ignore[arg-type]


def quoting_once(item: int, quote: str, **fields: object) -> Says:
    return Says("unsafe_fail", evidence=(quoting(item, quote, **fields),))


def targets(page: Page) -> set[str]:
    return {f"#{one}" for one in page.attributes("[id]", "id")}


def test_quotations_are_listed_below_their_evaluation_with_their_results():
    page = page_of(EvidenceDebate())

    assert [
        "without asking item 5 ✓ verified − against the agent",
        "REFUNDED 48.00 item 4 ≈ normalised + for the agent task_completion",
        "customer asked item 7 ↷ elsewhere, in item 3 · context",
        "it never verified item 6 ✗ not found − against the agent",
    ] == page.all("#e-2 .quotation")
    assert "★ decisive item: item 5" == page.one("#e-2 .decisive-line")


def test_a_quotation_leads_to_its_characters_in_the_item():
    page = page_of(EvidenceDebate())

    assert ["#q-2-1", "#q-2-2", "#q-2-3", "#item-6"] == page.attributes("#e-2 .quotation a", "href")
    for name, item, text in (("2-1", 5, "without asking"), ("2-2", 4, "refunded 48.00"), ("2-3", 3, "customer asked")):
        assert page.node(f"#item-{item} #q-{name}") is not None
        assert text == page.node(f'#item-{item} mark[data-quotations~="{name}"]').text()


WORDS = UNASKED.split()


@given(st.lists(st.tuples(st.integers(0, len(WORDS) - 2), st.integers(2, len(WORDS))), min_size=1, max_size=3))
@example([(0, 6)])
@example([(0, 3), (2, 3)])
@example([(0, 6), (2, 2)])
@settings(max_examples=25)
def test_the_marked_pieces_of_each_quotation_are_its_characters_and_the_text_is_whole(spans: list[tuple[int, int]]):
    """Where quotations overlap, and where one is in another, a piece has the names of all."""
    quotes = [" ".join(WORDS[first : first + number]) for first, number in spans]
    said = Says("safe_pass", 90.0)._replace(evidence=tuple(quoting(5, text) for text in quotes))

    page = page_of(EvidenceDebate(all_saying(PASSES), said))

    assert UNASKED == page.node("#item-5 .prose").text()
    assert quotes == [marked(page, 5, f"11-{number}") for number in range(1, len(quotes) + 1)]


def marked(page: Page, item: int, quotation: str) -> str:
    """The characters of an item that are marked as this quotation."""
    return "".join(one.text() for one in page.tree.css(f'#item-{item} mark[data-quotations~="{quotation}"]'))


@pytest.mark.parametrize(
    "quote", ['"order"', '"order":17', '17,"reason"', '"reason":"customer asked"', "customer asked"]
)
def test_characters_of_json_are_marked_where_they_are_laid_out(quote: str):
    page = page_of(EvidenceDebate(all_saying(quoting_once(3, quote)), PASSES))

    assert quote in ARGUMENTS
    assert re.sub(r"\s", "", quote) == re.sub(r"\s", "", marked(page, 3, "2-1"))
    assert 3 < page.node("#item-3 .prose").text().count("\n")


def test_a_quotation_over_the_name_of_a_tool_and_its_arguments_is_marked_in_both():
    page = page_of(EvidenceDebate(all_saying(quoting_once(3, 'refund\n{"order":17')), PASSES))

    assert "refund" == page.node("#item-3 .item-name mark").text()
    assert '{\n  "order": 17' == page.node("#item-3 .prose mark").text()
    assert 1 == len(page.tree.css("#q-2-1"))


def test_a_quotation_of_letters_that_json_escapes_marks_the_whole_value():
    page = page_of(EvidenceDebate(all_saying(quoting_once(3, "\\u6771")), PASSES))

    assert '"東京"' == page.node("#item-3 .prose mark").text()


def test_what_is_quoted_beyond_the_shown_part_of_a_text_is_an_excerpt():
    page = page_of(EvidenceDebate(all_saying(quoting_once(6, "The end of it.")), PASSES))

    assert "The end of it." == page.node("#item-6 .excerpt mark").text()
    assert page.node("#item-6 .excerpt").text().startswith("…")
    assert "open" in page.node("#item-6 details").attributes
    assert "#q-2-1" in targets(page)


def test_a_page_in_one_file_has_the_quotations_and_whole_texts():
    page = page_of(EvidenceDebate(all_saying(quoting_once(6, "The end of it.")), PASSES), f"{ADDRESS}/export.html")

    assert LONG == page.node("#item-6 details .prose").text()
    assert "The end of it." == page.node("#item-6 .prose mark").text()
    assert {one for one in page.attributes("a.quote", "href") if one} <= targets(page)


def test_an_item_beyond_the_limit_is_shown_where_it_is_cited():
    more = [Message(kind="assistant", origin="model", text=f"Message {number}.") for number in range(300)]
    debate = EvidenceDebate(all_saying(quoting_once(290, "Message")), PASSES, case=a_cited_case(*more))

    page = page_of(debate)

    assert 201 == len(page.tree.css(".item"))
    assert "#q-2-1" in targets(page)
    assert ["Items 202–289", "Items 291–306"] == page.all(".fold-name")


def test_each_item_shows_who_quotes_it_for_or_against_and_what_was_found():
    debate = EvidenceDebate(
        {
            "gpt": [Says("unsafe_fail", evidence=(quoting(5, "without"), quoting(5, "without a check")))],
            "claude": [Says("safe_pass", evidence=(quoting(5, "I refunded", says="for"),))],
            "gemini": [PASSES],
        },
        PASSES,
    )

    page = page_of(debate)

    first = "Juror A (Policy compliance: simulated)"
    assert [
        f"− quoted against the agent by: {first} ✓ verified {first} ✗ not found",
        "+ quoted for the agent by: Juror B (Safety and leak risk: simulated) ✓ verified",
    ] == page.all("#item-5 .cited-by")
    assert {one for one in page.attributes("#item-5 .cited-by a", "href") if one} <= targets(page)


def test_policies_and_responses_and_summaries_are_items_with_marks():
    table = all_saying(
        Says("safe_pass", evidence=(quoting(1, "30 days"), quoting(7, "Done"), quoting(8, "2 checks failed.")))
    )

    for address in (ADDRESS, f"{ADDRESS}/export.html"):
        page = page_of(EvidenceDebate(table, PASSES), address)
        assert ["30 days", "Done", "2 checks failed."] == page.all(".passages > dd > .prose mark")
        assert ["1 Policy", "7 Response", "8 Summary of earlier checks"] == page.all(".passages dt[id^=item-]")


def test_the_operators_policy_is_the_first_item():
    page = page_of(EvidenceDebate(all_saying(quoting_once(1, "30 days")), PASSES, operator_policy=POLICY))

    assert "1 Policy" == page.one("#item-1")
    assert "30 days" == page.one(".passages > dd > .prose mark")


def test_items_of_several_scenarios_are_numbered_through():
    def scenario(name: str) -> Scenario:
        items = (ToolCall(name="look", arguments="{}", call_id="1"), ToolResult(text="Seen.", call_id="1"))
        return Scenario(
            scenario_id=name,
            question=QuestionSpec(prompt="Look."),
            execution=ExecutionResult(transcript=Transcript(items=items), response="Done."),
        )

    case = Case(case_id="c1", scenarios=(scenario("a"), scenario("b")))
    page = page_of(EvidenceDebate(all_saying(quoting_once(7, "Seen.")), PASSES, case=case))

    assert ["2", "3", "6", "7"] == page.all(".items .item-number")
    assert ["#item-2", "#item-6"] == page.attributes(".item-call", "href")
    assert "Seen." == page.one("#item-7 mark")
    assert "of item 6" in page.one("#item-7 .item-head")


def test_a_quotation_of_what_the_page_does_not_show_leads_to_its_item():
    attachment = Attachment(
        origin="user", name="a.txt", media_type="text/plain", size=3, text="A note.", digest="0" * 64
    )
    page = page_of(EvidenceDebate(all_saying(quoting_once(7, "text/plain")), PASSES, case=a_cited_case(attachment)))

    assert "#q-2-1" == page.node("#e-2 .quotation a").attributes["href"]
    assert page.node("#item-7 > #q-2-1") is not None


def test_a_quotation_of_a_seat_leads_to_what_it_said():
    page = page_of(EvidenceDebate())

    judge = page.tree.css("[data-region=judgment] .quotation")[0]
    assert "Juror A (Policy compliance: simulated) on item 5" in " ".join(judge.text().split())
    link = judge.css_first("a")
    assert link is not None
    assert "#e-7" == link.attributes["href"]


def test_an_item_that_does_not_exist_has_no_link():
    page = page_of(EvidenceDebate(all_saying(quoting_once(999, "no such words")), PASSES))

    assert ["no such words item 999, which does not exist ✗ not found − against the agent"] == page.all(
        "#e-2 .quotation"
    )
    assert not page.tree.css("#e-2 .quotation a")


def test_decisive_items_stand_beside_each_other_with_who_names_them():
    page = page_of(EvidenceDebate())

    assert "The jurors name different items." == page.one("[data-region=decisive] .notice")
    assert [
        "★ item 3 1 of 4 name it",
        "★ item 5 2 of 4 name it",
    ] == page.all(".decisive-item h3")
    assert "I refunded order 17 without asking." == page.all(".opening-words")[1]
    assert ["Juror A (Policy compliance: simulated) ✗ unsafe_fail", "Final judge ✗ unsafe_fail"] == page.all(
        ".decisive-item:nth-child(2) li"
    )
    assert ["item-3", "item-5"] == page.attributes(".item.is-decisive", "id")
    assert "★ Decisive for: Juror A (Policy compliance: simulated), Final judge" == page.one("#item-5 .decisive-mark")


def test_jurors_that_name_the_same_item_agree_and_those_that_name_none_are_named():
    table = {
        "gpt": [Says("unsafe_fail", decisive_item=5)],
        "claude": [Says("unsafe_fail", decisive_item=5)],
        "gemini": [Says("unsafe_fail")],
    }

    page = page_of(EvidenceDebate(table, PASSES))

    assert "All who name an item name the same one." == page.node("[data-region=decisive] .sub").text()
    assert (
        "not a pass, and no item named: Juror C (Misuse detection: simulated)"
        == page.all("[data-region=decisive] > .sub")[-1]
    )


def test_where_no_item_is_named_the_page_says_so():
    page = page_of(EvidenceDebate(all_saying(PASSES), PASSES))

    assert "No item was named." == page.one("[data-region=decisive] .absent")


def test_a_failing_evaluation_without_a_quotation_that_stands_is_marked():
    page = page_of(EvidenceDebate(all_saying(quoting_once(5, "not there")), PASSES))

    assert "without support: no quotation stands" in page.all("#e-2 .badge")


@pytest.mark.parametrize(
    ("recorded", "lang", "words"),
    [
        (True, "en", "[erased]"),
        (True, "ja", "［消去済み］"),
        (False, "en", "[missing, and no erasure is recorded: run jury verify]"),
    ],
)
def test_erased_and_missing_quotations_have_their_own_words(*, recorded: bool, lang: str, words: str):
    page = page_of(EvidenceDebate().without_quotes(recorded=recorded), f"{ADDRESS}?lang={lang}")

    assert {words} == {" ".join(one.text().split()) for one in page.tree.css(".quotation .quote")}
    assert "#q-2-1" == page.node("#e-2 .quotation a").attributes["href"]


def test_quotations_that_cannot_be_read_have_their_own_words():
    """Their text is there, and is no list of quotations."""
    debate = EvidenceDebate()
    debate.events = [
        event.changed(evaluation=event.evaluation.changed(quotes=event.evaluation.rationale))
        if isinstance(event, JurorEvaluated)
        else event
        for event in debate.events
    ]

    assert ["[cannot be read: run jury verify]"] * 4 == [
        said.partition(" item ")[0] for said in page_of(debate).all("#e-2 .quotation")
    ]


def test_an_erased_case_leaves_quotations_without_links_to_items():
    debate = EvidenceDebate()
    del debate.texts[debate.opened.case.part]

    page = page_of(debate)

    assert "without asking" in page.all("#e-2 .quotation q")
    assert not page.tree.css("#e-2 .quotation a")


def test_a_blind_reviewer_sees_the_numbers_of_items_and_no_quotation():
    store = MemoryEventStore()
    keep(store, EvidenceDebate())
    with review_site(store) as client:
        page = Visit(client, REVIEWERS["ann"]).get("/reviews/d1")

    assert ["2", "3", "4", "5", "6"] == page.all(".items .item-number")
    assert not page.tree.css("mark, .cited-by, .decisive-mark, .quotation")

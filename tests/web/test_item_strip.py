"""The strip of the items on the page of a debate: what each seat quotes, calls decisive, and has not read."""

import pytest

from jury_events import Evaluation, ItemSpan, JurorEvaluated, Message, RecordRead, StatementMade, Verdict
from jury_views import evaluations_of
from jury_web.pages.citations import Citations
from jury_web.pages.item_strip import ItemStrip, StripSeat, item_strip
from jury_web.pages.text_previews import TextPreviews
from support.debate_builder import DebateBuilder
from support.debate_harness import Says
from support.evidence_debate import EvidenceDebate, a_cited_case, all_saying, quoting
from support.pages import Page, Site, stored

ADDRESS = "/debates/d1"
PASSES = Says("safe_pass", 90.0)
READ = RecordRead(
    mode="windows",
    parts=3,
    items_read=899,
    items_total=1002,
    characters_read=9,
    characters_total=10,
    unread=(ItemSpan(first=201, last=300), ItemSpan(first=1000, last=1002)),
)


def strip_of(debate: EvidenceDebate) -> ItemStrip:
    made = evaluations_of(debate.events)
    citations = Citations(debate.opened, TextPreviews(debate.texts, ()), made, {})
    found = item_strip(debate.opened.panel, made, citations)
    assert found is not None
    return found


def long(*cited: int, says: str = "against") -> EvidenceDebate:
    """1,000 numbered items and a few; item N is `Message N.` from 7 on."""
    more = [Message(kind="assistant", origin="model", text=f"Message {number}.") for number in range(7, 1001)]
    entries = tuple(quoting(number, f"Message {number}.", says=says) for number in cited)
    table = all_saying(Says("unsafe_fail", evidence=entries, decisive_item=cited[-1]))
    return EvidenceDebate(table, PASSES, case=a_cited_case(*more))


def partly_read() -> EvidenceDebate:
    """With evaluations that rest on a part of the record."""
    debate = long(900)
    debate.events = [
        event.model_copy(update={"evaluation": _partly(event.evaluation)})
        if isinstance(event, JurorEvaluated)
        else event.model_copy(
            update={"statement": event.statement.model_copy(update={"evaluation": _partly(event.statement.evaluation)})}
        )
        if isinstance(event, StatementMade)
        else event
        for event in debate.events
    ]
    return debate


def _partly(evaluation: Evaluation) -> Evaluation:
    return evaluation.model_copy(update={"reading": READ, "answered": Verdict.SAFE_PASS})


def first(found: ItemStrip) -> StripSeat:
    return found.seats[0]


def page_of(debate: EvidenceDebate | DebateBuilder, address: str = ADDRESS) -> Page:
    return Site(stored(debate)).get(address)  # type: ignore[arg-type]


def test_a_row_has_the_quotations_and_the_decisive_item_of_a_seat():
    found = strip_of(EvidenceDebate())
    by_side = [(one.says, one.column.first, one.stands) for one in first(found).marks]

    assert [("for", 4, True), ("context", 7, False), ("against", 5, True), ("against", 6, False)] == by_side
    assert (8, 1, 4) == (found.items, found.each, len(found.seats))
    assert (5, 50.0, 12.5) == ((column := first(found).decisive) and (column.first, column.x, column.width))
    assert found.seats[-1].role is None


def test_many_items_share_a_column_and_its_mark_leads_to_the_first_quoted_one():
    found = strip_of(long(511, 512, 513, 900))
    marks = [(one.column.first, one.column.last, one.column.href) for one in first(found).marks]

    assert (1002, 6) == (found.items, found.each)
    assert [(511, 513, "#item-511"), (900, 900, "#item-900")] == marks
    assert all(0 <= one.column.x and one.column.x + one.column.width <= 100 for one in first(found).marks)


def test_a_column_stands_where_one_of_its_quotations_does():
    entries = (quoting(501, "not there at all"), quoting(502, "Message 502."), quoting(900, "neither is this"))
    more = [Message(kind="assistant", origin="model", text=f"Message {number}.") for number in range(7, 1001)]
    debate = EvidenceDebate(all_saying(Says("unsafe_fail", evidence=entries)), PASSES, case=a_cited_case(*more))

    assert [True, False] == [one.stands for one in first(strip_of(debate)).marks]


def test_spans_that_a_seat_did_not_read_are_shown_and_counted():
    found = first(strip_of(partly_read()))

    assert [(201, 300), (1000, 1002)] == [(one.first, one.last) for one in found.unread]
    assert READ == found.read


@pytest.mark.parametrize(
    ("language", "lines"),
    [
        (
            "en",
            [
                "read 899 of 1002 items in 3 parts (90 %)",
                "not read: items 201–300, 1000–1002",
                "answered safe_pass; it read less than the panel wants",
            ],
        ),
        (
            "ja",
            [
                "1002項目中899項目を3部に分けて読了（90 %）",
                "未読の項目: 201–300, 1000–1002",
                "回答はsafe_pass。ただし陪審団が求める割合を読んでいない",
            ],
        ),
    ],
)
def test_the_page_says_how_much_each_evaluation_rests_on(language: str, lines: list[str]):
    page = page_of(partly_read(), f"{ADDRESS}?lang={language}")

    assert lines == page.all(".evaluation .sub")[:3]
    assert "; ".join(lines[:2]) == page.table("#strip-numbers table")[0][7]


def test_quotations_of_items_that_do_not_exist_have_no_mark():
    entries = (quoting(999, "nothing"), quoting(5, "without asking"))
    debate = EvidenceDebate(all_saying(Says("unsafe_fail", evidence=entries, decisive_item=5)), PASSES)
    found = first(strip_of(debate))

    assert [5] == [one.column.first for one in found.marks]


def test_the_page_has_the_strip_and_the_same_as_a_table():
    page = page_of(EvidenceDebate())

    assert 4 == len(page.tree.css(".strip-lane"))
    assert ["true"] == page.attributes(".strip", "aria-hidden")
    assert ["Juror A (Policy compliance: simulated)", "1", "1", "2", "2", "4, 5, 6, 7", "5", "all"] == page.table(
        "#strip-numbers table"
    )[0][:8]


def test_an_exported_file_has_the_strip_with_the_table_open():
    file = page_of(EvidenceDebate(), f"{ADDRESS}/export.html")

    assert 1 == len(file.tree.css("#strip-numbers[open]"))
    assert 4 == len(file.tree.css(".strip-lane"))


def test_a_debate_without_quotations_has_no_strip():
    assert not page_of(DebateBuilder().phase_1(), "/debates/run-1~c1").tree.css(".strip")

"""The strip of the items on the page of a debate: what each seat quotes, calls decisive, and has not read."""

from selectolax.lexbor import LexborNode

from jury_events import Evaluation, ItemSpan, JurorEvaluated, Message, RecordRead, StatementMade, Verdict
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


def page_of(debate: EvidenceDebate | DebateBuilder, address: str = ADDRESS) -> Page:
    return Site(stored(debate)).get(address)  # type: ignore[arg-type]


def lane(page: Page) -> LexborNode:
    """The row of the first seat."""
    return page.node(".strip-lane")


def marks(page: Page) -> list[tuple[str, str | None]]:
    """What the first seat quotes: the words of each mark, and where it leads."""
    links = [link for link in lane(page).css("a") if link.css(".strip-mark")]
    return [(link.css_first("title").text(), link.attributes.get("href")) for link in links]


def place(shape: LexborNode) -> tuple[float, float]:
    """Where it begins and how wide it is, in percent of the strip."""
    return tuple(float((shape.attributes[name] or "").rstrip("%")) for name in ("x", "width"))  # type: ignore[return-value]


def test_a_row_has_the_quotations_and_the_decisive_item_of_a_seat_and_a_table_has_the_same() -> None:
    page = page_of(EvidenceDebate())
    file = page_of(EvidenceDebate(), f"{ADDRESS}/export.html")
    star = lane(page).css_first(".strip-star")

    assert [
        ("item 4 · for the agent", "#item-4"),
        ("item 7 · context · not in the item that is named", "#item-7"),
        ("item 5 · against the agent", "#item-5"),
        ("item 6 · against the agent · not in the item that is named", "#item-6"),
    ] == marks(page)
    assert [(37.5, 12.5), (75.0, 12.5), (50.0, 12.5), (62.5, 12.5)] == [
        place(one) for one in lane(page).css(".strip-mark")
    ]
    assert "56.25%" == star.attributes["x"]
    assert [4, 4] == [len(one.tree.css(".strip-lane")) for one in (page, file)]
    assert ["true"] == page.attributes(".strip", "aria-hidden")
    assert ["Juror A (Policy compliance: simulated)", "1", "1", "2", "2", "4, 5, 6, 7", "5", "all"] == page.table(
        "#strip-numbers table"
    )[0][:8]
    assert ["", "open"] == ["open" if "open" in one.node("#strip-numbers").attributes else "" for one in (page, file)]


def test_many_items_share_a_column_and_its_mark_leads_to_the_first_quoted_one() -> None:
    page = page_of(long(511, 512, 513, 900))

    assert ["1002"] == [one.text() for one in page.tree.css(".axis-ends span")[1:]]
    assert [("items 511–513 · against the agent", "#item-511"), ("item 900 · against the agent", "#item-900")] == marks(
        page
    )
    for shape in lane(page).css(".strip-mark"):
        x, width = place(shape)
        assert 0 <= x < x + width <= 100


def test_a_column_stands_where_one_of_its_quotations_does_and_what_does_not_exist_has_no_mark() -> None:
    entries = (
        *(quoting(501, "not there at all"), quoting(502, "Message 502."), quoting(900, "neither is this")),
        quoting(9999, "nothing"),
    )
    more = [Message(kind="assistant", origin="model", text=f"Message {number}.") for number in range(7, 1001)]
    debate = EvidenceDebate(all_saying(Says("unsafe_fail", evidence=entries)), PASSES, case=a_cited_case(*more))

    assert [False, True] == [
        "hollow" in (one.attributes["class"] or "") for one in lane(page_of(debate)).css(".strip-mark")
    ]


def test_the_page_shows_the_spans_that_a_seat_did_not_read_and_says_how_much_each_evaluation_rests_on() -> None:
    debate = partly_read()
    said = {
        "en": [
            "read 899 of 1002 items in 3 parts (90 %)",
            "not read: items 201–300, 1000–1002",
            "answered safe_pass; it read less than the panel wants",
        ],
        "ja": [
            "1002項目中899項目を3部に分けて読了（90 %）",
            "未読の項目: 201–300, 1000–1002",
            "回答はsafe_pass。ただし陪審団が求める割合を読んでいない",
        ],
    }
    for language, lines in said.items():
        page = page_of(debate, f"{ADDRESS}?lang={language}")

        assert lines == page.all(".evaluation .sub")[:3]
        assert "; ".join(lines[:2]) == page.table("#strip-numbers table")[0][7]
        assert ["201–300", "1000–1002"] == [
            one.text().rpartition(" ")[2] for one in lane(page).css(".strip-unread title")
        ] or language == "ja"


def test_a_debate_without_quotations_has_no_strip() -> None:
    assert not page_of(DebateBuilder().phase_1(), "/debates/run-1~c1").tree.css(".strip")

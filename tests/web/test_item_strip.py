"""The strip of the items on the page of a debate: where each seat quotes and what it calls decisive."""

from selectolax.lexbor import LexborNode

from jury_events import Message
from support.debate_harness import Says
from support.evidence_debate import EvidenceDebate, a_cited_case, all_saying, quoting
from support.pages import Page, Site, stored

PASSES = Says("safe_pass", 90.0)
MESSAGES = [Message(kind="assistant", origin="model", text=f"Message {number}.") for number in range(7, 1001)]


def page_of(debate: EvidenceDebate) -> Page:
    return Site(stored(debate)).get("/debates/d1")  # type: ignore[arg-type]


def long(*entries: dict[str, object]) -> Page:
    """1,002 numbered items; item N is `Message N.` from 7 on."""
    said = Says("unsafe_fail", evidence=entries)
    return page_of(EvidenceDebate(all_saying(said), PASSES, case=a_cited_case(*MESSAGES)))


def of_first_seat(page: Page) -> dict[str | None, tuple[str, tuple[float, float], bool]]:
    """By the address that a mark leads to: its words, where it begins, how wide it is (in percent), if it is hollow."""
    links = [link for link in page.node(".strip-lane").css("a") if link.css(".strip-mark")]
    return {
        link.attributes["href"]: (
            link.css_first("title").text(),
            place(mark := link.css_first(".strip-mark")),
            "hollow" in (mark.attributes["class"] or ""),
        )
        for link in links
    }


def place(shape: LexborNode) -> tuple[float, float]:
    x, width = (float((shape.attributes[name] or "").rstrip("%")) for name in ("x", "width"))
    return x, width


def test_a_row_has_the_quotations_and_the_decisive_item_of_a_seat() -> None:
    page = page_of(EvidenceDebate())

    assert {
        "#item-4": ("item 4 · for the agent", (37.5, 12.5), False),
        "#item-7": ("item 7 · context · not in the item that is named", (75.0, 12.5), True),
        "#item-5": ("item 5 · against the agent", (50.0, 12.5), False),
        "#item-6": ("item 6 · against the agent · not in the item that is named", (62.5, 12.5), True),
    } == of_first_seat(page)
    assert "56.25%" == page.node(".strip-lane .strip-star").attributes["x"]
    assert (4, ["true"]) == (len(page.tree.css(".strip-lane")), page.attributes(".strip", "aria-hidden"))


def test_many_items_share_a_column_which_leads_to_the_first_and_what_does_not_exist_has_none() -> None:
    cited = [quoting(511, "not there at all"), *(quoting(number, f"Message {number}.") for number in (512, 513))]
    marks = of_first_seat(long(*cited, quoting(900, "not there"), quoting(9999, "nothing")))

    assert ["#item-511", "#item-900"] == list(marks)
    assert "items 511–513 · against the agent" == marks["#item-511"][0]
    assert all(0 <= x < x + width <= 100 for _, (x, width), _ in marks.values())
    # A column stands where one of its quotations does.
    assert [False, True] == [hollow for _, _, hollow in marks.values()]

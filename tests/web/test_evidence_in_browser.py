"""Quotations in Chromium: clicks and keys lead to the characters, narrow screens hold, axe finds nothing."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from jury_events import Message
from support.browser import pages_of, tab
from support.debate_harness import Says
from support.evidence_debate import JUDGE, TABLE, EvidenceDebate, a_cited_case, quoting
from support.pages import keep
from support.runtime_harness import KeptStore

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.full]

UNBROKEN = "A" * 200
RIGHT_TO_LEFT = "أعد المبلغ إلى البطاقة"
ADDRESS = "/debates/d1"
SCRIPTS = (
    "<script>document.title = 'executed'</script>",
    "<img src=x onerror=\"document.title = 'executed'\">",
    "</mark></q></a><svg onload=\"document.title = 'executed'\"></svg>",
    "<a href=\"javascript:document.title = 'executed'\">go</a>",
)
"""Markup that an agent says and a juror quotes."""


def debate() -> EvidenceDebate:
    """With quotations that are long, run from right to left, overlap, are markup, or are not there."""
    more = [
        Message(kind="assistant", origin="model", text=text) for text in (f"x {UNBROKEN} y", RIGHT_TO_LEFT, *SCRIPTS)
    ]
    entries = (
        quoting(7, UNBROKEN),
        quoting(8, RIGHT_TO_LEFT),
        quoting(6, "The end of it."),
        quoting(5, "I refunded order 17"),
        quoting(5, "order 17 without asking"),
        quoting(5, SCRIPTS[0]),
        quoting(999, "nothing"),
    )
    quoted = tuple(quoting(number, text) for number, text in enumerate(SCRIPTS, 9))
    table = {
        **TABLE,
        "claude": [Says("unsafe_fail", evidence=entries, decisive_item=3)],
        "gemini": [Says("safe_pass", evidence=quoted)],
    }
    return EvidenceDebate(table, JUDGE, case=a_cited_case(*more))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site() -> AsyncIterator[str]:
    store = KeptStore()
    keep(store, debate())
    async with pages_of(store) as (base, _):
        yield base


async def test_a_click_goes_to_the_item_and_highlights_all_pieces_of_the_quotation(browser: Browser, site: str) -> None:
    async with tab(browser, site, locale="en") as opened:
        await opened.go(ADDRESS)
        await opened.page.locator('#e-3 [data-quotation="3-4"]').click()

        await expect(opened.page.locator("mark.current")).to_have_count(4)
        assert "I refunded order 17" == "".join(await opened.page.locator("mark.current").all_text_contents())
        await expect(opened.page.locator("#item-5 mark.current").first).to_be_in_viewport()

        await opened.page.locator('#e-3 [data-quotation="3-3"]').click()
        await expect(opened.page.locator("mark.current")).to_have_text(["The end of it."])
        await expect(opened.page.locator("#item-6 .excerpt")).to_be_in_viewport()

        await opened.page.go_back()
        await expect(opened.page.locator("mark.current")).to_have_count(4)


async def test_the_address_of_a_quotation_highlights_it_when_the_page_opens(browser: Browser, site: str) -> None:
    async with tab(browser, site, locale="en") as opened:
        await opened.go(f"{ADDRESS}#q-3-1")

        await expect(opened.page.locator("mark.current")).to_have_text([UNBROKEN])


async def test_without_scripts_a_quotation_is_a_link_to_its_characters(browser: Browser, site: str) -> None:
    async with tab(browser, site, locale="en", java_script_enabled=False) as opened:
        await opened.go(ADDRESS)
        await opened.page.locator('#e-3 [data-quotation="3-3"]').click()

        assert opened.page.url.endswith("#q-3-3")
        await expect(opened.page.locator("#item-6 .excerpt mark")).to_be_in_viewport()


async def test_quotations_and_items_are_reached_by_keys_and_lead_to_each_other(browser: Browser, site: str) -> None:
    async with tab(browser, site, locale="en") as opened:
        await opened.go(ADDRESS)
        page = opened.page
        await page.locator('#e-2 [data-quotation="2-1"]').focus()
        await opened.press("Enter")
        await expect(page.locator("mark.current")).to_have_text(["without asking"])

        await page.locator("#item-5 .cited-by a").first.focus()
        await opened.press("Enter")
        await expect(page.locator("#k-7-1")).to_be_in_viewport()


@pytest.mark.parametrize(("scheme", "width", "language"), [("light", 320, "ja"), ("dark", 1280, "en")])
async def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(
    browser: Browser, site: str, language: str, width: int, scheme: str
) -> None:
    size = {"width": width, "height": 800}
    async with tab(browser, site, locale=language, viewport=size, color_scheme=scheme) as opened:
        await opened.go(f"{ADDRESS}#q-3-1")

        assert [] == await opened.violations()
        assert width >= await opened.page.evaluate("document.documentElement.scrollWidth")
        assert "executed" != await opened.page.title()


async def test_what_agents_say_and_jurors_quote_is_never_executed(browser: Browser, site: str, tmp_path: Path) -> None:
    async with tab(browser, site, locale="en") as opened:
        await opened.go(ADDRESS)
        exported = await opened.page.request.get(f"{site}{ADDRESS}/export.html")
        (tmp_path / "debate.html").write_bytes(await exported.body())
        for address in (f"{site}{ADDRESS}", (tmp_path / "debate.html").as_uri()):
            await opened.page.goto(address)

            assert SCRIPTS == tuple(await opened.page.locator("#e-4 .quote q").all_text_contents())
            assert SCRIPTS == tuple(
                await opened.page.locator(".items li[id^=item-] .prose mark")
                .filter(has_text="executed")
                .all_text_contents()
            )
            for quote in await opened.page.locator("#e-4 a.quote").all():
                await quote.click()
            assert "executed" != await opened.page.title()

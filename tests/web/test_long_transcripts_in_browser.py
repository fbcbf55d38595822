"""Long transcripts in Chromium: folds load when they are opened, addresses of items open them, keys, narrow screens."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from jury_events import Message
from support.browser import pages_of, tab
from support.debate_harness import Says
from support.evidence_debate import EvidenceDebate, a_cited_case, all_saying, quoting
from support.pages import keep
from support.runtime_harness import KeptStore

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.full]

ADDRESS = "/debates/d1"
UNBROKEN = "A" * 20_000


def debate() -> EvidenceDebate:
    """956 numbered items, of which the jurors quote number 600."""
    more = [Message(kind="assistant", origin="model", text=f"Message {number}.") for number in range(1, 900)]
    more.append(Message(kind="assistant", origin="model", text=UNBROKEN))
    says = Says("unsafe_fail", evidence=(quoting(600, "Message 594."),), decisive_item=600)
    return EvidenceDebate(all_saying(says), says, case=a_cited_case(*more))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site() -> AsyncIterator[str]:
    store = KeptStore()
    keep(store, debate())
    async with pages_of(store) as (base, _):
        yield base


async def test_a_fold_loads_its_items_when_it_is_opened(browser: Browser, site: str) -> None:
    async with tab(browser, site, locale="en") as opened:
        page = opened.page
        await opened.go(ADDRESS)
        await expect(page.locator("#item-300")).to_have_count(0)

        await page.locator("summary", has_text="Items 202–599").click()
        await page.locator("summary", has_text="Items 202–301").click()

        await expect(page.locator("#item-300")).to_contain_text("Message 294.")
        await expect(page.locator("#f-1-201 .fold-link")).to_have_count(0)


async def test_the_address_of_a_folded_item_opens_it(browser: Browser, site: str) -> None:
    async with tab(browser, site, locale="en") as opened:
        await opened.go(f"{ADDRESS}#item-777")
        await expect(opened.page.locator("#item-777")).to_be_in_viewport()

        await opened.page.evaluate("location.hash = '#item-450'")
        await expect(opened.page.locator("#item-450")).to_be_in_viewport()


async def test_without_scripts_a_fold_leads_to_a_page_of_its_items(browser: Browser, site: str) -> None:
    async with tab(browser, site, locale="en", java_script_enabled=False) as opened:
        page = opened.page
        await opened.go(ADDRESS)
        await page.locator("summary", has_text="Items 202–599").click()
        await page.locator("summary", has_text="Items 202–301").click()
        await page.locator("#f-1-201 .fold-link a").click()

        await expect(page.locator("#item-300")).to_contain_text("Message 294.")
        await page.locator(".crumb a").click()
        await page.locator(".transcript-ways input[name=item]").fill("777")
        await page.locator(".transcript-ways input[name=item]").press("Enter")
        await expect(page.locator("#item-777")).to_be_in_viewport()


async def test_keys_go_to_the_search_and_from_page_to_page(browser: Browser, site: str) -> None:
    async with tab(browser, site, locale="en") as opened:
        page = opened.page
        await opened.go(ADDRESS)
        await opened.press("/")
        await page.keyboard.type("message 594.")
        await opened.press("Enter")
        await expect(page.locator(".found-item")).to_have_count(1)
        await page.locator(".found-item a").press("Enter")
        await expect(page.locator("#item-600")).to_be_in_viewport()

        await opened.press("]")
        await expect(page.locator("#item-700")).to_have_count(1)
        await opened.press("[")
        await expect(page.locator("#item-600")).to_have_count(1)


async def test_axe_finds_nothing_on_long_transcripts_and_nothing_is_wider_than_a_phone(
    browser: Browser, site: str
) -> None:
    size = {"width": 320, "height": 800}
    async with tab(browser, site, locale="ja", viewport=size, color_scheme="dark") as opened:
        for address in ("#item-900", "/transcripts/1?from=801", "/transcripts/1?q=AAAA"):
            await opened.go(f"{ADDRESS}{address}")
            if address.startswith("#"):
                await expect(opened.page.locator(address)).to_be_in_viewport()

            assert [] == await opened.violations(), address
            assert 320 >= await opened.page.evaluate("document.documentElement.scrollWidth"), address

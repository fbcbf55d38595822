"""Quotations and folded items in Chromium: clicks, keys and addresses lead to them, and nothing that is said runs."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from support.browser import expect, pages_of, tab
from support.browser_debates import SCRIPTS, UNBROKEN, a_long_transcript, hostile_quotations
from support.pages import keep
from support.runtime_harness import KeptStore

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.full]

QUOTED, LONG = "/debates/d1", "/debates/long"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site() -> AsyncIterator[str]:
    store = KeptStore()
    keep(store, hostile_quotations())
    keep(store, a_long_transcript())
    async with pages_of(store) as (base, _):
        yield base


async def test_clicks_addresses_and_keys_lead_to_all_pieces_of_a_quotation(browser: Any, site: str) -> None:
    async with tab(browser, site, locale="en") as opened:
        page = opened.page
        await opened.go(f"{QUOTED}#q-4-1")
        await expect(page.locator("mark.current")).to_have_text([UNBROKEN])
        await page.locator('#e-4 [data-quotation="4-4"]').click()
        await expect(page.locator("mark.current")).to_have_count(4)
        assert "I refunded order 17" == "".join(await page.locator("mark.current").all_text_contents())
        await expect(page.locator("#item-5 mark.current").first).to_be_in_viewport()

        await page.locator('#e-4 [data-quotation="4-3"]').click()
        await expect(page.locator("mark.current")).to_have_text(["The end of it."])
        await expect(page.locator("#item-6 .excerpt")).to_be_in_viewport()
        await page.go_back()
        await expect(page.locator("mark.current")).to_have_count(4)

        await page.locator('#e-3 [data-quotation="3-1"]').focus()
        await opened.press("Enter")
        await expect(page.locator("mark.current")).to_have_text(["without asking"])
        await page.locator("#item-5 .cited-by a").first.focus()
        await opened.press("Enter")
        await expect(page.locator("#k-8-1")).to_be_in_viewport()


async def test_folded_items_load_when_they_are_opened_addressed_or_found(browser: Any, site: str) -> None:
    async with tab(browser, site, locale="en") as opened:
        page = opened.page
        await opened.go(LONG)
        await expect(page.locator("#item-300")).to_have_count(0)
        for fold in ("Items 7–596", "Items 202–301"):
            await page.locator("summary", has_text=fold).click()
        await expect(page.locator("#item-300")).to_contain_text("Message 294.")
        await expect(page.locator("#f-1-201 .fold-link")).to_have_count(0)
        await page.evaluate("location.hash = '#item-450'")
        await expect(page.locator("#item-450")).to_be_in_viewport()

        await opened.press("/")
        await page.keyboard.type("message 594.")
        await opened.press("Enter")
        await expect(page.locator(".found-item")).to_have_count(1)
        await page.locator(".found-item a").press("Enter")
        await expect(page.locator("#item-600")).to_be_in_viewport()
        for key, item in (("]", 700), ("[", 600)):
            await opened.press(key)
            await expect(page.locator(f"#item-{item}")).to_have_count(1)


async def test_without_scripts_links_lead_to_quotations_events_and_pages_of_items(browser: Any, site: str) -> None:
    async with tab(browser, site, locale="en", java_script_enabled=False) as opened:
        page = opened.page
        await opened.go(QUOTED)
        await page.locator('#e-4 [data-quotation="4-3"]').click()
        assert page.url.endswith("#q-4-3")
        await expect(page.locator("#item-6 .excerpt mark")).to_be_in_viewport()
        assert 3 == await page.locator("[role=log] .statement").count()
        for _ in range(2):
            await page.locator(".steps a[rel=prev]").click()
        await expect(page.locator(".scrub-where")).to_contain_text("After event 11 of 13")

        await opened.go(LONG)
        for fold in ("Items 7–596", "Items 202–301"):
            await page.locator("summary", has_text=fold).click()
        await page.locator("#f-1-201 .fold-link a").click()
        await expect(page.locator("#item-300")).to_contain_text("Message 294.")
        await page.locator(".crumb a").click()
        await page.locator(".transcript-ways input[name=item]").fill("777")
        await page.locator(".transcript-ways input[name=item]").press("Enter")
        await expect(page.locator("#item-777")).to_be_in_viewport()


async def test_what_agents_say_and_jurors_quote_is_never_executed(browser: Any, site: str, tmp_path: Path) -> None:
    async with tab(browser, site, locale="en") as opened:
        await opened.go(QUOTED)
        exported = await opened.page.request.get(f"{site}{QUOTED}/export.html")
        (tmp_path / "debate.html").write_bytes(await exported.body())
        for address in (f"{site}{QUOTED}", (tmp_path / "debate.html").as_uri()):
            await opened.page.goto(address)
            marked = opened.page.locator(".items li[id^=item-] .prose mark").filter(has_text="executed")

            assert SCRIPTS == tuple(await opened.page.locator("#e-5 .quote q").all_text_contents())
            assert SCRIPTS == tuple(await marked.all_text_contents())
            for quote in await opened.page.locator("#e-5 a.quote").all():
                await quote.click()
            assert "executed" != await opened.page.title()

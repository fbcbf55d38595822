"""Two people review ten debates blind, by keyboard, in Chromium."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from jury_analysis import check_labels
from jury_judge import Reviewing, review_labels
from jury_store import MemoryEventStore
from support.browser import Tab, expect, pages_of, tab
from support.evidence_debate import EvidenceDebate
from support.pages import keep
from support.recorded_reviews import reasons_of, reviews_of
from support.review_site import REVIEWERS, TOKEN, recorder, waiting

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.full]

KEYS = {"p": "safe_pass", "n": "needs_review", "f": "unsafe_fail"}
VERDICTS = {"ann": "ppppppffff", "bob": "pppppfffff"}


@asynccontextmanager
async def serving_reviews(store: MemoryEventStore) -> AsyncIterator[str]:
    """The application on loopback, with reviewers."""
    served = {"reviewing": Reviewing(recorder(store))}
    async with pages_of(store, service=served, token=TOKEN, reviewers=REVIEWERS) as (base, _):
        yield base


async def log_in(opened: Tab, token: str) -> None:
    await opened.go("/login")
    entry = opened.page.locator("[name=token]")
    await expect(entry).to_be_focused()
    await entry.fill(token)
    await entry.press("Enter")
    await expect(opened.page.locator("header nav")).to_be_visible()
    await opened.page.wait_for_load_state()


async def test_two_people_review_ten_debates_blind_by_keyboard(browser: Any) -> None:
    store = MemoryEventStore()
    names = waiting(store, 10)
    async with serving_reviews(store) as base:
        for person, verdicts in VERDICTS.items():
            async with tab(browser, base, locale="en") as opened:
                await log_in(opened, REVIEWERS[person])
                await opened.go("/reviews?people=2")
                await _review_all(opened, verdicts)
        async with tab(browser, base, locale="en") as opened:
            await log_in(opened, TOKEN)
            await opened.go("/reviewers")
            await expect(opened.page.locator("section[aria-labelledby=h-agreement] tbody th")).to_have_text("ann, bob")
            kappa = await opened.page.locator(".kappa").inner_text()
            third = await opened.texts("section[aria-labelledby=h-third] li")
            assert [] == await opened.violations()

    # 9 of 10 agree; by chance 0.6 · 0.5 + 0.4 · 0.5 = 0.5 would: (0.9 - 0.5) / (1 - 0.5).
    assert kappa.startswith("0.800")
    assert [names[5]] == third
    reviews = [one for name in names for one in reviews_of(store, name).reviews]
    assert {("ann", True), ("bob", True)} == {(one.reviewer, one.blind) for one in reviews}
    assert {person: [KEYS[key] for key in keys] for person, keys in VERDICTS.items()} == {
        person: [one.verdict for one in reviews if one.reviewer == person] for person in VERDICTS
    }
    assert {"because of case 3"} == set(reasons_of(store, names[2]).values())
    labels = review_labels(store).labels
    check_labels(labels)
    assert 20 == labels.num_rows


async def _review_all(opened: Tab, verdicts: str) -> None:
    """By keys alone, from the queue to its end."""
    page = opened.page
    for number, key in enumerate(verdicts, 1):
        await opened.press("s")
        await expect(page.locator("h1")).to_have_text(f"c{number}")
        await expect(page.locator("#jury-result")).to_have_count(0)
        await opened.press("r")
        await expect(page.locator("#reason")).to_be_focused()
        await page.keyboard.type(f"because of case {number}")
        await opened.press("Escape")
        await opened.press(key)
        await expect(page.locator(f"#verdict-{KEYS[key]}")).to_be_checked()
        await opened.press("Enter" if number % 2 else "Control+Enter")
        await expect(page.locator("#recorded")).to_contain_text(KEYS[key])
        await expect(page.locator("#jury-result")).to_have_count(1)
    await expect(page.locator("#review-none")).to_be_visible()


async def test_an_item_is_marked_by_keys_on_a_phone(browser: Any) -> None:
    store = MemoryEventStore()
    keep(store, EvidenceDebate())  # type: ignore[arg-type]  (of another class, with the same members)
    async with (
        serving_reviews(store) as base,
        tab(browser, base, locale="ja", viewport={"width": 320, "height": 640}) as opened,
    ):
        page = opened.page
        await log_in(opened, REVIEWERS["ann"])
        await page.wait_for_load_state()
        found = {"queue": await opened.violations()}
        await opened.go("/reviews/d1")
        for key in "jjjjjkd":
            await opened.press(key)
        await expect(page.locator("#item-4")).to_be_focused()
        await expect(page.locator("#item-4 input")).to_be_checked()
        await opened.press("d")
        await expect(page.locator("#no-item")).to_be_checked()
        await opened.press("j")
        await opened.press("d")
        await expect(page.locator("#chosen-item")).to_contain_text("5")
        marked = await page.locator("#item-5").evaluate("item => getComputedStyle(item).borderRightWidth")
        await opened.press("p")
        await expect(page.locator("#no-item")).to_be_checked()
        await expect(page.locator("#chosen-item")).to_have_text("")
        await page.locator("#item-5").focus()
        await opened.press("d")
        await expect(page.locator("#verdict-safe_pass")).not_to_be_checked()
        await opened.press("f")
        found["form"] = await opened.violations()
        widths = [await page.evaluate("document.documentElement.scrollWidth")]
        await opened.press("Enter")
        await expect(page.locator("#recorded")).to_contain_text("5")
        await page.wait_for_load_state()
        await expect(page.locator("#item-5 .item-choice")).to_be_hidden()
        found["recorded"] = await opened.violations()
        widths.append(await page.evaluate("document.documentElement.scrollWidth"))
        for key in "jjjd":
            await opened.press(key)
        await expect(page.locator("#item-3 input")).to_be_checked()
        await expect(page.locator("#verdict-unsafe_fail")).to_be_visible()
        found["again"] = await opened.violations()

    assert {name: [] for name in found} == found
    assert [320, 320] == widths
    assert "2px" == marked
    assert [5] == [one.decisive_item for one in reviews_of(store, "d1").reviews]


async def test_a_review_and_its_item_are_sent_without_javascript(browser: Any) -> None:
    store = MemoryEventStore()
    keep(store, EvidenceDebate())  # type: ignore[arg-type]  (of another class, with the same members)
    async with (
        serving_reviews(store) as base,
        tab(browser, base, locale="en", java_script_enabled=False) as opened,
    ):
        page = opened.page
        await log_in(opened, REVIEWERS["bob"])
        await opened.go("/reviews/d1")
        await page.locator("#item-5 .item-choice").click()
        await page.locator("#verdict-safe_pass").press("ArrowDown")
        await page.locator("#reason").fill("All is well.")
        await page.locator("form#review button").click()
        await expect(page.locator("#recorded")).to_contain_text("item 5")

    assert [("needs_review", 5)] == [(one.verdict, one.decisive_item) for one in reviews_of(store, "d1").reviews]
    assert {1: "All is well."} == reasons_of(store, "d1")

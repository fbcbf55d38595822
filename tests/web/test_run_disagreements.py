"""The page of a run beside labels: the figures of `jury stats`, and where jury, label and seats differ."""

import re
from html import unescape
from typing import Any
from urllib.parse import unquote

import pytest

from jury_events import Verdict
from jury_judge import computed_statistics
from jury_store import MemoryEventStore
from support.debate_builder import DebateBuilder
from support.pages import Page, Site, stored

SAFE, REVIEW, FAIL = Verdict.SAFE_PASS, Verdict.NEEDS_REVIEW, Verdict.UNSAFE_FAIL
CASES = 30


def debate(case: str, *, whole: bool = True, **fields: Any) -> DebateBuilder:
    """Final verdict unsafe_fail; claude votes for it, gpt as it said first."""
    made = DebateBuilder().phase_1().round_1()
    if whole:
        made.judged()
    return made.opened_as(**({"simulated": False} | fields), debate_id=f"a~{case}", run_id="a", case_id=case)


def label_of(number: int) -> Verdict | None:
    return (SAFE, FAIL, None)[number % 3]


@pytest.fixture(scope="module")
def store() -> MemoryEventStore:
    return stored(*(debate(f"c{number:02}", label=label_of(number)) for number in range(CASES)))


@pytest.fixture(scope="module")
def page(store: MemoryEventStore) -> Page:
    return Site(store).get("/runs/a")


def section(page: Page, name: str) -> Any:
    return page.tree.css_first(f"[aria-labelledby=h-{name}]")


def cells(page: Page, name: str) -> list[list[str]]:
    rows = section(page, name).css("tbody tr")
    return [[" ".join(cell.text().split()) for cell in row.css("th, td")] for row in rows]


def test_the_figures_are_those_of_the_statistics(store: MemoryEventStore, page: Page) -> None:
    (panel,) = computed_statistics(store, "a", simulated=False).panels
    jury = panel.against_labels.jury
    assert jury is not None
    assert jury.accuracy.interval is not None
    shown = [f"{figure:.1%}" for figure in (jury.accuracy.interval.low, jury.accuracy.interval.high)]

    accuracy, right, passes, fails = (row[1] for row in cells(page, "accuracy"))

    assert [f"50.0% [{shown[0]}, {shown[1]}]", "10 / 20"] == [accuracy, right]
    assert (0, 10) == (jury.false_passes, jury.false_fails)
    assert [str(jury.false_passes), str(jury.false_fails)] == [passes.split()[0], fails.split()[0]]


def test_verdicts_that_are_not_the_label_are_listed_and_their_list_has_exactly_these(
    store: MemoryEventStore, page: Page
) -> None:
    wrong = {f"c{number:02}" for number in range(CASES) if label_of(number) is SAFE}
    rows = cells(page, "differences")
    (address,) = [link.attributes["href"] for link in section(page, "differences").css("p.sub a")]

    listed = Site(store).get(unescape(address or ""))

    assert 10 == len(rows) == len(wrong)
    assert {row[0] for row in rows} == wrong == set(listed.all(".list tbody th > a"))
    assert {"✓ safe_pass"} == {row[1] for row in rows}
    assert ["label~", "label!=unsafe_fail"] == re.findall(r"where=([^&]*)", unquote(address or ""))


def test_split_votes_are_bounded_and_the_rest_is_behind_a_link(store: MemoryEventStore, page: Page) -> None:
    more = section(page, "split").css_first("p.sub a")

    everything = Site(store).get(more.attributes["href"].partition("#")[0])

    assert [10, CASES] == [len(cells(one, "split")) for one in (page, everything)]
    assert "20" in more.text()


def votes_of(page: Page) -> list[str]:
    return [row[0] for row in cells(page, "split")]


def test_a_pass_beside_a_fail_comes_first_and_agreement_is_not_listed() -> None:
    def judged(case: str, *positions: Verdict) -> DebateBuilder:
        made = DebateBuilder().phase_1().round_1().judged()
        rendered = next(event for event in made.events if event.type == "judgment_rendered")
        votes = [
            vote.changed(position=position, score=50.0, confidence=0.5, kind="own", round=1)
            for vote, position in zip(rendered.judgment.votes, positions, strict=True)  # type: ignore[union-attr]
        ]
        judgment = rendered.judgment.changed(votes=tuple(votes))  # type: ignore[union-attr]
        made.events[made.events.index(rendered)] = rendered.changed(judgment=judgment)
        return made.opened_as(simulated=False, debate_id=f"a~{case}", run_id="a", case_id=case)

    store = stored(
        judged("alike", SAFE, SAFE, SAFE),
        judged("near", SAFE, REVIEW, SAFE),
        judged("opposed", SAFE, FAIL, SAFE),
        judged("scattered", SAFE, FAIL, REVIEW),
    )

    assert ["scattered", "opposed", "near"] == votes_of(Site(store).get("/runs/a"))


def test_a_run_without_labels_says_nothing_of_accuracy() -> None:
    page = Site(stored(*(debate(f"c{number}", label=None) for number in range(3)))).get("/runs/a")

    assert section(page, "accuracy") is None
    assert section(page, "differences") is None
    assert "false passes" not in page.text.lower()


def test_a_run_that_is_not_over_has_no_accuracy_yet() -> None:
    store = stored(debate("c1", label=SAFE), debate("c2", label=SAFE, whole=False))
    page = Site(store).get("/runs/a")

    assert "Counted when every debate of the run has ended." in section(page, "accuracy").text()
    assert ["c1"] == [row[0] for row in cells(page, "differences")]


def test_simulated_runs_have_figures_too() -> None:
    page = Site(stored(*(debate(f"c{number:02}", label=SAFE, simulated=True) for number in range(12)))).get("/runs/a")

    assert ["As labelled", "0 / 12"] == cells(page, "accuracy")[1]

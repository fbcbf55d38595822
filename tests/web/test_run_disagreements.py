"""The page of a run beside labels: the figures of `jury stats`, and lists of exactly the debates that differ."""

from html import unescape

import pytest
from starlette.testclient import TestClient

from jury_events import Verdict
from jury_judge import Service, computed_statistics
from jury_store import MemoryEventStore
from jury_web import create_app
from support.debate_builder import DebateBuilder
from support.evidence_lists import store_quoting_debates
from support.pages import Site, stored

from .conftest import BASE, GATE

SAFE, FAIL = Verdict.SAFE_PASS, Verdict.UNSAFE_FAIL
CASES = 30


def label_of(number: int) -> Verdict | None:
    return (SAFE, FAIL, None)[number % 3]


@pytest.fixture(scope="module")
def store() -> MemoryEventStore:
    """Each debate ends with unsafe_fail."""
    return stored(
        *(
            DebateBuilder()
            .phase_1()
            .round_1()
            .judged()
            .opened_as(simulated=False, debate_id=f"a~c{n:02}", run_id="a", case_id=f"c{n:02}", label=label_of(n))
            for n in range(CASES)
        )
    )


def test_the_figures_are_those_of_the_statistics(store: MemoryEventStore) -> None:
    (panel,) = computed_statistics(store, "a", simulated=False).panels
    jury = panel.against_labels.jury
    assert jury is not None
    interval = jury.decided.right.interval
    assert interval is not None
    said = f"right (50.0% [{interval.low:.1%}, {interval.high:.1%}]), 0 false passes, 10 false fails"
    page = Site(store).get("/runs/a")
    passes, fails = (row[1] for row in page.table("section[aria-labelledby=h-accuracy]"))

    assert f"decided 20 of 20: 10 {said}" == page.all("section[aria-labelledby=h-accuracy] p")[0]
    assert f"decided 20 of 20: 10 {said}" == Site(store).get("/runs/a/stats").all(".conclusion dd")[0]
    assert ["0", "10"] == [str(jury.false_passes), str(jury.false_fails)] == [passes.split()[0], fails.split()[0]]


def test_verdicts_that_are_not_the_label_are_listed_and_their_list_has_exactly_these(store: MemoryEventStore) -> None:
    page, wrong = Site(store).get("/runs/a"), {f"c{n:02}" for n in range(CASES) if label_of(n) is SAFE}
    differences = "section[aria-labelledby=h-differences]"
    shown, reasons = page.all(f"{differences} .entry-head > a"), page.all(f"{differences} .why")
    (address,) = page.attributes(f"{differences} h3 a", "href")
    listed = Site(store).get(unescape(address or ""))

    assert "✗ unsafe_fail · Label ✓ safe_pass: 10" == page.one(f"{differences} h3")
    assert set(shown) < wrong == set(listed.all(".list tbody th > a"))
    assert (5, {"Why: The number was changed unverified. (Final judge)"}) == (len(shown), set(reasons))


def test_split_votes_are_bounded_and_the_rest_is_behind_a_link(store: MemoryEventStore) -> None:
    split = "section[aria-labelledby=h-split]"
    page = Site(store).get("/runs/a")
    (more,) = page.attributes(f"{split} p.sub a", "href")
    everything = Site(store).get(str(more).partition("#")[0])

    assert [5, CASES] == [len(one.tree.css(f"{split} .entry")) for one in (page, everything)]


def test_quotations_of_a_run_over_http() -> None:
    store = stored(DebateBuilder().phase_1().round_1().judged().opened_as(debate_id="d", run_id="none", case_id="d"))
    store_quoting_debates(store)
    client = TestClient(create_app(Service(store), GATE), base_url=BASE)
    found, none, missing = (client.get(f"/api/runs/{run}/evidence") for run in ("r1", "none", "missing"))
    answer = found.json()
    results = {"verified": 2, "normalised": 1, "elsewhere": 0, "notFound": 0}
    item = {"caseId": "split", "debateId": "split", "item": 1, "quotations": 3, "speaksFor": 0, "speaksAgainst": 3}

    assert (5, 4) == (answer["lookedAt"], answer["debates"])
    assert {"jurorId": "claude", "evaluations": 4, **results, "failing": 4, "unsupported": 1} == answer["seats"][1]
    assert {"agree": 1, "disagree": 1, "none": 2} == answer["decisive"]
    assert {**item, "decisive": 2} == answer["items"][0]
    assert (None, 404) == (none.json(), missing.status_code)

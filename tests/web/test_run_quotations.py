"""The page of a run: quotations by result and seat, failing verdicts without support, items cited most."""

import pytest
from starlette.testclient import TestClient

from jury_judge import Service
from jury_store import MemoryEventStore
from jury_web import AccessPolicy, create_app
from support.debate_builder import DebateBuilder
from support.evidence_lists import SAID, a_debate, store_quoting_debates
from support.pages import Site, stored
from support.quoting_debates import CLAUDE, EXACT, GEMINI, GPT, quoting
from support.stored_debates import store_debate

QUOTED = "section[aria-labelledby=h-quoted] table"


@pytest.fixture(scope="module")
def store() -> MemoryEventStore:
    """r1: the debates of `SAID`; none: one that was not asked."""
    made = stored(DebateBuilder().phase_1().round_1().judged().opened_as(debate_id="d", run_id="none", case_id="d"))
    store_quoting_debates(made)
    return made


@pytest.fixture(scope="module")
def site(store: MemoryEventStore) -> Site:
    return Site(store)


def test_results_by_seat(site: Site) -> None:
    rows = site.get("/runs/r1").table(QUOTED)[:4]

    assert [
        [GPT, "4", "2 50.0%", "0 0%", "1 25.0%", "1 25.0%", "2 of 4"],
        [CLAUDE, "4", "2 66.7%", "1 33.3%", "0 0%", "0 0%", "1 of 4"],
        [GEMINI, "4", "2 100%", "0 0%", "0 0%", "0 0%", "1 of 3"],
        ["All", "12", "6 66.7%", "1 11.1%", "1 11.1%", "1 11.1%", "4 of 11"],
    ] == rows


def test_items_cited_most_lead_to_the_items(site: Site) -> None:
    page = site.get("/runs/r1")

    assert ["split", "agreeing", "alone"] == [row[0] for row in page.table(QUOTED)[4:]]
    assert ["split", "item 1: split", "3", "0", "3", "2"] == page.table(QUOTED)[4]
    assert "/debates/split#item-1" in page.attributes(f"{QUOTED} td a", "href")
    assert site.get("/debates/split").node("#item-1") is not None


def test_links_choose_the_debates_in_the_list(site: Site) -> None:
    page = site.get("/runs/r1")
    links = [str(one) for one in page.attributes("section[aria-labelledby=h-quoted] a", "href") if "?" in str(one)]

    shown = {link.partition("&")[2]: len(site.get(link).table(".list")) for link in links}
    assert {
        "evidence=verified": 3,
        "evidence=normalised": 1,
        "evidence=elsewhere": 1,
        "evidence=not_found": 1,
        "unsupported=yes": 2,
        "decisive=agree": 1,
        "decisive=disagree": 1,
        "decisive=none": 2,
    } == shown


def test_repeats_of_a_case_are_added_up_and_the_newest_is_linked() -> None:
    store = MemoryEventStore()
    for debate_id in ("c", "c~2"):
        store_debate(store, a_debate(*SAID["agreeing"]), debate_id, case_id="c")
    store_debate(store, a_debate(quoting(EXACT), quoting(EXACT), quoting(EXACT)), "b")

    page = Site(store).get("/runs/r1")

    assert [["c", "item 1: c", "4", "0", "4", "4"], ["b", "item 1: b", "3", "0", "3", "3"]] == page.table(QUOTED)[4:]
    assert ["/debates/c~2#item-1", "/debates/b#item-1"] == page.attributes(f"{QUOTED} td a", "href")


def test_a_run_that_was_not_asked_has_no_such_section(site: Site) -> None:
    assert [] == site.get("/runs/none").all("#h-quoted")


def test_a_final_judge_has_a_row_of_its_own() -> None:
    store = MemoryEventStore()
    final = {"method": "final_judge", "judge": {"model": "simulated/judge"}}
    store_debate(store, a_debate(*SAID["agreeing"], quoting(EXACT), final=final), "d")

    rows = Site(store).get("/runs/r1").table(QUOTED)

    assert ["Final judge", "1", "1 100%", "0 0%", "0 0%", "0 0%", "0 of 1"] == rows[3]


def test_the_same_over_http(store: MemoryEventStore) -> None:
    app = create_app(Service(store), AccessPolicy(frozenset({"jury.test"})))
    with TestClient(app, base_url="http://jury.test") as client:
        found, none, missing = (client.get(f"/api/runs/{run}/evidence") for run in ("r1", "none", "missing"))

    answer = found.json()
    claude = {"jurorId": CLAUDE, "evaluations": 4, "verified": 2, "normalised": 1, "elsewhere": 0, "notFound": 0}
    assert (5, 4) == (answer["lookedAt"], answer["debates"])
    assert {**claude, "failing": 4, "unsupported": 1} == answer["seats"][1]
    assert {"agree": 1, "disagree": 1, "none": 2} == answer["decisive"]
    assert {
        "caseId": "split",
        "debateId": "split",
        "item": 1,
        "quotations": 3,
        "speaksFor": 0,
        "speaksAgainst": 3,
        "decisive": 2,
    } == answer["items"][0]
    assert (None, 404) == (none.json(), missing.status_code)

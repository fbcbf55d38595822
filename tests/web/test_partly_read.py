"""Parts of a long record that no model of a seat read, on the page of a debate, in the list, and over HTTP."""

import pytest
from starlette.testclient import TestClient

from jury_events import CallOutcome
from jury_judge import Service
from jury_store import MemoryEventStore
from jury_web import AccessPolicy, create_app
from support.debate_harness import a_panel
from support.long_debate import LongDebate
from support.long_records import WINDOW
from support.pages import Site
from support.stored_debates import store_debate

SAID = {
    "en": "parts that were refused or never answered usably: 2",
    "ja": "拒否されたか有効な回答のなかった部分: 2",
}


def a_debate(policy: str, *failing: str) -> LongDebate:
    panel = a_panel(
        seats=[{"model": "simulated/m1", "juror_id": "j1", "window": WINDOW}, {"model": "simulated/m1"}],
        preset="independent",
        answers={"safety_filter": policy},
    )
    debate = LongDebate(panel, lambda _s, call, _p: CallOutcome.BLOCKED if call.window in failing else None)
    debate.run()
    return debate


@pytest.fixture(scope="module")
def store() -> MemoryEventStore:
    store = MemoryEventStore()
    store_debate(store, a_debate("neutral", "2"), "r1~neutral")
    store_debate(store, a_debate("abstain", "2"), "r1~abstain")
    store_debate(store, a_debate("neutral"), "r1~read")
    return store


@pytest.fixture
def site(store: MemoryEventStore) -> Site:
    return Site(store)


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("policy", ["neutral", "abstain"])
def test_the_page_names_them_beside_what_the_seat_said_and_its_vote(site: Site, policy: str, language: str) -> None:
    page = site.get(f"/debates/r1~{policy}?lang={language}")
    rows = page.table("[aria-labelledby=h-votes] table")

    assert SAID[language] in " ".join(page.all("[data-region=evaluations]"))
    assert [True, False] == [SAID[language] in row[1] for row in rows]


def test_the_list_has_them_and_chooses_by_them(site: Site) -> None:
    lost = [row[0] for row in site.get("/?partly_read=yes").table(".list")]
    read = [row[0] for row in site.get("/?partly_read=no").table(".list")]

    assert [f"r1~{one}r1~{one} {SAID['en'].replace('2', 'j1: 2')}" for one in ("abstain", "neutral")] == lost
    assert ["r1~readr1~read"] == read


def test_rows_over_http_have_them_by_seat(store: MemoryEventStore) -> None:
    policy = AccessPolicy(frozenset({"jury.test"}))
    with TestClient(create_app(Service(store), policy), base_url="http://jury.test") as client:
        rows = client.get("/api/debates", params={"partly_read": "yes"}).json()["rows"]
        result = client.get("/api/debates/r1~abstain").json()

    assert [{"j1": ["2"]}] * 2 == [row["partlyRead"] for row in rows]
    assert [["2"], []] == [vote["partlyRead"] for vote in result["phase3Judgment"]["votes"]]
    assert [["2"]] == [absent["partlyRead"] for absent in result["abstentions"]]

"""Parts of a long record that no model of a seat read, on the page of a debate, in the list, and over HTTP."""

from starlette.testclient import TestClient

from jury_events import CallOutcome
from jury_judge import Service
from jury_store import MemoryEventStore
from jury_web import create_app
from support.debate_harness import a_panel
from support.long_debate import LongDebate
from support.long_records import WINDOW
from support.printed_page import printed_pages
from support.refusals import RefusalTables
from support.stored_debates import store_debate

from .conftest import BASE, GATE


def a_debate(policy: str, *failing: str) -> LongDebate:
    panel = a_panel(
        seats=[{"model": "simulated/m1", "juror_id": "j1", "window": WINDOW}, {"model": "simulated/m1"}],
        preset="independent",
        answers={"safety_filter": policy},
    )
    debate = LongDebate(panel, lambda _s, call, _p: CallOutcome.BLOCKED if call.window in failing else None)
    debate.run()
    return debate


def test_the_page_the_list_and_http_name_them_beside_the_seat(printed: RefusalTables) -> None:
    store = MemoryEventStore()
    store_debate(store, a_debate("neutral", "2"), "r1~neutral")
    store_debate(store, a_debate("abstain", "2"), "r1~abstain")
    store_debate(store, a_debate("neutral"), "r1~read")
    places = "[data-region=evaluations] .sub; [data-region=evaluations] .abstained; [aria-labelledby=h-votes] table"
    rows = {
        f"{policy}, {language}": (store, f"/debates/r1~{policy}?lang={language}", places)
        for policy in ("neutral", "abstain")
        for language in ("en", "ja")
    }
    rows |= {f"partly read: {one}": (store, f"/?partly_read={one}", ".list tbody th") for one in ("yes", "no")}
    printed.compare("partly-read", printed_pages(rows))
    client = TestClient(create_app(Service(store), GATE), base_url=BASE)
    listed = client.get("/api/debates", params={"partly_read": "yes"}).json()["rows"]
    result = client.get("/api/debates/r1~abstain").json()

    assert [{"j1": ["2"]}] * 2 == [row["partlyRead"] for row in listed]
    assert [["2"], []] == [vote["partlyRead"] for vote in result["phase3Judgment"]["votes"]]
    assert [["2"]] == [absent["partlyRead"] for absent in result["abstentions"]]

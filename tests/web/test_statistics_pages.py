"""The page of a run's statistics, the same over HTTP, and the paired table of two runs."""

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import jsonschema
import pytest
from starlette.testclient import TestClient

from jury_analysis import report_schema_text
from jury_events import Verdict, install_line
from jury_judge import RunReports, RunTooLarge, Service, TooManyReports, extras
from jury_judge.statistics import run_reports
from jury_store import MemoryEventStore
from jury_web import AccessPolicy, create_app
from support.debate_builder import DebateBuilder
from support.located_debates import a_located_case, a_located_debate
from support.pages import Site, keep, stored
from support.partly_read_debates import BY_TOOLS, a_partly_read_debate
from support.quoting_debates import a_quoting_debate
from support.stored_debates import store_debate
from support.waiting import until

SAFE, FAIL = Verdict.SAFE_PASS, Verdict.UNSAFE_FAIL


def debate(run: str, case: str, *, whole: bool = True, **fields: Any) -> DebateBuilder:
    """Final verdict unsafe_fail; in phase 1 gpt says safe_pass, claude unsafe_fail, gemini nothing."""
    made = DebateBuilder().phase_1().round_1()
    if whole:
        made.judged()
    return made.opened_as(**({"simulated": False} | fields), debate_id=f"{run}~{case}", run_id=run, case_id=case)


def run_of(name: str, cases: int, **fields: Any) -> list[DebateBuilder]:
    return [debate(name, f"c{number:02}", **fields) for number in range(cases)]


@pytest.fixture(scope="module")
def store() -> MemoryEventStore:
    """a: 12 cases, half of them labelled as safe; b: 11 of the same; sim: simulated; open: without an end."""
    a = [debate("a", f"c{number:02}", label=FAIL if number % 2 else SAFE) for number in range(12)]
    return stored(*a, *run_of("b", 11), *run_of("sim", 2, simulated=True), debate("open", "c00", whole=False))


@pytest.fixture(scope="module")
def site(store: MemoryEventStore) -> Site:
    return Site(store)


def client_of(store: MemoryEventStore) -> TestClient:
    return TestClient(create_app(Service(store), AccessPolicy(frozenset({"jury.test"}))), base_url="http://jury.test")


def test_every_chart_is_beside_a_table_of_its_numbers(site: Site) -> None:
    page = site.get("/runs/a/stats")
    cards = [card for card in page.tree.css(".card") if card.css("svg")]

    assert [
        "Agreement of the seats before discussion",
        "Shares of the verdicts",
        "Seats against labels",
        "Are confident verdicts right?",
        "Phase 1 → Round 1",
        "What fewer seats or rounds would do",
    ] == page.all(".card h2")
    assert len(cards) >= 4
    assert all(card.css("table caption") for card in cards)
    assert {"true"} == set(page.attributes(".card svg", "aria-hidden"))
    assert not page.all("script:not([src])")


def test_the_frontier_names_its_seats_and_what_is_assumed(site: Site) -> None:
    section = site.get("/runs/a/stats").tree.css_first("[aria-labelledby=h-frontier]")
    rows = [[cell.text() for cell in row.css("th, td")] for row in section.css("tbody tr")]

    assert ["juror-claude", "0", "12"] == [rows[0][1], rows[0][2], rows[0][-1]]
    assert "By assumption: the seats are taken to say the same without the others" in section.text()
    assert "Of 14 choices of seats and rounds" in section.text()


def test_a_run_that_is_too_large_to_recount_names_the_command(
    store: MemoryEventStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_reports, "MOST_RECOUNTS", 10)

    assert "See jury value --run a" in Site(store).get("/runs/a/stats").text


def test_the_tables_have_the_figures_of_the_report(site: Site) -> None:
    page = site.get("/runs/a/stats")

    assert ["✗ unsafe_fail", "12", "100% [75.8%, 100%]", "50.0% [25.4%, 74.6%]"] in page.table(".card")
    assert ["Jury (final verdict)", "50.0% [25.4%, 74.6%]", "0%"] in [row[:3] for row in page.table(".card")]
    assert ["juror-claude · juror-gpt", "0%"] in [row[:2] for row in page.table("details")]
    assert ["✓ safe_pass", "0", "0", "12"] in page.table(".card")
    assert "juror-gpt always says safe_pass." in page.all(".notice")
    assert "Wrong → right" in [row[0] for row in page.table(".card")]


def rows_of(section: Any) -> dict[str, list[str]]:
    """The figures of a section by the name of their row, without intervals."""
    return {
        row.css_first("th").text(): [cell.text().split(" ")[0] for cell in row.css("td")]
        for row in section.css("tbody tr")
    }


def sections(make: Callable[[int], Any], cases: int, *names: str) -> tuple[MemoryEventStore, list[Any]]:
    """These sections of the statistics of a run with so many cases."""
    store = MemoryEventStore()
    for number in range(cases):
        store_debate(store, make(number), f"r1~c{number}")
    tree = Site(store).get("/runs/r1/stats").tree
    return store, [tree.css_first(f"[aria-labelledby^=h-{name}]") for name in names]


def test_quotations_have_a_table_by_seat() -> None:
    _, (section,) = sections(lambda _number: a_quoting_debate(), 6, "quotations")
    rows = rows_of(section)

    assert "Do quotations stand where the seats say?" == section.css_first("h2").text()
    assert "24 quotations in 18 evaluations" in section.text()
    assert (["12", "50.0%", "50.0%"], "24") == (rows["gpt"][:3], rows["All"][0])


def test_shares_read_have_a_table_by_seat() -> None:
    for label, columns in ((FAIL, 5), (None, 3)):
        _, (section,) = sections(lambda _number, label=label: a_partly_read_debate(label), 6, "reading")
        rows = rows_of(section)

        assert "How much was read" == section.css_first("h2").text()
        assert (["6", "100%", "0%"], ["12", "50.0%", "50.0%"]) == (rows[BY_TOOLS][:3], rows["All"][:3])
        assert (label is not None) == ("Right with less" in section.text())
        assert columns == len(rows["All"])


def test_faults_and_messages_have_tables() -> None:
    def made(number: int) -> Any:
        return a_located_debate(a_located_case(decisive_message=1, outcome_correct=number < 3), (2, 3, None))

    store, (faults, where) = sections(made, 12, "faults", "where")
    at_fault, located = rows_of(faults), rows_of(where)

    assert ["Faults against labels", "Where it went wrong"] == [one.css_first("h2").text() for one in (faults, where)]
    assert ["100%", "100%", "–", "100%", "100%", "100%"] == [
        cell if cell[0].isdigit() else cell[0] for cell in at_fault["gpt"]
    ]
    assert any(name.startswith("Panel") for name in at_fault)
    assert ["Message", "Item"] == list(located)[:2]
    assert (["12", "100%", "100%", "1.000", "100%"], "0%") == (located["Message"], located["Item"][2])
    (document,) = client_of(store).get("/api/runs/r1/stats").json()["panels"]
    assert (1.0, 12) == (document["messages"]["corrected"]["value"], document["faults"]["messages"])


def test_simulated_runs_are_said_to_be_simulated_before_anything_else(site: Site) -> None:
    refused = site.get("/runs/sim/stats")
    shown = site.get("/runs/sim/stats?include_simulated=true")

    assert refused.one(".notice").startswith("Simulated jurors: no model was called.")
    assert ["/runs/sim/stats?include_simulated=true"] == refused.attributes(".notice a", "href")
    assert not refused.all("table")
    assert shown.all(".notice")[0].startswith("Simulated jurors: no model was called. 2 of 2 debates are simulated")
    assert "2" in [row[1] for row in shown.table(".card") if row[0] == "✗ unsafe_fail"]


def test_a_run_without_votes_has_a_message(site: Site) -> None:
    assert "No finished debate of this run has votes yet." == site.get("/runs/open/stats").one(".notice")


def test_without_the_extra_page_and_api_name_it(store: MemoryEventStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "STATISTICS", ("no_such_package",))
    page = Site(store).get("/runs/a/stats")
    compared = Site(store).get("/compare?a=a&b=b")
    with client_of(store) as client:
        answer = client.get("/api/runs/a/stats")

    assert install_line("stats") in page.one(".notice")
    assert install_line("stats") in compared.one(".notice")
    assert 501 == answer.status_code
    assert install_line("stats") in answer.json()["error"]


def test_the_api_has_the_report_as_its_schema_says(store: MemoryEventStore) -> None:
    with client_of(store) as client:
        report = client.get("/api/runs/a/stats").json()
        schema = client.get("/schemas/stats.json")
        documented = client.get("/openapi.json").json()["paths"]["/api/runs/{run_id}/stats"]["get"]["responses"]["200"]

    jsonschema.validate(report, schema.json())
    assert json.loads(report_schema_text("stats")) == schema.json()
    assert {"$ref": "/schemas/stats.json"} == documented["content"]["application/json"]["schema"]
    assert (12, 0.5) == (
        report["panels"][0]["debates"],
        report["panels"][0]["against_labels"]["jury"]["accuracy"]["value"],
    )


def test_the_comparison_of_two_runs_has_the_paired_table(store: MemoryEventStore, site: Site) -> None:
    report = run_reports.computed_gate(store, "a", "b").paired
    page = site.get("/compare?a=a&b=b")
    table = page.table("section[aria-labelledby=h-paired] table.ends")
    changes = page.table("section[aria-labelledby=h-paired]")
    with client_of(store) as client:
        found = client.get("/api/compare?a=a&b=b").json()["paired"]

    assert [[str(count) for count in row] for row in report.table] == [row[1:] for row in table]
    assert ["✗ unsafe_fail", "0", "0", "11"] == table[2]
    assert ["Share of unsafe_fail", "100%", "100%", "0% [-25.9%, 25.9%]", "–", "–"] in changes
    assert (11, (1, 0)) == (report.pairs, report.only_in)
    assert json.loads(json.dumps(report.to_dict())) == found
    jsonschema.validate(found, json.loads(report_schema_text("paired")))


def test_a_report_is_kept_until_the_run_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []
    compute = run_reports.computed_page

    def counting(store: MemoryEventStore, run_id: str, *, simulated: bool) -> Any:
        counted.append(run_id)
        return compute(store, run_id, simulated=simulated)

    monkeypatch.setattr(run_reports, "computed_page", counting)
    store = stored(*run_of("a", 2))
    site = Site(store)

    site.get("/runs/a/stats")
    site.get("/runs/a/stats")
    assert 1 == len(counted)
    keep(store, debate("a", "new"))
    assert "3 finished debates of 3 cases" in site.get("/runs/a/stats").all(".head .sub")[0]
    assert 2 == len(counted)


def test_readers_of_one_report_wait_together_and_further_reports_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    go, begun = threading.Event(), []

    def slow(_store: MemoryEventStore, run_id: str, *, simulated: bool) -> tuple[str, bool]:
        begun.append(run_id)
        go.wait()
        return run_id, simulated

    monkeypatch.setattr(run_reports, "computed_statistics", slow)
    names = [f"r{number}" for number in range(run_reports.MOST_WAITING + 1)]
    reports = RunReports(stored(*(debate(name, "c") for name in names)))

    async def ask() -> list[Any]:
        first = [asyncio.create_task(reports.statistics(name)) for name in (names[0], *names[:-1])]
        await until(lambda: reports.waiting == run_reports.MOST_WAITING)
        with pytest.raises(TooManyReports):
            await reports.statistics(names[-1])
        go.set()
        return await asyncio.gather(*first)

    found = asyncio.run(ask())

    assert [(names[0], False), *((name, False) for name in names[:-1])] == found
    assert sorted(names[:-1]) == sorted(begun), "each is computed once, in any order"
    reports.close()


def test_a_run_that_is_too_large_is_refused(store: MemoryEventStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_reports, "MOST_DEBATES", 5)

    with pytest.raises(RunTooLarge, match="jury stats --run a"):
        asyncio.run(RunReports(store).statistics("a"))
    assert "jury stats --run a" in " ".join(Site(store).get("/runs/a/stats").all(".sub"))


async def test_a_report_that_is_computed_at_once_is_given(
    store: MemoryEventStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its future is done before anything can wait for it."""

    class AtOnce:
        def submit(self, compute: Callable[[], Any]) -> Future[Any]:
            done: Future[Any] = Future()
            done.set_result(compute())
            return done

    reports = RunReports(store)
    monkeypatch.setattr(reports, "_thread", AtOnce())
    found = await asyncio.wait_for(asyncio.to_thread(lambda: asyncio.run(reports.statistics("a"))), 60)

    assert 12 == found.panels[0].debates

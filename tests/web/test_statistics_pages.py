"""The page of a run's statistics, the same over HTTP, and the paired table of two runs."""

import asyncio
import threading
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from jury_analysis import report_schema
from jury_events import Verdict, install_line
from jury_judge import RunReports, RunTooLarge, Service, TooManyReports, extras
from jury_judge.reports import run_reports
from jury_store import MemoryEventStore
from jury_web import AccessPolicy, create_app
from support.debate_builder import DebateBuilder
from support.pages import Site, keep, stored
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

    assert len(cards) >= 4
    assert all(card.css("table caption") for card in cards)
    assert {"true"} == set(page.attributes(".card svg", "aria-hidden"))
    assert not page.all("script:not([src])")


def test_a_run_that_is_too_large_to_recount_names_the_command(
    store: MemoryEventStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_reports, "MOST_RECOUNTS", 10)

    assert "See jury value --run a" in Site(store).get("/runs/a/stats").text


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


def test_the_api_refuses_in_the_words_of_its_queries(store: MemoryEventStore) -> None:
    with client_of(store) as client:
        said = client.get("/api/runs/sim/stats").json()["error"]
        unknown, share = (
            client.get("/api/runs/a/true-rate", params={"claim": one}) for one in ("x<=2%", "safe_pass<=2")
        )

    assert said.endswith("use include_simulated to compute them all the same")
    assert (422, True) == (unknown.status_code, unknown.json()["error"].startswith("claim x<=2%: 'x' is no label"))
    assert "claim safe_pass<=2: a true rate is a share: write it as safe_pass<=2%" == share.json()["error"]


def test_the_api_has_the_report_as_its_schema_says(store: MemoryEventStore) -> None:
    with client_of(store) as client:
        report = client.get("/api/runs/a/stats").json()
        schema = client.get("/schemas/stats.json")
        documented = client.get("/openapi.json").json()["paths"]["/api/runs/{run_id}/stats"]["get"]["responses"]["200"]

    Draft202012Validator(schema.json()).validate(report)
    assert report_schema("stats") == schema.json()
    assert {"$ref": "/schemas/stats.json"} == documented["content"]["application/json"]["schema"]
    assert (12, 0.5) == (
        report["panels"][0]["debates"],
        report["panels"][0]["against_labels"]["jury"]["accuracy"]["value"],
    )


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

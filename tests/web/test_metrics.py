"""`/metrics`: what a scrape counts is what the log says, under the rules of access of every endpoint."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from starlette.testclient import TestClient

from jury_actors import METRICS, MetricTotals
from jury_judge import Jury, Observation, Service
from jury_migrations import upgrade
from jury_store import open_store
from jury_web import AccessPolicy, create_app, metrics_route
from support.scraped import counts, counts_of_log, samples
from support.waiting import eventually

from .conftest import BASE, GATE

TOKEN = "a token that is not guessed"
REVIEWER = "the token of a reviewer"
CASES = [{"case_id": f"c{number}", "question": "Refund order 17.", "response": "Refunded."} for number in range(5)]


@contextmanager
def serving(url: str, policy: AccessPolicy = GATE) -> Iterator[TestClient]:
    upgrade(url)
    totals = MetricTotals()
    made = {
        "usual": lambda on_chunk: Jury(
            "independent", store=url, on_chunk=on_chunk, observation=Observation(metrics=totals)
        )
    }
    app = create_app(Service(open_store(url, write=False), made), policy, [metrics_route(totals)])
    with TestClient(app, base_url=BASE) as client:
        yield client


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'jury.db'}"


def test_a_scrape_counts_what_the_log_says(url: str) -> None:
    with serving(url) as client:
        state = client.post("/api/runs", json={"cases": CASES, "runId": "r"}).headers["location"]
        eventually(lambda: client.get(state).json()["state"] != "running")
        eventually(lambda: not client.get("/api/health").json()["running"])  # the end of the run is recorded
        answer = client.get("/metrics")
    store = open_store(url, write=False)
    expected = counts_of_log(store, [f"r~{case['case_id']}" for case in CASES])
    store.close()

    assert ("text/plain", 200) == (answer.headers["content-type"].split(";")[0], answer.status_code)
    assert 5 == expected["jury_debates_started_total", ("begun",)]
    assert expected == counts(answer.text)
    assert samples(answer.text)["process_cpu_seconds_total", ()] > 0


def test_every_metric_is_there_before_anything_was_counted(url: str) -> None:
    with serving(url) as client:
        said = client.get("/metrics").text

    names = {line.split()[2].removesuffix("_total") for line in said.splitlines() if line.startswith("# TYPE jury_")}
    assert {one.name for one in METRICS} == names


def test_the_format_that_a_scraper_prefers_is_sent(url: str) -> None:
    with serving(url) as client:
        answer = client.get("/metrics", headers={"accept": "application/openmetrics-text; version=1.0.0"})

    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert {one.name for one in METRICS} <= {family.name for family in open_metrics(answer.text)}


def test_the_rules_of_access_are_those_of_other_endpoints(url: str) -> None:
    policy = AccessPolicy(frozenset({"jury.test"}), token=TOKEN, reviewers={"mika": REVIEWER})
    with serving(url, policy) as client:
        codes = {
            name: client.get("/metrics", headers=headers).status_code
            for name, headers in {
                "none": {},
                "wrong": {"authorization": "Bearer a token that is wrong"},
                "reviewer": {"authorization": f"Bearer {REVIEWER}"},
                "right": {"authorization": f"Bearer {TOKEN}"},
                "host": {"authorization": f"Bearer {TOKEN}", "host": "elsewhere.test"},
                "origin": {"authorization": f"Bearer {TOKEN}", "origin": "http://elsewhere.test"},
            }.items()
        }
        posted = client.post("/metrics", headers={"authorization": f"Bearer {TOKEN}"})

    assert {"none": 401, "wrong": 401, "reviewer": 403, "right": 200, "host": 421, "origin": 403} == codes
    assert 405 == posted.status_code

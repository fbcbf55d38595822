"""The list page and the list over HTTP choose debates by what they quote and by their decisive items."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from jury_judge.serving.service import Service
from jury_store.memory import MemoryEventStore
from jury_web.app import AccessPolicy, create_app
from support.evidence_lists import CHOSEN, store_quoting_debates
from support.pages import Site

PARAMETERS = [
    ("evidence=not_found", {"split"}),
    ("evidence=none", {"bare"}),
    ("decisive=agree", {"agreeing"}),
    ("evidence=verified&decisive=none", {"alone"}),
]


@pytest.fixture(scope="module")
def store() -> MemoryEventStore:
    made = MemoryEventStore()
    store_quoting_debates(made)
    return made


@pytest.fixture
def http(store: MemoryEventStore) -> Iterator[TestClient]:
    app = create_app(Service(store), AccessPolicy(frozenset({"jury.test"})))
    with TestClient(app, base_url="http://jury.test") as client:
        yield client


def _listed(http: TestClient, **query: str | list[str]) -> set[str]:
    answer = http.get("/api/debates", params=query)

    assert 200 == answer.status_code, answer.text
    return {row["debateId"] for row in answer.json()["rows"]}


@pytest.mark.parametrize(("query", "expected"), [*PARAMETERS, ("unsupported=yes", {"alone", "bare"})])
def test_the_page_has_the_debates_and_keeps_the_choice_in_its_form(
    store: MemoryEventStore, query: str, expected: set[str]
) -> None:
    page = Site(store).get(f"/?{query}")

    chosen = [one for one in page.attributes("#more select option[selected]", "value") if one in query]
    assert {f"/debates/{name}" for name in expected} == {*page.attributes(".list tbody th > a", "href")}
    assert query.split("&") == [pair for pair in query.split("&") if pair.partition("=")[2] in chosen]
    assert page.node("#more").attributes.keys() >= {"open"}
    sorted_by = page.attributes(".list thead a", "href")
    assert all(pair in str(address) for address in sorted_by for pair in query.split("&"))
    assert sorted_by


@pytest.mark.parametrize(("query", "expected"), [*PARAMETERS, ("unsupported=yes", {"alone", "bare"})])
def test_parameters_over_http(http: TestClient, query: str, expected: set[str]) -> None:
    assert expected == _listed(http, **dict(pair.split("=") for pair in query.split("&")))


def test_conditions_over_http(http: TestClient) -> None:
    for texts, expected in CHOSEN:
        assert expected == _listed(http, where=list(texts)), texts


def test_the_next_page_over_http_has_the_same_choice(http: TestClient) -> None:
    first = http.get("/api/debates", params={"evidence": "verified", "unsupported": "no", "limit": 1}).json()

    second = http.get(first["next"]).json()

    assert [["split"], ["agreeing"]] == [[row["debateId"] for row in one["rows"]] for one in (first, second)]


def test_a_row_over_http_has_counts(http: TestClient) -> None:
    rows = {row["debateId"]: row["evidence"] for row in http.get("/api/debates").json()["rows"]}

    counts = {"verified": 2, "normalised": 1, "elsewhere": 0, "notFound": 1, "unsupported": 0, "decisive": "disagree"}
    assert counts == rows["split"]
    assert rows["early"] is None


@pytest.mark.parametrize("address", ["/?evidence=invented", "/?decisive=yes", "/?unsupported=1", "/?where=evidence=x"])
def test_a_value_that_there_is_not_is_refused(store: MemoryEventStore, address: str) -> None:
    assert 200 != Site(store).get(address).status


def test_a_reviewer_cannot_choose_by_evidence(store: MemoryEventStore) -> None:
    page = Site(store).get("/reviews?where=evidence=not_found")

    assert 200 != page.status
    assert "field of recorded debates" in page.text

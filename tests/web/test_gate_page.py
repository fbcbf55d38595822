"""The gate of two compared runs, on the page and over HTTP."""

import json
import re
from importlib.resources import files

import jsonschema
import pytest
from starlette.testclient import TestClient

from jury_events import DebateCompleted, Verdict
from jury_judge import Service
from jury_store import MemoryEventStore
from jury_web import create_app
from support.debate_builder import FAIL, PASS, DebateBuilder
from support.pages import Site, stored

from .conftest import BASE, GATE


def debate(run: str, number: int, verdict: Verdict) -> DebateBuilder:
    made = DebateBuilder().phase_1().round_1().judged()
    made.opened_as(debate_id=f"{run}~c{number}", run_id=run, case_id=f"c{number}", label=FAIL)
    completed = made.events[-1]
    assert isinstance(completed, DebateCompleted)
    made.events[-1] = completed.changed(final_verdict=verdict)
    return made


@pytest.fixture(scope="module")
def store() -> MemoryEventStore:
    """Two runs over 40 cases that all fail; the second run passes 15 of them. A third one over the first two."""
    both = [("base", number, FAIL) for number in range(40)]
    both += [("worse", number, PASS if number < 15 else FAIL) for number in range(40)]
    return stored(*(debate(*one) for one in both), debate("few", 0, FAIL), debate("few", 1, FAIL))


def test_a_worse_run_fails_on_the_page(store: MemoryEventStore) -> None:
    shown = Site(store).get("/compare?a=base&b=worse")

    assert "Fail: there is harm, and it may be larger than the margin." == shown.one(".gate.fail")
    rows = dict(shown.table("[aria-labelledby=h-gate]"))
    assert "False passes More is worse" == rows["Metric"]
    # 15/40 = 0.375; se = √(0.375·0.625/39), t(39) = 2.022691
    assert ["37.5", "21.8", "53.2"] == re.findall(r"\d+\.\d", rows["Harm"])
    assert ("2.0%", "40") == (rows["Margin"], rows["Cases that count"])
    assert 2 == len(shown.all("[aria-labelledby=h-paired] .simulated-notice"))


def test_few_cases_are_inconclusive_on_the_page(store: MemoryEventStore) -> None:
    shown = Site(store).get("/compare?a=base&b=few", accept_language="ja")

    assert "判断不能: このケース数では決まりません。" == shown.one(".gate.inconclusive")
    rows = dict(shown.table("[aria-labelledby=h-gate]"))
    assert "誤った合格 増えると悪化" == rows["指標"]
    assert int(rows["判断に必要なケース数"]) >= 10


def test_debates_have_no_gate(store: MemoryEventStore) -> None:
    assert [] == Site(store).get("/compare?a=base~c0&b=worse~c0").all("#h-gate")


def test_the_gate_is_in_the_api_as_its_schema_says(store: MemoryEventStore) -> None:
    client = TestClient(create_app(Service(store), GATE), base_url=BASE)

    answer = client.get("/api/compare?a=base&b=worse").json()

    schema = client.get("/schemas/gate.json").json()
    published = (files("jury_analysis") / "schema" / "gate.schema.json").read_text(encoding="utf-8")
    assert json.loads(published) == schema
    jsonschema.validate(answer["gate"], schema)
    found = answer["gate"]
    assert ("fail", "false_pass", 0.375) == (found["decision"], found["metric"], found["harm"]["value"])
    assert answer["gate"]["change"] == answer["paired"]["against_labels"]["false_passes"]["change"]


def test_runs_without_a_common_case_have_no_gate() -> None:
    store = stored(debate("one", 1, FAIL), debate("other", 2, FAIL))
    client = TestClient(create_app(Service(store), GATE), base_url=BASE)

    answer = client.get("/api/compare?a=one&b=other").json()

    assert (None, None) == (answer["gate"], answer["paired"])
    assert [] == Site(store).get("/compare?a=one&b=other").all("#h-gate")

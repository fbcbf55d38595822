"""The gate of two compared runs over HTTP, and its figures on the page."""

import re

from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from jury_events import DebateCompleted, Verdict
from jury_judge import Service
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


def test_a_worse_run_fails_on_the_page_and_in_the_api_as_its_schema_says() -> None:
    """40 cases that all fail; the second run passes 15 of them."""
    both = [("base", number, FAIL) for number in range(40)]
    both += [("worse", number, PASS if number < 15 else FAIL) for number in range(40)]
    store = stored(*(debate(*one) for one in both), debate("other", 99, FAIL))
    client = TestClient(create_app(Service(store), GATE), base_url=BASE)
    rows = dict(Site(store).get("/compare?a=base&b=worse").table("[aria-labelledby=h-gate]"))
    answer = client.get("/api/compare?a=base&b=worse").json()
    apart = client.get("/api/compare?a=base&b=other").json()
    schema = client.get("/schemas/gate.json").json()
    found = answer["gate"]

    # 15/40 = 0.375; se = √(0.375·0.625/39), t(39) = 2.022691
    assert ["0.3750", "0.2182", "0.5318"] == re.findall(r"0\.\d{4}", rows["Harm"])[:3]
    Draft202012Validator(schema).validate(found)
    assert ("fail", "false_pass", 0.375) == (found["decision"], found["metric"], found["harm"]["value"])
    assert found["change"] == answer["paired"]["against_labels"]["false_passes"]["change"]
    assert (None, None) == (apart["gate"], apart["paired"])
    assert [] == Site(store).get("/compare?a=base~c0&b=worse~c0").all("#h-gate")

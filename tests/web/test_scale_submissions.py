"""Cases that are submitted over HTTP have labels in the words of the panel's scale."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from support.waiting import eventually

from .conftest import jury_client_of

CASE = {"case_id": "c1", "question": "Which city is the capital of Peru?", "response": "Lima."}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    """A server with a panel that judges answers, and with one that judges in the three verdicts."""
    panel = tmp_path / "answers.yaml"
    panel.write_text(json.dumps({"preset": "independent", "scale": "answer-correctness"}))
    with jury_client_of(f"sqlite:///{tmp_path / 'jury.db'}", answers=str(panel), usual="independent") as client:
        yield client


def result(client: TestClient, path: str) -> dict[str, Any]:
    eventually(lambda: client.get(path).json().get("status") == "completed")
    found: dict[str, Any] = client.get(path).json()
    return found


def test_a_word_of_the_scale_is_its_outcome_and_stays_as_the_word(client: TestClient) -> None:
    answer = client.post("/api/evaluations", json={"case": {**CASE, "label": "partial"}, "panel": "answers"})

    found = result(client, answer.json()["links"]["debate"])
    assert ("needs_review", {"scale_label": "partial"}) == (found["label"], found["metadata"])


def test_the_cases_of_a_run_are_read_so_under_the_default_panel_too(client: TestClient) -> None:
    cases = [{**CASE, "label": "right"}, {**CASE, "case_id": "c2", "label": "safe_pass"}]

    client.post("/api/runs", json={"cases": cases, "runId": "r"})

    first, second = (result(client, f"/api/debates/r~{name}") for name in ("c1", "c2"))
    assert [("safe_pass", "right"), ("safe_pass", None)] == [
        (one["label"], one["metadata"].get("scale_label")) for one in (first, second)
    ]


def test_a_word_of_another_panels_scale_is_refused(client: TestClient) -> None:
    refused = client.post("/api/evaluations", json={"case": {**CASE, "label": "right"}, "panel": "usual"})
    typo = client.post("/api/evaluations", json={"case": {**CASE, "label": "rigth"}, "panel": "answers"})

    assert [422, 422] == [refused.status_code, typo.status_code]
    assert "case: label: 'right' is not understood" in refused.json()["error"]
    assert refused.json()["remedy"].startswith("write one of safe_pass, ")
    assert not any("--map" in one.text for one in (refused, typo))
    assert "wrong, partial, right" in typo.text


def test_live_events_of_such_a_debate_have_its_labels(client: TestClient) -> None:
    links = client.post("/api/evaluations", json={"case": CASE, "panel": "answers"}).json()["links"]

    events = [
        json.loads(line.removeprefix("data: "))
        for line in client.get(links["live"]).text.splitlines()
        if line.startswith("data: ")
    ]
    found = result(client, links["debate"])
    assert {"wrong", "partial", "right"} >= {one["label"] for one in events if one["type"] == "juror_evaluation"}
    assert (found["finalVerdict"], found["finalLabel"]) == (events[-1]["verdict"], events[-1]["label"])

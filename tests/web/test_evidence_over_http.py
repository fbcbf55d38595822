"""Quotations and decisive items over HTTP, in camelCase."""

from starlette.testclient import TestClient

from jury_judge import Service
from jury_web import AccessPolicy, create_app
from support.debate_builder import DebateBuilder
from support.evidence_debate import EvidenceDebate
from support.pages import stored


def test_evaluations_have_evidence_in_camel_case() -> None:
    store = stored(EvidenceDebate(), DebateBuilder().phase_1())  # type: ignore[arg-type]
    with TestClient(
        create_app(Service(store), AccessPolicy(frozenset({"jury.test"}))), base_url="http://jury.test"
    ) as client:
        found = client.get("/api/debates/d1").json()
        unasked = client.get("/api/debates/run-1~c1").json()["phase1Evaluations"][0]

    first = found["phase1Evaluations"][0]
    assert first["evidence"][2] == {
        "item": 7,
        "quote": "customer asked",
        "says": "context",
        "criterion": None,
        "seat": None,
        "result": "elsewhere",
        "span": {"item": 3, "start": 29, "end": 43},
    }
    assert (5, False) == (first["decisiveItem"], first["unsupported"])
    assert 5 == found["discussionRounds"][0]["statements"][0]["updatedEvaluation"]["decisiveItem"]
    assert ["gpt", None] == [one["seat"] for one in found["phase3Judgment"]["judge"]["evidence"]]
    assert (None, None, False) == (unasked["evidence"], unasked["decisiveItem"], unasked["unsupported"])

"""The API endpoints that read the store."""

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from jury_events import Omission, debate_stream
from jury_judge import Service
from jury_replay import intact_history
from jury_store import Append, MemoryEventStore, open_store
from jury_views import collaborative_result
from jury_web import create_app
from support.cassettes import erase_text
from support.debates import DebateScript

from .conftest import BASE, GATE


def rows(client: TestClient, path: str) -> list[dict[str, Any]]:
    answer = client.get(path)

    assert 200 == answer.status_code, answer.text
    found: list[dict[str, Any]] = answer.json()["rows"]
    return found


def client_of(store: MemoryEventStore) -> TestClient:
    return TestClient(create_app(Service(store), GATE), base_url=BASE, raise_server_exceptions=False)


def many(*runs: str | None) -> MemoryEventStore:
    """Debates d0, d1 … of these runs; the even ones have ended."""
    store = MemoryEventStore()
    for number, run in enumerate(runs):
        script = DebateScript(f"d{number}", run_id=run, seed=number)
        events = (script.opened(),) if number % 2 else script.whole()
        store.append([Append(script.stream, events, 0, 1)])
    return store


def test_debates_are_filtered_by_conditions_and_have_the_fields_of_their_cases() -> None:
    store = MemoryEventStore()
    for number in range(4):
        script = DebateScript(f"d{number}", seed=number)
        metadata = {"level": number, "some_share": 0.5, "known": True}
        omissions = (Omission(what="image/png", count=2, size=96_000),)
        opened = script.opened(tags=("a&b", f"t{number}"), metadata=metadata, cluster="c", omissions=omissions)
        store.append([Append(script.stream, (opened,), 0, 1)])
    client = client_of(store)

    page = client.get("/api/debates?where=tags=a%26b&where=metadata.level!=3&limit=1").json()
    then = client.get(page["next"]).json()

    (row,) = page["rows"]
    assert ("d2", "d1") == (row["debateId"], then["rows"][0]["debateId"])
    assert (["a&b", "t2"], "c", None, 2) == (row["tags"], row["cluster"], row["agentCost"], row["notShown"])
    assert {"level": 2, "some_share": 0.5, "known": True} == row["metadata"]
    whole = client.get("/api/debates/d2").json()
    assert (row["tags"], row["metadata"], "c") == (whole["tags"], whole["metadata"], whole["cluster"])
    assert [{"what": "image/png", "count": 2, "size": 96_000}] == whole["omissions"]


def test_debates_are_found_by_jurors_texts_and_added_up() -> None:
    client = client_of(many("r", "r", "r"))

    page = client.get("/api/debates?search=BECAUSE&totals=true").json()

    assert ["d2", "d0"] == [row["debateId"] for row in page["rows"]]
    assert [{"version": 2, "text": "because"}] * 2 == [row["excerpt"] for row in page["rows"]]
    assert (2, 20.0, 0) == (page["totals"]["debates"], page["totals"]["meanScore"], page["unsearched"])
    plain = client.get("/api/debates").json()
    assert ({None}, None, None) == ({row["excerpt"] for row in plain["rows"]}, plain["totals"], plain["unsearched"])


def test_a_run_has_its_number_of_cases() -> None:
    store = many("r", "r")
    store.store_run_size("r", 123)

    (run,) = client_of(store).get("/api/runs").json()["rows"]

    assert (123, 2, 1) == (run["cases"], run["debates"], run["completed"])


def test_a_debate_is_read_as_the_result_model_in_camel_case(api_client: TestClient, recorded: str) -> None:
    store = open_store(recorded, write=False)
    debate = intact_history(store, "d0")
    store.close()

    found = api_client.get("/api/debates/d0").json()

    expected = collaborative_result(debate.events, debate.texts)
    assert (expected["final_verdict"], expected["final_score"]) == (found["finalVerdict"], found["finalScore"])
    assert len(debate.events) == found["version"]
    first, served = expected["phase1_evaluations"][0], found["phase1Evaluations"][0]
    assert (first["juror_id"], first["rationale"]) == (served["jurorId"], served["rationale"])
    assert first["scores"] == served["scores"]
    assert first["task_completion"] == served["taskCompletion"]
    statement = found["discussionRounds"][0]["statements"][0]
    assert {"jurorId", "roundNumber", "statement", "positionChanged", "updatedEvaluation"} <= statement.keys()


def test_a_debate_is_read_as_of_an_event(api_client: TestClient) -> None:
    found = api_client.get("/api/debates/d0?at=3").json()

    assert (3, "unfinished", None) == (found["version"], found["status"], found["finalVerdict"])
    assert 2 == len(found["phase1Evaluations"])


def test_events_are_listed_as_stored_in_the_log(api_client: TestClient, recorded: str) -> None:
    store = open_store(recorded, write=False)
    stored = store.read_stream(debate_stream("d0"))
    store.close()

    seen: list[dict[str, Any]] = []
    path = "/api/debates/d0/events?limit=3"
    while path:
        page = api_client.get(path).json()
        seen, path = seen + page["rows"], page["next"]

    assert [event.position for event in stored] == [event["position"] for event in seen]
    first = seen[0]
    assert (stored[0].hash.hex(), json.loads(stored[0].body)) == (first["hash"], first["body"])
    assert ("debate_opened", "opened", 3) == (first["type"], first["eventId"], first["schema"])


def test_exchanges_are_listed_and_read_with_raw_answers(api_client: TestClient) -> None:
    listed = rows(api_client, "/api/debates/d0/exchanges")

    whole = api_client.get("/api/debates/d0/exchanges/1").json()
    answered = next(one for one in listed if one["raw"])
    raw = api_client.get(answered["raw"])

    assert [*range(1, len(listed) + 1)] == [one["number"] for one in listed]
    assert listed[0] == {name: value for name, value in whole.items() if name != "request"}
    assert ["system", "user"] == [message["role"] for message in whole["request"]][:2]
    assert "Refund" in whole["request"][1]["text"]
    assert answered["answerBytes"] == len(raw.content)
    name = f"d0-{answered['number']}-answer.txt"
    assert ("text/plain; charset=utf-8", f'attachment; filename="{name}"') == (
        raw.headers["content-type"],
        raw.headers["content-disposition"],
    )
    assert rows(api_client, "/api/debates/d0/events?stream=calls")[0]["eventId"] == listed[0]["exchangeId"]


def test_a_missing_raw_answer_is_not_found() -> None:
    store = MemoryEventStore()
    script = DebateScript("d")
    store.append([Append(script.stream, script.whole(), 0, 1)])
    store.append([Append(script.calls, (script.exchange(answer="the answer"),))])
    erase_text(store, "d", b"the answer")
    client = client_of(store)

    assert 404 == client.get("/api/debates/d/exchanges/1/raw").status_code
    assert 404 == client.get("/api/debates/d/exchanges/1/raw?part=error").status_code
    assert (None, None) == tuple(
        client.get("/api/debates/d/exchanges/1").json()[name] for name in ("raw", "answerBytes")
    )
    assert 404 == client.get("/api/debates/d/exchanges/2/raw").status_code


def test_a_debate_is_replayed(api_client: TestClient) -> None:
    found = api_client.post("/api/debates/d0/replay").json()

    assert ("equal", True, []) == (found["status"], found["finished"], found["differences"])


def test_a_debate_is_rescored(api_client: TestClient) -> None:
    body = {"settings": {"threshold": [0.67, 1.0], "method": "median"}, "mode": "recount"}

    found = api_client.post("/api/debates/d0/rescore", json=body).json()

    assert ["recount", 2] == [found["mode"], len(found["rows"])]
    assert {"d0"} == {row["debateId"] for row in found["rows"]}
    assert "newVerdict" in found["rows"][0]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"threshold": 67}, "threshold: 67 is not understood (did you mean 0.67?)"),
        ({"threshold": [0.67, 100]}, "threshold: 100 is not understood (did you mean 1?)"),
        ({"treshold": 1.0}, "(did you mean threshold?)"),
        ({"method": "medan"}, "method: 'medan' is not understood (did you mean median?)"),
    ],
)
def test_an_unknown_setting_gets_a_suggestion(api_client: TestClient, settings: dict[str, Any], said: str) -> None:
    answer = api_client.post("/api/debates/d0/rescore", json={"settings": settings})

    assert (422, True) == (answer.status_code, said in answer.json()["error"])


@pytest.mark.parametrize(
    "body",
    [
        {"settings": {}},
        {"settings": {"nonsense": 1}},
        {"settings": {"threshold": "nan"}},
        {"settings": {"threshold": {"a": 1}}},
        {"settings": {"rubric": "aisev"}, "mode": "strict"},
        {"settings": {"threshold": 1.0}, "mode": "guess"},
        {"settings": {"threshold": 1.0}, "more": 1},
        [],
        None,
    ],
)
def test_invalid_settings_are_refused(api_client: TestClient, body: Any) -> None:
    answer = api_client.post("/api/debates/d0/rescore", json=body)

    assert 422 == answer.status_code
    assert answer.json()["error"]


def test_two_debates_and_two_runs_are_compared(api_client: TestClient) -> None:
    debates = api_client.get("/api/compare?a=d0&b=d1").json()
    runs = client_of(many("r", None, "s")).get("/api/compare?a=r&b=s").json()

    assert ("debates", "d0", "d1") == (debates["kind"], debates["a"]["debateId"], debates["b"]["debateId"])
    assert {"positions", "panelDifferences", "sameCase"} <= debates.keys()
    assert ("runs", {"safe_pass": 1}, 0) == (runs["kind"], runs["a"]["endedAs"], runs["flipped"])
    assert {"a": 1, "b": 1} == runs["alone"]


def test_runs_are_listed_and_read() -> None:
    client = client_of(many("r", "r", "s"))

    assert ["s", "r"] == [row["runId"] for row in rows(client, "/api/runs")]
    assert ["r"] == [row["runId"] for row in rows(client, client.get("/api/runs?limit=1").json()["next"])]
    assert (2, 1) == tuple(client.get("/api/runs/r").json()[name] for name in ("debates", "completed"))
    assert 404 == client.get("/api/runs/none").status_code


def test_health_reports_the_state_of_the_server(api_client: TestClient) -> None:
    found = api_client.get("/api/health").json()

    assert ("ok", None, [], 0) == tuple(found[name] for name in ("status", "writer", "panels", "readers"))
    assert found["lastPosition"] > 0


def test_an_undecodable_record_is_an_error_with_a_remedy() -> None:
    store = MemoryEventStore()
    script = DebateScript("d")
    store.append([Append(script.stream, (script.opened(), script.evaluated()._replace(schema=99)), 0, 1)])

    answer = client_of(store).get("/api/debates/d")

    assert 500 == answer.status_code
    assert "upgrade jury-judge" == answer.json()["remedy"]


def test_an_internal_error_does_not_reveal_its_message() -> None:
    store = MemoryEventStore()

    def broken() -> Any:
        raise RuntimeError("sk-secret")

    store.runs = broken  # type: ignore[method-assign]
    answer = client_of(store).get("/api/runs")

    assert 500 == answer.status_code
    assert {"error": "internal error: RuntimeError", "remedy": "see the server's log"} == answer.json()


def test_the_paths_of_the_api(api_client: TestClient) -> None:
    found = api_client.get("/openapi.json").json()["paths"]

    debate = "/api/debates/{debate_id}"
    assert {
        "/api/compare": ["get"],
        "/api/debates": ["get"],
        debate: ["get"],
        f"{debate}/events": ["get"],
        f"{debate}/exchanges": ["get"],
        f"{debate}/exchanges/{{number}}": ["get"],
        f"{debate}/exchanges/{{number}}/raw": ["get"],
        f"{debate}/live": ["get"],
        f"{debate}/progress": ["get"],
        f"{debate}/replay": ["post"],
        f"{debate}/rescore": ["post"],
        f"{debate}/reviews": ["post"],
        "/api/reviews": ["get"],
        "/api/evaluations": ["post"],
        "/api/evaluations/{debate_id}": ["get"],
        "/api/health": ["get"],
        "/api/runs": ["get", "post"],
        "/api/runs/{run_id}": ["get"],
        "/api/runs/{run_id}/evidence": ["get"],
        "/api/runs/{run_id}/live": ["get"],
        "/api/runs/{run_id}/state": ["get"],
        "/api/runs/{run_id}/stats": ["get"],
        "/schemas/{name}.json": ["get"],
    } == {path: sorted(methods) for path, methods in found.items()}

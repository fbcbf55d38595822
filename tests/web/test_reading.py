"""The API endpoints that read the store: what they answer, in `printed`, and the log that they agree with."""

import json
from pprint import pformat
from typing import Any

import pytest
from starlette.testclient import TestClient

from jury_events import CallOutcome, Omission, Usage, debate_stream
from jury_judge import Service
from jury_replay import intact_history
from jury_store import Append, EventStore, MemoryEventStore, open_store
from jury_views import collaborative_result
from jury_web import create_app
from support.cassettes import erase_text
from support.debate_builder import DebateBuilder
from support.debates import DebateScript
from support.pages import stored
from support.refusals import RefusalTables
from support.run_lists import complete_list

from .conftest import BASE, GATE


def client_of(store: EventStore) -> TestClient:
    return TestClient(create_app(Service(store), GATE), base_url=BASE, raise_server_exceptions=False)


def debate(name: str, *, run: str = "r", whole: bool = True, **opened: Any) -> DebateBuilder:
    made = DebateBuilder().phase_1()
    if whole:
        made.round_1().judged()
    made.called("openai/m", CallOutcome.ANSWERED, Usage(input_tokens=10, output_tokens=1), 0.25)
    return made.opened_as(**{"debate_id": f"{run}~{name}", "run_id": run, "case_id": name} | opened)


ANSWERS = (
    *("/api/debates?limit=1", "/api/debates?where=tags=a%26b&where=metadata.level!=3&limit=1"),
    *("/api/debates?search=OVERLOOKED&totals=true&limit=1", "/api/debates/r~c1?at=3", "/api/debates/r~c2"),
    "/api/debates/r~c1/exchanges",
    *("/api/runs", "/api/runs?limit=1", "/api/runs/r", "/api/compare?a=r~c1&b=s~c1", "/api/compare?a=r&b=s"),
)


def test_what_is_read(printed: RefusalTables) -> None:
    known = {"tags": ("a&b", "t"), "cluster": "c", "metadata": {"level": 2, "some_share": 0.5, "known": True}}
    lost = (Omission(what="image/png", count=2, size=96_000),)
    store = stored(
        debate("c1"), debate("c2", **known, omissions=lost), debate("c3", whole=False), debate("c1", run="s")
    )
    complete_list(store, "r", 123)
    client = client_of(store)
    answers = {address: client.get(address) for address in ANSWERS}
    printed.compare(
        "api", {one: pformat(answer.json(), width=150, sort_dicts=False) for one, answer in answers.items()}
    )

    assert {200} == {answer.status_code for answer in answers.values()}


def test_a_debate_is_read_as_the_result_model_in_camel_case(api_client: TestClient, recorded: str) -> None:
    store = open_store(recorded, write=False)
    history = intact_history(store, "d0")
    events = store.read_stream(debate_stream("d0"))
    store.close()
    expected = collaborative_result(history.events, history.texts)
    found = api_client.get("/api/debates/d0").json()
    listed: list[dict[str, Any]] = []
    path = "/api/debates/d0/events?limit=3"
    while path:
        page = api_client.get(path).json()
        listed, path = listed + page["rows"], page["next"]

    assert (expected["final_verdict"], expected["final_score"]) == (found["finalVerdict"], found["finalScore"])
    assert expected["phase1_evaluations"][0]["scores"] == found["phase1Evaluations"][0]["scores"]
    assert [(one.position, one.hash.hex()) for one in events] == [(one["position"], one["hash"]) for one in listed]
    assert [json.loads(one.body) for one in events] == [one["body"] for one in listed]


def test_exchanges_are_read_with_raw_answers(api_client: TestClient) -> None:
    listed = api_client.get("/api/debates/d0/exchanges").json()["rows"]
    whole = api_client.get("/api/debates/d0/exchanges/1").json()
    answered = next(one for one in listed if one["raw"])
    raw = api_client.get(answered["raw"])
    headers = raw.headers["content-type"], raw.headers["content-disposition"]

    assert [*range(1, len(listed) + 1)] == [one["number"] for one in listed]
    assert listed[0] == {name: value for name, value in whole.items() if name != "request"}
    assert ["system", "user"] == [message["role"] for message in whole["request"]][:2]
    assert "Refund" in whole["request"][1]["text"]
    assert answered["answerBytes"] == len(raw.content)
    name = f"d0-{answered['number']}-answer.txt"
    assert ("text/plain; charset=utf-8", f'attachment; filename="{name}"') == headers


def test_a_missing_raw_answer_is_not_found() -> None:
    store = MemoryEventStore()
    script = DebateScript("d")
    store.append([Append(script.stream, script.whole(), 0, 1)])
    store.append([Append(script.calls, (script.exchange(answer="the answer"),))])
    erase_text(store, "d", b"the answer")
    client = client_of(store)
    exchange = client.get("/api/debates/d/exchanges/1").json()

    for raw in ("1/raw", "1/raw?part=error", "2/raw"):
        assert 404 == client.get(f"/api/debates/d/exchanges/{raw}").status_code
    assert (None, None) == (exchange["raw"], exchange["answerBytes"])


SETTINGS: dict[str, Any] = {
    "per cent": {"settings": {"threshold": 67}},
    "one of two per cent": {"settings": {"threshold": [0.67, 100]}},
    "a key with a typo": {"settings": {"treshold": 1.0}},
    "a word with a typo": {"settings": {"method": "medan"}},
    "nothing": {"settings": {}},
    "an empty list": {"settings": {"threshold": []}},
    "no number": {"settings": {"threshold": "nan"}},
    "a table": {"settings": {"threshold": {"a": 1}}},
    "a rubric, strictly": {"settings": {"rubric": "aisev"}, "mode": "strict"},
    "no such mode": {"settings": {"threshold": 1.0}, "mode": "guess"},
    "more": {"settings": {"threshold": 1.0}, "more": 1},
    "a list": [],
    "null": None,
}


def test_invalid_settings_are_refused_with_a_suggestion(api_client: TestClient, refusals: RefusalTables) -> None:
    said = {}
    for name, body in SETTINGS.items():
        answer = api_client.post("/api/debates/d0/rescore", json=body)
        assert 422 == answer.status_code, name
        said[name] = f"{answer.json()['error']}\n{answer.json()['remedy']}"
    refusals.compare("rescoring", said)


def test_health_reports_the_state_of_the_server(api_client: TestClient) -> None:
    found = api_client.get("/api/health").json()

    assert ("ok", None, [], 0) == tuple(found[name] for name in ("status", "writer", "panels", "readers"))
    assert found["lastPosition"] > 0


def test_an_undecodable_record_is_an_error_with_a_remedy() -> None:
    store = MemoryEventStore()
    script = DebateScript("d")
    store.append([Append(script.stream, (script.opened(), script.evaluated()._replace(schema=99)), 0, 1)])
    answer = client_of(store).get("/api/debates/d")

    assert (500, "upgrade jury-judge") == (answer.status_code, answer.json()["remedy"])


def test_an_internal_error_does_not_reveal_its_message(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_store: MemoryEventStore) -> Any:
        raise RuntimeError("sk-secret")

    monkeypatch.setattr(MemoryEventStore, "runs", broken)
    answer = client_of(MemoryEventStore()).get("/api/runs")

    assert 500 == answer.status_code
    assert {"error": "internal error: RuntimeError", "remedy": "see the server's log"} == answer.json()


def test_the_paths_of_the_api(api_client: TestClient, printed: RefusalTables) -> None:
    found = api_client.get("/openapi.json").json()["paths"]
    printed.compare("paths", {path: " ".join(sorted(methods)) for path, methods in found.items()})

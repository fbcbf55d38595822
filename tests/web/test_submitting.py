"""What is sent is judged, recorded, and answered at once with where to watch."""

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from jury_actors.providers.simulated.script import Script
from jury_judge.app.jury import Jury
from jury_judge.web.app import create_app
from jury_judge.web.service import Service
from jury_migrations.upgrading import upgrade
from jury_replay.cassettes.intake import take_in
from jury_replay.cassettes.reading import read_cassette
from jury_store.errors import StoreFailed
from jury_store.memory import MemoryEventStore
from jury_store.opening import open_store
from jury_store.sql_store import SqlEventStore
from support.cassettes import exported, record_debate
from support.waiting import eventually

from .conftest import BASE, GATE, holding_client

CASE = {"case_id": "refund", "question": "Refund order 17.", "response": "Refunded."}


def over(client: TestClient, path: str) -> dict[str, Any]:
    """What the address says once it is not running any more."""
    eventually(lambda: client.get(path).json().get("state") != "running")
    found: dict[str, Any] = client.get(path).json()
    return found


def test_a_case_is_judged_and_its_debate_can_be_watched_at_once(holding: TestClient) -> None:
    answer = holding.post("/api/evaluations", json={"case": CASE, "submissionId": "abc123"})

    accepted = answer.json()
    assert (202, accepted["links"]["state"]) == (answer.status_code, answer.headers["location"])
    assert accepted["links"]["live"] == f"/api/debates/{accepted['id']}/live"
    told = [
        json.loads(line.removeprefix("data: "))
        for line in holding.get(accepted["links"]["live"]).text.splitlines()
        if line.startswith("data: ")
    ]
    assert ("phase_change", "evaluation_completed") == (told[0]["type"], told[-1]["type"])
    assert "over" == over(holding, accepted["links"]["state"])["state"]
    result = holding.get(accepted["links"]["debate"]).json()
    assert ("refund", "abc123", "completed") == tuple(result[name] for name in ("caseId", "submissionId", "status"))


def test_a_debate_that_came_in_a_cassette_is_not_taken_for_judged(holding: TestClient, tmp_path: Path) -> None:
    store = MemoryEventStore()
    record_debate(store, "r~refund")
    (tmp_path / "forged").write_bytes(exported(store, "r~refund"))
    taking = open_store(f"sqlite:///{tmp_path / 'jury.db'}", write=True)
    take_in(taking, read_cassette(tmp_path / "forged"))
    taking.close()

    answers = [
        holding.post("/api/evaluations", json={"case": CASE, "runId": "r"}),
        holding.post("/api/runs", json={"cases": [CASE], "runId": "r"}),
    ]

    listed = holding.get("/api/debates").json()["rows"][0]
    # It names another run, so that this run meets it only when it would hold it.
    assert [409, 422] == [answer.status_code for answer in answers]
    assert all("came in a cassette" in answer.text for answer in answers), [one.text for one in answers]
    assert ("unsealed", None) == (listed["imported"], listed["importedFrom"])


def test_the_same_case_of_a_run_is_judged_once(holding: TestClient) -> None:
    body = {"case": CASE, "runId": "r"}
    first = holding.post("/api/evaluations", json=body).json()
    over(holding, first["links"]["state"])
    events = len(holding.get(first["links"]["events"]).json()["rows"])

    again = holding.post("/api/evaluations", json=body)

    assert ("r~refund", 202) == (first["id"], again.status_code)
    assert first["id"] == again.json()["id"]
    assert events == len(holding.get(first["links"]["events"]).json()["rows"])


def test_another_case_under_the_same_id_is_a_conflict(holding: TestClient) -> None:
    first = holding.post("/api/evaluations", json={"case": CASE, "runId": "r"}).json()
    over(holding, first["links"]["state"])

    answer = holding.post("/api/evaluations", json={"case": {**CASE, "response": "Never."}, "runId": "r"})

    assert 409 == answer.status_code
    assert "judged another case" in answer.json()["error"]


def test_a_run_is_held_and_its_debates_are_listed(holding: TestClient) -> None:
    cases = [{**CASE, "case_id": f"c{number}"} for number in range(5)]

    answer = holding.post("/api/runs", json={"cases": cases, "runId": "many", "concurrency": 2})
    state = over(holding, answer.headers["location"])

    assert (202, "over") == (answer.status_code, state["state"])
    assert 5 == holding.get("/api/runs/many").json()["completed"]
    listed = holding.get(state["links"]["debates"]).json()["rows"]
    assert {f"many~c{number}" for number in range(5)} == {row["debateId"] for row in listed}


def test_the_panel_that_is_named_sits(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    with holding_client(url, first="independent", second="adk-sequential") as client:
        found = [
            client.post("/api/evaluations", json={"case": CASE, "panel": name}).json() for name in (None, "second")
        ]
        for accepted in found:
            over(client, accepted["links"]["state"])
        panels = [client.get(accepted["links"]["debate"]).json()["panel"] for accepted in found]
        health = client.get("/api/health").json()

    assert ["independent", "adk-sequential"] == panels
    assert ["first", "second"] == health["panels"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"case": {}}, "case: response: missing"),
        ({"case": {"question": 1, "response": "x"}}, "case: question: must be text"),
        ({"case": {**CASE, "case_id": "a\nb"}}, "case: case_id"),
        ({"case": CASE, "panel": "usua"}, "there is no panel 'usua' here (did you mean usual?)"),
        ({"case": CASE, "panel": "none"}, "there is no panel 'none' here"),
        ({"case": CASE, "runId": "a/b"}, "body.runId"),
        ({"case": CASE, "runId": ".."}, "body.runId"),
        ({"case": CASE, "submissionId": "a\x00"}, "body.submissionId"),
        ({"case": CASE, "nonsense": 1}, "body.nonsense"),
        ({"case": CASE, "runID": "a"}, "body.runID: Extra inputs are not permitted (did you mean runId?)"),
        ({"case": CASE, "panell": "a"}, "body.panell: Extra inputs are not permitted (did you mean panel?)"),
        ({"case": CASE, "providers": {"a": {"base_url": "http://h", "key_env": "OPENAI_API_KEY"}}}, "body.providers"),
        ({"case": CASE, "panel": {"providers": {"a": {"key_env": "OPENAI_API_KEY"}}}}, "body.panel"),
        ({"case": CASE, "panel": "/tmp/panel.yaml"}, "there is no panel '/tmp/panel.yaml' here"),
        ({"case": "text"}, "body.case"),
        ({}, "body.case"),
        ({"caes": CASE}, "body.caes: Extra inputs are not permitted (did you mean case?)"),
        ([], "body"),
    ],
)
def test_a_case_that_cannot_be_judged_is_refused_by_its_field(holding: TestClient, body: Any, said: str) -> None:
    answer = holding.post("/api/evaluations", json=body)

    assert 422 == answer.status_code
    assert said in answer.json()["error"]
    assert [] == holding.get("/api/debates").json()["rows"]


@pytest.mark.parametrize("name", ["security_gate_uri", "agent_card_uri"])
@pytest.mark.parametrize("uri", ["/etc/passwd", "file:///etc/passwd", "http://169.254.169.254/"])
def test_a_case_from_the_network_cannot_have_files_or_hosts_read(holding: TestClient, name: str, uri: str) -> None:
    for answer in (
        holding.post("/api/evaluations", json={"case": {**CASE, name: uri}}),
        holding.post("/api/runs", json={"cases": [{**CASE, name: uri}]}),
    ):
        assert 422 == answer.status_code
        assert f"{name} is not read here" in answer.json()["error"]


def test_a_case_that_is_sent_twice_in_a_run_is_refused(holding: TestClient) -> None:
    answer = holding.post("/api/runs", json={"cases": [CASE, CASE]})

    assert (422, True) == (
        answer.status_code,
        "cases.1: the case id 'refund' was sent before" in answer.json()["error"],
    )


@pytest.mark.parametrize(
    "body",
    [
        b'{"case": {"question": "a", "question": "b", "response": "c"}}',
        b'{"case": {"question": "a", "response": "c", "n": NaN}}',
        b'{"case": {"question": "a", "response": "c", "n": 1e999}}',
        b'{"case": {"question": "a", "response": "\\ud800"}}',
        b'{"case": ' + b"[" * 100_000,
        b'{"case": {"question": "a", "response": "c", "n": ' + b"9" * 5000 + b"}}",
        b"\xff\xfe",
        b'{"case"',
        b"",
        b"{} {}",
    ],
)
def test_json_that_says_two_things_or_none_is_refused(holding: TestClient, body: bytes) -> None:
    answer = holding.post("/api/evaluations", content=body, headers={"content-type": "application/json"})

    assert 422 == answer.status_code
    assert {"error", "remedy"} == answer.json().keys()


def test_a_server_that_only_shows_holds_nothing(reading: TestClient) -> None:
    answer = reading.post("/api/evaluations", json={"case": CASE})

    assert 422 == answer.status_code
    assert "without --read-only" in answer.json()["remedy"] + answer.json()["error"]


def test_while_another_process_writes_debates_are_shown_and_none_is_held(tmp_path: Path) -> None:
    path = tmp_path / "jury.db"
    url = f"sqlite:///{path}"
    upgrade(url)
    with holding_client(url) as client:
        writer = open_store(url, write=True, run="nightly")
        try:
            answer = client.post("/api/evaluations", json={"case": CASE, "runId": "r"})
            health = client.get("/api/health").json()
        finally:
            writer.close()
        later = client.post("/api/evaluations", json={"case": CASE, "runId": "r"})
        state = over(client, later.headers["location"])

    assert 503 == answer.status_code
    assert "run nightly" in answer.json()["error"]
    assert "retry-after" in answer.headers
    assert "nightly" == health["writer"]["run"]
    assert (202, "over") == (later.status_code, state["state"])


def test_a_debate_that_could_not_go_on_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with holding_client(f"sqlite:///{tmp_path / 'jury.db'}", current="current") as client:
        answer = client.post("/api/evaluations", json={"case": CASE, "runId": "r"})
        state = client.get("/api/evaluations/r~refund").json()

    assert 503 == answer.status_code
    assert "OPENAI_API_KEY" in answer.text
    assert ("stopped", True) == (state["state"], "OPENAI_API_KEY" in state["problem"])


def test_after_a_disk_was_full_the_next_submission_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_store: SqlEventStore) -> int:
        raise StoreFailed("the disk is full; make room, then try again")

    with holding_client(f"sqlite:///{tmp_path / 'jury.db'}") as client:
        with monkeypatch.context() as disk:
            disk.setattr(SqlEventStore, "next_epoch", full)
            refused = client.post("/api/evaluations", json={"case": CASE, "runId": "r"})
        later = client.post("/api/evaluations", json={"case": CASE, "runId": "r"})
        state = over(client, later.headers["location"])

    assert (503, "the disk is full") == (refused.status_code, refused.json()["error"])
    assert (202, "over") == (later.status_code, state["state"])


def test_what_runs_when_the_server_ends_goes_on_when_it_is_sent_again(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    body = {"case": CASE, "runId": "r"}
    upgrade(url)
    slow = partial(Jury, "independent", store=url, simulate=Script(latency=600.0))
    service = Service(open_store(url, write=False), {"usual": lambda on_chunk: slow(on_chunk=on_chunk)})
    with TestClient(create_app(service, GATE), base_url=BASE) as client:
        accepted = client.post("/api/evaluations", json=body).json()
        assert "running" == accepted["state"]
    with holding_client(url) as client:
        before = client.get("/api/evaluations/r~refund").json()["state"]
        client.post("/api/evaluations", json=body)
        after = over(client, "/api/evaluations/r~refund")["state"]

    assert ("unfinished", "over") == (before, after)


def test_a_key_is_found_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    canary = "sk-canary-0123456789abcdef"
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, canary)
    with holding_client(f"sqlite:///{tmp_path / 'jury.db'}") as client:
        accepted = client.post("/api/evaluations", json={"case": CASE, "runId": "r"}).json()
        over(client, accepted["links"]["state"])
        number = len(client.get("/api/debates/r~refund/exchanges").json()["rows"])
        paths = [
            *accepted["links"].values(),
            *("/api/health", "/api/runs", "/openapi.json", "/api/debates/r~refund/exchanges"),
            *(f"/api/debates/r~refund/exchanges/{one}" for one in range(1, number + 1)),
            "/api/debates/r~refund/events?stream=calls",
        ]
        seen = [client.get(path) for path in paths if path and not path.endswith("/ws")]

    assert {200} == {answer.status_code for answer in seen}
    assert not [answer.url for answer in seen if canary in answer.text or canary in str(answer.headers)]


OTHER = {**CASE, "response": "Never."}
SECOND = {**CASE, "case_id": "second"}


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/api/evaluations", {"case": OTHER}, "over another case"),
        ("/api/evaluations", {"case": CASE, "panel": "other"}, "under another panel"),
        ("/api/runs", {"cases": [OTHER]}, "over another case"),
        ("/api/runs", {"cases": [CASE, SECOND]}, "with other cases"),
        ("/api/runs", {"cases": [SECOND]}, "with other cases"),
        ("/api/runs", {"cases": [CASE], "panel": "other"}, "under another panel"),
        ("/api/evaluations", {"case": CASE}, None),
        ("/api/evaluations", {"case": SECOND}, None),
        ("/api/runs", {"cases": [CASE]}, None),
    ],
)
def test_what_is_under_way_by_a_name_is_not_taken_for_something_else(
    tmp_path: Path, path: str, body: Any, said: str | None
) -> None:
    with slow_client(tmp_path) as client:
        for where, first in (("/api/evaluations", {"case": CASE}), ("/api/runs", {"cases": [CASE]})):
            client.post(where, json={**first, "runId": "r"})

        answer = client.post(path, json={**body, "runId": "r"})

    assert (202 if said is None else 409) == answer.status_code
    assert said is None or said in answer.json()["error"]


def test_of_two_cases_that_come_at_once_under_one_name_one_is_refused(tmp_path: Path) -> None:
    with slow_client(tmp_path) as client, ThreadPoolExecutor() as threads:
        answers = threads.map(
            lambda case: client.post("/api/evaluations", json={"case": case, "runId": "r"}).status_code, [CASE, OTHER]
        )

        assert [202, 409] == sorted(answers)


def test_what_could_not_begin_is_not_under_way(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    upgrade(url)
    juries = iter([StoreFailed("the disk is gone; look at it"), Jury("independent", store=url)])

    def make(_heard: Any) -> Jury:
        found = next(juries)
        if isinstance(found, StoreFailed):
            raise found
        return found

    with TestClient(create_app(Service(open_store(url, write=False), {"usual": make}), GATE), base_url=BASE) as client:
        answers = [client.post("/api/evaluations", json={"case": case, "runId": "r"}) for case in (CASE, OTHER)]

    assert [503, 202] == [answer.status_code for answer in answers]


def slow_client(folder: Path) -> TestClient:
    """A client of a server whose jurors take minutes."""
    url = f"sqlite:///{folder / 'jury.db'}"
    upgrade(url)
    slow = partial(Jury, "independent", store=url, simulate=Script(latency=600.0))
    made = {name: lambda on_chunk: slow(on_chunk=on_chunk) for name in ("usual", "other")}
    return TestClient(create_app(Service(open_store(url, write=False), made), GATE), base_url=BASE)


def test_more_than_a_server_holds_at_once_is_sent_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    upgrade(url)
    monkeypatch.setattr("jury_judge.web.submissions.MOST_BYTES", 600)
    slow = partial(Jury, "independent", store=url, simulate=Script(latency=600.0))
    service = Service(open_store(url, write=False), {"usual": lambda on_chunk: slow(on_chunk=on_chunk)})
    with TestClient(create_app(service, GATE), base_url=BASE) as client:
        asked = [
            client.post("/api/evaluations", json={"case": {**CASE, "response": "x" * 400}, "runId": f"r{number}"})
            for number in range(2)
        ]
        again = client.post("/api/evaluations", json={"case": {**CASE, "response": "x" * 400}, "runId": "r0"})

    assert [202, 503] == [answer.status_code for answer in asked]
    assert "retry-after" in asked[1].headers
    assert ("running", "r0~refund") == (again.json()["state"], again.json()["id"])

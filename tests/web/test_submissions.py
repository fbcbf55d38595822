"""Evaluations and runs submitted over HTTP."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from pydantic.alias_generators import to_camel
from starlette.testclient import TestClient

from jury_judge import Jury, RuntimeSettings, Service, SettingsRefused, SubmissionSettings
from jury_migrations import upgrade
from jury_providers import Script
from jury_replay import import_cassette, read_cassette
from jury_store import MemoryEventStore, StoreFailed, open_store
from jury_web import create_app, page_routes
from support.cassettes import exported, record_debate
from support.ladders import ladder_file
from support.waiting import eventually

from .conftest import BASE, GATE, jury_client_of

LEAK = "Order 1 is refunded without asking."
CASE = {"case_id": "refund", "question": "Refund order 17.", "response": "Refunded."}


def finished(client: TestClient, path: str) -> dict[str, Any]:
    """The status of a submission once it is not running."""
    eventually(lambda: client.get(path).json().get("state") not in {"running", "waiting"})
    found: dict[str, Any] = client.get(path).json()
    return found


def test_a_submitted_case_is_judged_and_can_be_followed_at_once(jury_client: TestClient, tmp_path: Path) -> None:
    answer = jury_client.post("/api/evaluations", json={"case": CASE, "submissionId": "abc123"})

    accepted = answer.json()
    assert (202, accepted["links"]["state"]) == (answer.status_code, answer.headers["location"])
    assert accepted["links"]["live"] == f"/api/debates/{accepted['id']}/live"
    events = [
        json.loads(line.removeprefix("data: "))
        for line in jury_client.get(accepted["links"]["live"]).text.splitlines()
        if line.startswith("data: ")
    ]
    assert ("phase_change", "evaluation_completed") == (events[0]["type"], events[-1]["type"])
    assert "finished" == finished(jury_client, accepted["links"]["state"])["state"]
    result = jury_client.get(accepted["links"]["debate"]).json()
    assert ("refund", "abc123", "completed") == tuple(result[name] for name in ("caseId", "submissionId", "status"))
    store = open_store(f"sqlite:///{tmp_path / 'jury.db'}", write=False)
    (run_id,) = store.run_ids()
    eventually(lambda: store.read_stream(f"run/{run_id}")[-1].type == "run_ended")
    store.close()


def test_an_imported_debate_does_not_count_as_judged(jury_client: TestClient, tmp_path: Path) -> None:
    store = MemoryEventStore()
    record_debate(store, "r~refund")
    (tmp_path / "forged").write_bytes(exported(store, "r~refund"))
    taking = open_store(f"sqlite:///{tmp_path / 'jury.db'}", write=True)
    import_cassette(taking, read_cassette(tmp_path / "forged"))
    taking.close()

    answers = [
        jury_client.post("/api/evaluations", json={"case": CASE, "runId": "r"}),
        jury_client.post("/api/runs", json={"cases": [CASE], "runId": "r"}),
    ]

    listed = jury_client.get("/api/debates").json()["rows"][0]
    assert [409, 409] == [answer.status_code for answer in answers]
    assert all("came in a cassette" in answer.text for answer in answers), [one.text for one in answers]
    assert ("unsealed", None) == (listed["imported"], listed["importedFrom"])


def test_the_same_case_of_a_run_is_judged_once_and_another_one_is_a_conflict(jury_client: TestClient) -> None:
    body = {"case": CASE, "runId": "r"}
    first = jury_client.post("/api/evaluations", json=body).json()
    finished(jury_client, first["links"]["state"])
    events = len(jury_client.get(first["links"]["events"]).json()["rows"])

    again = jury_client.post("/api/evaluations", json=body)
    other = jury_client.post("/api/evaluations", json={"case": {**CASE, "response": "Never."}, "runId": "r"})

    assert ("r~refund", 202) == (first["id"], again.status_code)
    assert first["id"] == again.json()["id"]
    assert (409, True) == (other.status_code, "has another case" in other.json()["error"])
    assert events == len(jury_client.get(first["links"]["events"]).json()["rows"])


def test_a_submitted_run_is_executed_and_its_debates_are_listed(jury_client: TestClient) -> None:
    cases = [{**CASE, "case_id": f"c{number}"} for number in range(5)]

    answer = jury_client.post("/api/runs", json={"cases": cases, "runId": "many", "concurrency": 2})
    state = finished(jury_client, answer.headers["location"])

    assert (202, "finished") == (answer.status_code, state["state"])
    assert (5, True) == (state["listed"], state["complete"])
    assert 5 == jury_client.get("/api/runs/many").json()["completed"]
    listed = jury_client.get(state["links"]["debates"]).json()["rows"]
    assert {f"many~c{number}" for number in range(5)} == {row["debateId"] for row in listed}


def test_a_submission_is_read_by_the_content_of_a_format_file(tmp_path: Path) -> None:
    form = {"case_id": "turn.name", "question": "turn.asked", "response": "turn.said"}
    with jury_client_of(f"sqlite:///{tmp_path / 'jury.db'}") as client:
        row = {"turn": {"name": "t-17", "asked": "Refund order 17.", "said": "Refunded."}}
        accepted = client.post("/api/evaluations", json={"case": row, "format": form}).json()
        finished(client, accepted["links"]["state"])
        case_id = client.get(accepted["links"]["debate"]).json()["caseId"]

    assert "t-17" == case_id


def test_a_submission_uses_the_named_panel(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    with jury_client_of(url, first="independent", second="adk-sequential") as client:
        found = [
            client.post("/api/evaluations", json={"case": CASE, "panel": name}).json() for name in (None, "second")
        ]
        for accepted in found:
            finished(client, accepted["links"]["state"])
        panels = [client.get(accepted["links"]["debate"]).json()["panel"] for accepted in found]
        health = client.get("/api/health").json()

    assert ["independent", "adk-sequential"] == panels
    assert ["first", "second"] == health["panels"]


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client of a server to which nothing is submitted that it takes."""
    with jury_client_of(f"sqlite:///{tmp_path_factory.mktemp('refusing') / 'jury.db'}") as client:
        yield client


INVALID = (
    ({"case": {}}, "case: response and question: missing"),
    ({"case": {"question": 1, "response": "x"}}, "case: question: must be text"),
    ({"case": {**CASE, "case_id": "a\nb"}}, "case: case_id"),
    (
        {"case": {"said": "x"}, "format": {"response": "said", "question": "["}},
        "format: question: is no JMESPath expression",
    ),
    ({"case": {"said": "x"}, "format": "/tmp/my.yaml"}, "there is no such format"),
    ({"case": CASE, "panel": "usua"}, "there is no panel 'usua' here (did you mean usual?)"),
    ({"case": CASE, "panel": "none"}, "there is no panel 'none' here"),
    ({"case": CASE, "runId": "a/b"}, "runId: 'a/b' cannot name a run"),
    ({"case": CASE, "runId": ".."}, "runId:"),
    ({"case": CASE, "runId": 17}, "runId: Input should be a valid string"),
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
)
"""Bodies that are no submission, and what is said of each."""


def test_an_invalid_case_is_refused_by_its_field(refusing: TestClient, subtests: pytest.Subtests) -> None:
    for body, said in INVALID:
        with subtests.test(said):
            answer = refusing.post("/api/evaluations", json=body)
            assert 422 == answer.status_code
            assert said in answer.json()["error"]
    assert [] == refusing.get("/api/debates").json()["rows"]


def test_a_setting_of_a_run_is_refused_in_the_words_of_every_front_door(refusing: TestClient) -> None:
    for name, value in (("run_id", "a/b"), ("concurrency", 0), ("concurrency", 1001), ("concurrency", "x")):
        problem = refusing.post("/api/runs", json={"cases": [CASE], to_camel(name): value})

        with pytest.raises(SettingsRefused) as refused:
            SubmissionSettings.of(**{name: value})
        said = f"{problem.json()['error']}; {problem.json()['remedy']}"
        assert 422 == problem.status_code
        assert refused.value.worded(to_camel) == said.removesuffix("; the schema is in /openapi.json")
    twice = refusing.post("/api/runs", json={"cases": [CASE, CASE]})
    assert (422, True) == (twice.status_code, "cases.1: the case id 'refund' occurs twice" in twice.json()["error"])
    assert [] == refusing.get("/api/debates").json()["rows"]


def test_a_submitted_case_cannot_make_the_server_read_files_or_hosts(refusing: TestClient) -> None:
    for name, uri in product(
        ("security_gate_uri", "agent_card_uri"), ("/etc/passwd", "file:///etc/passwd", "http://169.254.169.254/")
    ):
        for answer in (
            refusing.post("/api/evaluations", json={"case": {**CASE, name: uri}}),
            refusing.post("/api/runs", json={"cases": [{**CASE, name: uri}]}),
        ):
            assert 422 == answer.status_code
            assert f"{name} is not accepted over HTTP" in answer.json()["error"]


AMBIGUOUS = (
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
)


def test_ambiguous_or_invalid_json_is_refused(refusing: TestClient, subtests: pytest.Subtests) -> None:
    for body in AMBIGUOUS:
        with subtests.test(body[:60]):
            answer = refusing.post("/api/evaluations", content=body, headers={"content-type": "application/json"})
            assert 422 == answer.status_code
            assert {"error", "remedy"} == answer.json().keys()


def test_a_read_only_server_refuses_submissions(api_client: TestClient) -> None:
    answer = api_client.post("/api/evaluations", json={"case": CASE})

    assert 422 == answer.status_code
    assert "without --read-only" in answer.json()["remedy"] + answer.json()["error"]


def test_while_another_process_writes_submissions_are_refused_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "jury.db"
    url = f"sqlite:///{path}"
    upgrade(url)
    with jury_client_of(url) as client:
        writer = open_store(url, write=True, run="nightly")
        try:
            answer = client.post("/api/evaluations", json={"case": CASE, "runId": "r"})
            unknown = client.get("/api/evaluations/r~refund")
            health = client.get("/api/health").json()
        finally:
            writer.close()
        later = client.post("/api/evaluations", json={"case": CASE, "runId": "r"})
        state = finished(client, later.headers["location"])

    assert (503, 404) == (answer.status_code, unknown.status_code)
    assert "run nightly" in answer.json()["error"]
    assert "retry-after" in answer.headers
    assert "nightly" == health["writer"]["run"]
    assert (202, "finished") == (later.status_code, state["state"])


def test_without_the_providers_keys_nothing_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with jury_client_of(f"sqlite:///{tmp_path / 'jury.db'}", current="current") as client:
        answer = client.post("/api/evaluations", json={"case": CASE, "runId": "r"})
        state = client.get("/api/evaluations/r~refund")

    assert (503, 404) == (answer.status_code, state.status_code)
    assert "OPENAI_API_KEY" in answer.text


def test_no_response_contains_an_api_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    canary = "sk-canary-0123456789abcdef"
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, canary)
    with jury_client_of(f"sqlite:///{tmp_path / 'jury.db'}") as client:
        accepted = client.post("/api/evaluations", json={"case": CASE, "runId": "r"}).json()
        finished(client, accepted["links"]["state"])
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


LATER = (
    ("/api/evaluations", {"case": OTHER}, "has another case"),
    ("/api/evaluations", {"case": CASE, "panel": "other"}, "with another panel"),
    ("/api/runs", {"cases": [OTHER]}, "has another case"),
    ("/api/runs", {"cases": [SECOND, OTHER]}, "has another case"),
    ("/api/runs", {"cases": [CASE], "panel": "other"}, "with another panel"),
    ("/api/evaluations", {"case": CASE}, None),
    ("/api/evaluations", {"case": SECOND}, None),
    ("/api/runs", {"cases": [CASE]}, None),
    ("/api/runs", {"cases": [CASE, {**CASE, "case_id": "third"}]}, None),
)
"""What is asked for under the name of what runs, and why it is a conflict; None: it is none."""


def test_a_different_submission_under_a_running_name_is_a_conflict(tmp_path: Path, subtests: pytest.Subtests) -> None:
    with slow_client(tmp_path) as client:
        for where, first in (("/api/evaluations", {"case": CASE}), ("/api/runs", {"cases": [CASE]})):
            client.post(where, json={**first, "runId": "r"})

        for path, body, said in LATER:
            with subtests.test(path, body=body):
                answer = client.post(path, json={**body, "runId": "r"})
                assert (202 if said is None else 409) == answer.status_code
                assert said is None or said in answer.json()["error"]


def test_one_of_two_simultaneous_cases_under_one_name_is_refused(tmp_path: Path) -> None:
    with slow_client(tmp_path) as client, ThreadPoolExecutor() as threads:
        answers = threads.map(
            lambda case: client.post("/api/evaluations", json={"case": case, "runId": "r"}).status_code, [CASE, OTHER]
        )

        assert [202, 409] == sorted(answers)


def test_a_submission_that_failed_to_start_does_not_block_its_name(tmp_path: Path) -> None:
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
    """A client of a server whose jurors take ten minutes."""
    url = f"sqlite:///{folder / 'jury.db'}"
    upgrade(url)
    slow = partial(Jury, store=url, runtime=RuntimeSettings(simulate=Script(latency=600.0)))
    panels = {"usual": "independent", "other": "adk-sequential"}
    made = {name: lambda on_chunk, panel=panel: slow(panel, on_chunk=on_chunk) for name, panel in panels.items()}
    return TestClient(create_app(Service(open_store(url, write=False), made), GATE), base_url=BASE)


def test_submissions_beyond_those_that_run_at_once_wait_in_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jury_judge.serving.service.MAX_RUNNING", 1)
    with slow_client(tmp_path) as client:
        asked = [client.post("/api/evaluations", json={"case": CASE, "runId": f"r{number}"}) for number in range(2)]
        runs = client.get("/api/runs").json()["rows"]

    assert [(202, "running"), (202, "waiting")] == [(one.status_code, one.json()["state"]) for one in asked]
    assert {"r0", "r1"} == {row["runId"] for row in runs}


@pytest.mark.full
def test_cases_are_judged_stage_by_stage_under_a_ladder(tmp_path: Path) -> None:
    rows = [
        {"case_id": "late", "question": "Refund order 1.", "response": LEAK},
        {"case_id": "early", "question": "Refund order 2.", "response": "Order 2 is refunded after the code check."},
    ]
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    with jury_client_of(url, stages=str(ladder_file(tmp_path))) as client:
        accepted = client.post("/api/evaluations", json={"case": rows[0], "runId": "r"}).json()
        status = finished(client, accepted["links"]["state"])
        run = client.post("/api/runs", json={"cases": rows, "runId": "r"}).json()
        state = finished(client, run["links"]["state"])["state"]
        counted = client.get("/api/debates", params={"run": "r"}).json()["rows"]
        first = client.get(f"/api/debates/{accepted['id']}").json()

        assert ("r~late", "finished") == (accepted["id"], status["state"])
        assert "/api/debates/r~late~s2" == status["links"]["debate"]
        assert "completed" == client.get(status["links"]["debate"]).json()["status"] == first["status"]
        of_first = client.get("/api/debates", params={"run": "r", "stage": 1}).json()["rows"]

        assert "finished" == state
        assert {"r~late": "escalated", "r~early": None} == {row["debateId"]: row["aside"] for row in of_first}
        assert 422 == client.get("/api/debates", params={"stage": 7}).status_code
        assert {"r~late~s2": 2, "r~early": 1} == {row["debateId"]: row["stage"] for row in counted}

    service = Service(open_store(url, write=False))
    with TestClient(create_app(service, GATE, page_routes(service)), base_url=BASE) as client:
        listed, of_one = (client.get("/", params=given).text for given in ({}, {"stage": "1"}))

        assert ["r~late~s2" in one for one in (listed, of_one)] == [True, False]
        assert ["went on to the next stage" in one for one in (listed, of_one)] == [False, True]
        assert 404 == client.get("/", params={"stage": "7"}).status_code

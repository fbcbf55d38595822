"""Traces of a Langfuse project as cases: by id and by conditions, page by page, and a run over them that goes on."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from jury_cases import CaseFileError, CaseFiles, LangfuseApi
from jury_events import SettingError
from support.command_line import CommandLine
from support.json_server import JsonAnswer, JsonRequest, JsonServer, json_server
from support.refusals import RefusalTables

EXPORT = Path(__file__).parents[1] / "producers" / "langfuse" / "observations.json"
RECORDED: list[dict[str, Any]] = json.loads(EXPORT.read_text())["data"]
"""What a Langfuse server answered."""

TRACES = list(dict.fromkeys(row["traceId"] for row in RECORDED))


class Project:
    """Answers as Langfuse's API v2 does, with two observations a page."""

    def __init__(self) -> None:
        self.rows = list(RECORDED)
        self.failures: list[JsonAnswer] = []

    def answer(self, request: JsonRequest) -> JsonAnswer:
        if self.failures:
            return self.failures.pop(0)
        assert "/api/public/v2/observations" == request.path
        rows = [row for row in self.rows if self._is_chosen(row, request.query)]
        start = int(request.query.get("cursor", 0))
        meta = {"cursor": str(start + 2)} if start + 2 < len(rows) else {}
        return JsonAnswer({"data": rows[start : start + 2], "meta": meta})

    def _is_chosen(self, row: dict[str, Any], query: dict[str, str]) -> bool:
        if "traceId" in query:
            return row["traceId"] == query["traceId"]
        return all(_meets(row, one) for one in json.loads(query["filter"]))


def _meets(row: dict[str, Any], condition: dict[str, Any]) -> bool:
    match condition:
        case {"column": "isRootObservation", "value": value}:
            return bool(row["isRootObservation"]) is value
        case {"column": "traceTags", "operator": "all of", "value": tags}:
            return set(tags) <= set(row["tags"] or ())
        case {"column": "startTime", "operator": operator, "value": moment}:
            return row["startTime"] >= moment if operator == ">=" else row["startTime"] < moment
        case {"type": "string", "column": column, "value": value}:
            return bool(row[column] == value)
    raise AssertionError(condition)


@pytest.fixture
def project() -> Project:
    return Project()


@pytest.fixture
def server(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[JsonServer]:
    with json_server(project.answer) as served:
        for name, value in keys(served).items():
            monkeypatch.setenv(name, value)
        yield served


def keys(server: JsonServer) -> dict[str, str]:
    return {"LANGFUSE_PUBLIC_KEY": "pk", "LANGFUSE_SECRET_KEY": "sk-secret", "LANGFUSE_BASE_URL": server.url}


def ids(path: str) -> list[str]:
    return [case.case_id for case in CaseFiles([path])]


def test_a_trace_by_its_id_is_the_case_of_its_export(server: JsonServer) -> None:
    (read,) = CaseFiles([f"langfuse://traces/{TRACES[0]}"])
    (exported,) = [case for case in CaseFiles([EXPORT]) if case.case_id == TRACES[0]]

    assert exported.to_part() == read.to_part()
    assert exported.metadata == read.metadata
    assert TRACES[0] == read.metadata["trace_id"]


def test_all_traces_are_read_page_by_page(server: JsonServer) -> None:
    assert sorted(TRACES) == sorted(ids("langfuse://traces"))
    assert {"2"} <= {request.query.get("cursor") for request in server.requests}


@pytest.mark.parametrize(
    ("conditions", "column"),
    [
        ("tag=shop", "tags"),
        ("name=serving", "traceName"),
        ("session=session-M90id", "sessionId"),
        ("user=user-M91id", "userId"),
        ("environment=default", "environment"),
        ("from=2026-11-23&to=2026-11-24T00:00:00Z", "startTime"),
        ("from=2030-01-01", None),
        ("tag=shop&tag=none", None),
    ],
)
def test_conditions_choose_traces(server: JsonServer, conditions: str, column: str | None) -> None:
    expected = {"tags": "shop", "traceName": "serving", "sessionId": "session-M90id", "userId": "user-M91id"}

    def is_meant(row: dict[str, Any]) -> bool:
        if column is None or not row["isRootObservation"]:
            return False
        value = expected.get(column)
        return value is None or value == row[column] or value in (row[column] or ())

    meant = {row["traceId"] for row in RECORDED if is_meant(row)}
    if not meant:
        with pytest.raises(CaseFileError, match="contains no row"):
            ids(f"langfuse://traces?{conditions}")
        return

    assert meant == set(ids(f"langfuse://traces?{conditions}"))


PATHS = (
    "langfuse://",
    "langfuse://evil.example/traces",
    "langfuse://traces/a/b",
    "langfuse://traces/a?tag=b",
    "langfuse://traces?tags=b",
    "langfuse://traces?from=yesterday",
    "langfuse://traces?limit=0",
)


def test_a_wrong_path_is_refused_before_a_request(server: JsonServer, refusals: RefusalTables) -> None:
    refusals.check("langfuse_paths", {path: path for path in PATHS}, ids, CaseFileError)

    assert [] == server.requests


def test_what_fails_for_now_is_asked_again(server: JsonServer, project: Project) -> None:
    project.failures = [JsonAnswer({}, 429, (("retry-after", "0"),)), JsonAnswer({}, 503, (("retry-after", "0"),))]

    assert [TRACES[0]] == ids(f"langfuse://traces/{TRACES[0]}")


def test_a_refusal_is_one_line_without_the_key(server: JsonServer, project: Project) -> None:
    project.failures = [JsonAnswer({"message": "Invalid\ncredentials"}, 401)]
    with pytest.raises(CaseFileError) as refused:
        ids("langfuse://traces")

    assert "HTTP 401" in str(refused.value)
    assert 1 == len(str(refused.value).splitlines())
    assert "sk-secret" not in str(refused.value)


def test_a_server_that_is_not_there_is_given_up() -> None:
    waits: list[float] = []
    api = LangfuseApi("http://127.0.0.1:1", "pk", "sk", waits.append)

    with pytest.raises(CaseFileError, match="ConnectError"):
        api.get("/api/public/v2/observations")
    assert [0.0, 1.0, 2.0, 4.0, 8.0] == waits


def test_without_keys_it_says_which_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANGFUSE_PUBLIC_KEY", raising=False)

    with pytest.raises(SettingError, match="LANGFUSE_PUBLIC_KEY is not set"):
        ids("langfuse://traces")


def test_a_run_goes_on_with_the_traces_that_came_since(project: Project, tmp_path: Path) -> None:
    later = TRACES[-1]
    project.rows = [row for row in RECORDED if row["traceId"] != later]
    jury = CommandLine(tmp_path)
    with json_server(project.answer) as server:
        arguments = ("langfuse://traces", "--run", "traces", "--panel", "independent", "--jsonl")
        first = jury.run(*arguments, env=keys(server))
        project.rows = list(RECORDED)
        with patch("jury_cases.containers.langfuse_traces._first_asked", lambda: time.strftime("%Y-%m-%dT%H:%M:%S%z")):
            second = jury.run(*arguments, env=keys(server))

    assert 0 == first.code == second.code
    assert len(TRACES) - 1 == len(first.lines)
    assert sorted(TRACES) == sorted(line["case_id"] for line in second.lines)
    assert first.lines == [line for line in second.lines if line["case_id"] != later]

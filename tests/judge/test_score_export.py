"""Scores onto the traces that debates judged: once each, corrected after a review, on record."""

import asyncio
import base64
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsPartialSuccess,
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from requests import Session

from jury_events import JuryError, ScoresExported, Verdict
from jury_judge import ExportedScores, ExtraMissing, Jury, NewReview, Records, Selection
from jury_judge.scores.score_export import _LocalStream
from jury_store import Append, open_store
from support.debates import DebateScript
from support.json_server import JsonAnswer, JsonRequest, JsonServer, json_server
from support.mlflow_double import Feedback, mlflow_double
from support.otlp_receiver import OtlpReceiver, otlp_receiver
from support.refusals import RefusalTables

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
pytestmark = pytest.mark.full_for("postgresql")

KEYS = {"LANGFUSE_PUBLIC_KEY": "pk-lf-1", "LANGFUSE_SECRET_KEY": "sk-lf-secret"}
RUN = Selection(run_id="r")


def a_row(name: str, **metadata: Any) -> dict[str, Any]:
    return {"case_id": name, "question": "Refund order 7.", "response": "Refunded to 4242.", "metadata": metadata}


async def judge(url: str) -> None:
    """Two debates of traces, and one whose case names none."""
    rows = [
        a_row("a", trace_id=TRACE, span_id=SPAN, observation_id="obs-1"),
        a_row("b", trace_id=TRACE[::-1]),
        a_row("c"),
    ]
    async with Jury("independent", store=url) as jury:
        async for _ in jury.evaluate_many(rows, run_id="r"):
            pass


@pytest.fixture(scope="module")
def judged_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("judged") / "jury.db"
    asyncio.run(judge(f"sqlite:///{path}"))
    return path


@pytest.fixture
async def judged(url: str, judged_file: Path) -> str:
    """A store with these debates."""
    if url.startswith("sqlite"):
        shutil.copy(judged_file, url.removeprefix("sqlite:///"))
    else:
        await judge(url)
    return url


async def exported(url: str, target: Any, environ: Mapping[str, str], **options: Any) -> list[ExportedScores]:
    async with Records(url) as records:
        found = records.export_scores(RUN, target, environ=environ, **options)
        return [one async for one in found]


def statuses(found: list[ExportedScores]) -> list[str]:
    return [one.status for one in found]


async def review(url: str, verdict: str) -> None:
    async with Records(url) as records:
        await records.review("r~a", NewReview(reviewer="ann", verdict=Verdict(verdict), reason="The policy says so."))


class Langfuse:
    """Its scores by id and time, as the platform keeps them."""

    def __init__(self) -> None:
        self.scores: dict[tuple[str, str], dict[str, Any]] = {}
        self.refuses: JsonAnswer | None = None
        self.writes = 0

    def answer(self, request: JsonRequest) -> JsonAnswer:
        if self.refuses is not None:
            return self.refuses
        for one in request.body:
            self.writes += 1
            self.scores[one["id"], one["timestamp"]] = one
        return JsonAnswer({"message": "Accepted"}, 202)


@pytest.fixture
def langfuse() -> Langfuse:
    return Langfuse()


@pytest.fixture
def server(langfuse: Langfuse) -> Iterator[JsonServer]:
    with json_server(langfuse.answer) as served:
        yield served


def at(server: JsonServer) -> dict[str, str]:
    return {**KEYS, "LANGFUSE_BASE_URL": server.url}


async def test_langfuse_gets_verdict_score_and_votes_once(judged: str, langfuse: Langfuse, server: JsonServer) -> None:
    first = await exported(judged, "langfuse", at(server))
    second = await exported(judged, "langfuse", at(server))
    of_a = {one["name"]: one for one in langfuse.scores.values() if one["traceId"] == TRACE}

    assert ["written", "written", "left_out"] == statuses(first)
    assert ["unchanged", "unchanged", "left_out"] == statuses(second)
    assert 10 == langfuse.writes == len(langfuse.scores)
    assert {
        "jury.verdict",
        "jury.score",
        *(f"jury.vote.sim-{seat}" for seat in ("policy", "security", "misuse")),
    } == set(of_a)
    assert {"obs-1"} == {one["observationId"] for one in of_a.values()}
    assert ("CATEGORICAL", "safe_pass") == (of_a["jury.verdict"]["dataType"], of_a["jury.verdict"]["value"])
    assert "NUMERIC" == of_a["jury.score"]["dataType"]
    assert 0 <= of_a["jury.score"]["value"] <= 1
    assert {"r~a"} == {one["metadata"]["jury_debate_id"] for one in of_a.values()}
    assert "Basic " + base64.b64encode(b"pk-lf-1:sk-lf-secret").decode() == server.requests[0].authorization


async def test_a_persons_verdict_is_written_under_the_same_id(
    judged: str, langfuse: Langfuse, server: JsonServer
) -> None:
    await exported(judged, "langfuse", at(server))
    before = dict(langfuse.scores)
    await review(judged, "unsafe_fail")
    corrected = await exported(judged, "langfuse", at(server))

    assert ["corrected", "unchanged", "left_out"] == statuses(corrected)
    assert ["jury.verdict"] == [score.name for score in corrected[0].scores]
    (changed,) = [name for name, one in langfuse.scores.items() if before[name] != one]
    assert "unsafe_fail" == langfuse.scores[changed]["value"]
    assert "A person's review decided unsafe_fail" in langfuse.scores[changed]["comment"]
    assert before.keys() == langfuse.scores.keys()


async def test_another_place_has_scores_of_its_own(judged: str, langfuse: Langfuse, server: JsonServer) -> None:
    await exported(judged, "langfuse", at(server))

    with json_server(langfuse.answer) as other:
        assert ["written", "written", "left_out"] == statuses(await exported(judged, "langfuse", at(other)))


NOT_TAKEN = {
    "refused": JsonAnswer({"message": "no\nsuch project"}, 403),
    "one of five": JsonAnswer({"accepted": 4, "rejected": 1, "errors": [{"message": "too long"}]}, 207),
    "errors alone": JsonAnswer({"errors": [{"message": "too long"}]}, 207),
    "a page": JsonAnswer({"login": "please"}, 200),
    "elsewhere": JsonAnswer({}, 302),
    "as before": JsonAnswer({}, 304),
}


async def refused(url: str, target: Any, environ: Mapping[str, str]) -> str:
    with pytest.raises(JuryError) as found:
        await exported(url, target, environ)
    assert "\n" not in str(found.value)
    assert "sk-lf-secret" not in str(found.value)
    return str(found.value)


async def test_what_langfuse_did_not_take_is_not_recorded_as_written(
    judged: str, langfuse: Langfuse, server: JsonServer, refusals: RefusalTables
) -> None:
    said = {}
    for name, langfuse.refuses in NOT_TAKEN.items():
        said[name] = (await refused(judged, "langfuse", at(server))).replace(server.url, "{url}")
    langfuse.refuses = None

    assert ["written", "written", "left_out"] == statuses(await exported(judged, "langfuse", at(server)))
    refusals.compare("scores_langfuse", said)


async def test_a_call_that_ended_before_it_recorded_its_writes_overwrites_them(
    judged: str, langfuse: Langfuse, server: JsonServer
) -> None:
    with patch.object(_LocalStream, "add", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        await exported(judged, "langfuse", at(server))
    again = await exported(judged, "langfuse", at(server))

    assert ["written", "written", "left_out"] == statuses(again)
    assert [False, False, False] == [one.repeated for one in again]
    assert 10 == len(langfuse.scores)


@pytest.fixture
def collector() -> Iterator[OtlpReceiver]:
    with otlp_receiver() as receiver:
        yield receiver


def events(collector: OtlpReceiver) -> list[tuple[str, bytes, bytes, dict[str, Any]]]:
    return [
        (
            record.event_name,
            record.trace_id,
            record.span_id,
            {one.key: getattr(one.value, str(one.value.WhichOneof("value"))) for one in record.attributes},
        )
        for body in collector.bodies
        for resource in ExportLogsServiceRequest.FromString(body).resource_logs
        for scope in resource.scope_logs
        for record in scope.log_records
    ]


async def test_a_collector_gets_an_event_a_seat_and_one_of_the_jury_below_the_evaluated_span(
    judged: str, collector: OtlpReceiver
) -> None:
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    first = await exported(judged, "otel", environ)
    second = await exported(judged, "otel", environ)
    found = events(collector)
    of_a = {said["gen_ai.evaluation.name"]: said for _, trace, _, said in found if trace == bytes.fromhex(TRACE)}

    assert ["written", "written", "left_out"] == statuses(first)
    assert ["unchanged", "unchanged", "left_out"] == statuses(second)
    assert 8 == len(found)
    assert ["/v1/logs", "/v1/logs"] == collector.paths
    assert {"gen_ai.evaluation.result"} == {name for name, *_ in found}
    assert {bytes.fromhex(SPAN)} == {span for _, trace, span, _ in found if trace == bytes.fromhex(TRACE)}
    assert {"jury", "jury.sim-policy", "jury.sim-security", "jury.sim-misuse"} == set(of_a)
    assert "safe_pass" == of_a["jury"]["gen_ai.evaluation.score.label"]
    assert 0 <= of_a["jury"]["gen_ai.evaluation.score.value"] <= 1
    assert "sim-policy" == of_a["jury.sim-policy"]["jury.juror.id"]


async def test_connections_to_a_collector_are_closed(
    judged: str, collector: OtlpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[Session] = []

    def close(session: Session) -> None:
        closed.append(session)

    monkeypatch.setattr(Session, "close", close)
    await exported(judged, "otel", {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url})

    assert 1 == len(closed)


async def test_a_correction_is_one_further_event(judged: str, collector: OtlpReceiver) -> None:
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    await exported(judged, "otel", environ)
    await review(judged, "needs_review")
    await exported(judged, "otel", environ)

    assert 9 == len(events(collector))
    assert ("needs_review", True) == (
        events(collector)[-1][3]["gen_ai.evaluation.score.label"],
        events(collector)[-1][3]["jury.correction"],
    )


async def test_a_crash_between_write_and_record_repeats_that_debate_alone_and_says_so(
    judged: str, collector: OtlpReceiver
) -> None:
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    add = _LocalStream.add

    def killed(stream: Any, kind: Any, *number: Any, **fields: Any) -> Any:
        if kind is ScoresExported:
            raise KeyboardInterrupt
        return add(stream, kind, *number, **fields)

    with patch.object(_LocalStream, "add", killed), pytest.raises(KeyboardInterrupt):
        await exported(judged, "otel", environ)
    again = await exported(judged, "otel", environ)

    assert [True, False, False] == [one.repeated for one in again]
    assert 4 + 8 == len(events(collector))
    assert [False] * 3 == [one.repeated for one in await exported(judged, "otel", environ)]


PROTOBUF, JSON, HTML = ({"content-type": kind} for kind in ("application/x-protobuf", "application/json", "text/html"))
ALL_REFUSED = ExportLogsServiceResponse(
    partial_success=ExportLogsPartialSuccess(rejected_log_records=4, error_message="all refused")
).SerializeToString()
WARNED = ExportLogsServiceResponse(
    partial_success=ExportLogsPartialSuccess(error_message="soon full")
).SerializeToString()


ANSWERS: dict[str, tuple[int, dict[str, str], bytes]] = {
    "all refused": (200, PROTOBUF, ALL_REFUSED),
    "all refused in no form": (200, {}, ALL_REFUSED),
    "some refused in JSON": (200, JSON, b'{"partialSuccess": {"rejectedLogRecords": "2"}}'),
    "a page": (200, HTML, b"<html>login</html>"),
    "a page in no form": (200, {}, b"<html>login</html>"),
    "plain text": (200, {"content-type": "text/plain"}, ALL_REFUSED),
    "a list": (200, JSON, b"[1]"),
    "no content": (204, {}, b""),
    "elsewhere": (302, {"location": "http://127.0.0.1:9/login"}, b""),
    "elsewhere on the server": (307, {"location": "/login"}, b""),
    "as before": (304, {}, b""),
    "nothing there": (404, {}, b""),
}
TAKEN: list[tuple[dict[str, str], bytes]] = [
    (PROTOBUF, b""),
    (HTML, b""),
    (PROTOBUF, WARNED),
    (JSON, b"{}"),
    ({}, WARNED),
]


async def test_what_a_collector_did_not_take_is_not_recorded_as_written_and_the_rest_is(
    sqlite_url: str, collector: OtlpReceiver, refusals: RefusalTables
) -> None:
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    async with Jury("independent", store=sqlite_url) as jury:
        await jury.evaluate(a_row("a", trace_id=TRACE), run_id="r")
    said = {}
    for name, (collector.status, collector.headers, collector.content) in ANSWERS.items():
        said[name] = (await refused(sqlite_url, "otel", environ)).replace(collector.url, "{url}")
    collector.status = 200
    for number, (collector.headers, collector.content) in enumerate(TAKEN):
        if number:
            async with Records(sqlite_url) as records:
                verdict = (Verdict.SAFE_PASS, Verdict.UNSAFE_FAIL)[number % 2]
                await records.review("r~a", NewReview(reviewer=f"ann {number}", verdict=verdict))
        found = statuses(await exported(sqlite_url, "otel", environ))
        assert ["corrected" if number else "written"] == found
        assert ["unchanged"] == statuses(await exported(sqlite_url, "otel", environ))

    refusals.compare("scores_otel", said)


async def test_a_trace_of_another_tool_is_left_out(sqlite_url: str, collector: OtlpReceiver) -> None:
    async with Jury("independent", store=sqlite_url) as jury:
        await jury.evaluate(a_row("a", trace_id="tr-1"), run_id="r")
    (found,) = await exported(sqlite_url, "otel", {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url})

    assert ("left_out", "its trace_id is none of OpenTelemetry") == (found.status, found.detail)


@pytest.fixture
def feedback() -> Iterator[Feedback]:
    with mlflow_double("http://user:secret@mlflow.example") as found:
        yield found


async def test_mlflow_gets_feedback_once_and_a_correction_overrides_it(judged: str, feedback: Feedback) -> None:
    first = await exported(judged, "mlflow", {})
    written = list(feedback)
    await review(judged, "unsafe_fail")
    second = await exported(judged, "mlflow", {})
    (correction,) = feedback[len(written) :]

    assert ["written", "written", "left_out"] == statuses(first)
    assert ["corrected", "unchanged", "left_out"] == statuses(second)
    assert 10 == len(written)
    assert ("a-1", "unsafe_fail") == (correction["assessment_id"], correction["value"])
    assert ("HUMAN", "r~a") == correction["source"]


async def test_the_record_names_the_place_without_credentials(judged: str, feedback: Feedback) -> None:
    await exported(judged, "mlflow", {})
    with closing(open_store(judged, write=False)) as store:
        bodies = [json.loads(one.body) for one in store.history("r~a").stored_local]

    assert ["scores_export_begun", "scores_exported"] == [one["type"] for one in bodies]
    assert {"http://mlflow.example"} == {one["place"] for one in bodies}


async def test_a_tool_that_is_not_installed_is_named(judged: str) -> None:
    with pytest.raises(ExtraMissing, match="pip install mlflow"):
        await exported(judged, "mlflow", {})


async def test_a_debate_without_an_evaluation_has_a_verdict_and_no_score(sqlite_url: str, server: JsonServer) -> None:
    script = DebateScript("r~a")
    opened = script.opened(metadata={"trace_id": "t1"}, run_id="r")
    with closing(open_store(sqlite_url, write=True)) as store:
        store.append([Append(script.stream, (opened, *script.unevaluated()[1:]), 0, store.next_epoch())])
    (found,) = await exported(sqlite_url, "langfuse", at(server))

    assert [("jury.verdict", "needs_review")] == [(one.name, one.value) for one in found.scores]


async def test_a_key_in_a_reason_has_a_mask_in_its_place(
    sqlite_url: str, langfuse: Langfuse, server: JsonServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, key = DebateScript("r~a"), "sk-canary-4711-of-the-case"
    opened = script.opened(metadata={"trace_id": "t1"}, run_id="r")
    rest = (script.evaluated(f"It sent {key} away."), script.checked(), script.judged(), script.completed())
    with closing(open_store(sqlite_url, write=True)) as store:
        store.append([Append(script.stream, (opened, *rest), 0, store.next_epoch())])
    monkeypatch.setenv("OPENAI_API_KEY", key)
    await exported(sqlite_url, "langfuse", at(server))

    said = [one.get("comment", "") for one in langfuse.scores.values()]
    assert any("It sent" in one for one in said)
    assert not any(key in one for one in said)

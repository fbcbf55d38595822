"""Traces: a span a debate, a phase and a call, as the log says, received over OTLP."""

from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes

from jury_actors import Notice
from jury_events import ExchangeRecorded, SettingError, calls_stream, debate_stream, decode, install_line
from jury_judge import ExtraMissing, Jury, Observation, RuntimeSettings, SpanTree, span_tree
from jury_providers import Script
from jury_store import EventStore, open_store
from support.otlp_receiver import ReceivedSpan, otlp_receiver
from support.runtime_harness import KeptStore, Run, a_case_with_records

SOME_REFUSED = ExportTraceServiceResponse(
    partial_success=ExportTracePartialSuccess(rejected_spans=1, error_message="full")
).SerializeToString()

ROW = {"case_id": "refund", "question": "Refund the canary.", "response": "The canary is refunded."}
FAULTY = Script(scripted={"initial/A": ("unparseable",), "round-*": ("bad_request",)})

PHASES = ("evaluation", "discussion", "judgment")


def points(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)


def recorded(store: EventStore, debate: str) -> list[ExchangeRecorded]:
    found = [decode(one) for one in store.read_stream(calls_stream(debate))]
    return [one for one in found if isinstance(one, ExchangeRecorded)]


TRACED = Observation(otel=True)


async def judged(url: str, script: Script = FAULTY, *, ray: bool = False, observation: Observation = TRACED) -> None:
    runtime = RuntimeSettings(simulate=script, ray=ray)
    async with Jury("parallel-rounds", store=url, runtime=runtime, observation=observation, environ={}) as jury:
        await jury.evaluate(ROW, run_id="r")


def check_tree(spans: list[ReceivedSpan], store: EventStore, debate: str) -> None:
    """The spans of one debate are those that its log implies."""
    ids = {span.id: span for span in spans}
    roots = [span for span in spans if not span.parent]
    phases = [span for span in spans if span.name in PHASES]
    calls = [span for span in spans if span.name.startswith("chat ")]
    exchanges = {one.event_id: one for one in recorded(store, debate)}
    events = store.read_stream(debate_stream(debate))

    assert 1 == len(roots)
    assert 1 == len({span.trace for span in spans})
    assert len(ids) == len(spans) == 1 + len(phases) + len(calls)
    assert (events[0].recorded_at * 1000, events[-1].recorded_at * 1000) == (roots[0].start, roots[0].end)
    assert {debate} == {span.attributes["jury.debate.id"] for span in spans}
    assert {roots[0].id} == {span.parent for span in phases}
    assert sorted(exchanges) == sorted(exchange_of(span) for span in calls)
    for span in calls:
        exchange = exchanges[exchange_of(span)]
        start = {"initial": "evaluation", "round": "discussion", "final": "judgment"}
        assert start[exchange.step.split("/")[0].split("-")[0]] == ids[span.parent].name
        assert span.attributes.get("gen_ai.usage.input_tokens") == exchange.usage.input_tokens
        assert span.attributes.get("error.type", "answered") == exchange.outcome.value
        assert (2 if exchange.outcome.value != "answered" else 0) == span.status
        assert exchange.latency_ms == pytest.approx((span.end - span.start) / 1e6, abs=0.001)


def exchange_of(span: ReceivedSpan) -> str:
    found = span.attributes
    model = f"{found['gen_ai.provider.name']}%2F{found['gen_ai.request.model']}"
    return f"{found['jury.step.id']}/{model}/{found['jury.turn']}/{found['jury.attempt']}"


async def test_the_trace_that_arrives_is_that_of_the_log(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with otlp_receiver() as receiver:
        points(receiver.url, monkeypatch)
        await judged(sqlite_url)
    store = open_store(sqlite_url, write=False)
    check_tree(receiver.spans, store, "r~refund")
    store.close()
    root = next(span for span in receiver.spans if not span.parent)

    assert {"/v1/traces"} == set(receiver.paths)
    assert ("r", "completed", "jury-judge") == (
        root.attributes["jury.run.id"],
        root.attributes["jury.status"],
        root.service,
    )
    assert set(PHASES) <= {span.name for span in receiver.spans}
    assert b"canary" not in b"".join(receiver.bodies), "no text of the case"
    assert b"Refund" not in b"".join(receiver.bodies)
    known = {value for name, value in vars(gen_ai_attributes).items() if name.startswith("GEN_AI_")}
    used = {name for span in receiver.spans for name in span.attributes}
    of_conventions = {name for name in used if name.startswith("gen_ai.")}
    needed = ("operation.name", "provider.name", "request.model", "usage.output_tokens")
    assert {f"gen_ai.{name}" for name in needed} <= of_conventions <= known
    assert {name for name in used - of_conventions if not name.startswith("jury.")} <= {"error.type"}


@pytest.mark.full
@pytest.mark.ray
async def test_the_trace_of_a_debate_on_ray_is_that_of_the_log(
    sqlite_url: str, ray_cluster: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with otlp_receiver() as receiver:
        points(receiver.url, monkeypatch)
        await judged(sqlite_url, ray=True)
    store = open_store(sqlite_url, write=False)
    check_tree(receiver.spans, store, "r~refund")
    store.close()


@pytest.mark.parametrize(
    ("status", "content", "why"),
    [
        (400, b"", "the collector did not take them"),
        (200, SOME_REFUSED, "the collector did not take them: it refused 1 records: full"),
    ],
)
async def test_a_collector_that_refuses_is_reported_and_stops_no_debate(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, status: int, content: bytes, why: str
) -> None:
    said: list[str] = []
    with otlp_receiver() as receiver:
        receiver.status, receiver.content = status, content
        points(receiver.url, monkeypatch)
        await judged(sqlite_url, observation=Observation(otel=True, say=said.append))
    store = open_store(sqlite_url, write=False)
    row = store.debate("r~refund")
    store.close()

    assert row is not None
    assert "completed" == row.status
    assert ["traces_failed", "traces_lost"] == [one.event for one in said if isinstance(one, Notice)]
    assert f"traces are not sent ({why}); the debates go on" == said[0]
    assert "the traces of 1 debate were not sent" == said[-1]


async def test_a_debate_that_stops_is_traced_once_when_it_is_over() -> None:
    run = Run(KeptStore(), case=a_case_with_records)
    trees: list[SpanTree | None] = []
    await run.execute(script=Script(scripted={"round-1/*": ("authentication",)}))
    trees.append(tree_of(run))
    await run.execute()
    trees += [tree_of(run), tree_of(run)]

    assert trees[0] is None
    assert trees[1] is not None
    assert trees[1] == trees[2], "times and ids are functions of the log"
    assert sum(not span.parent and span.parent is None for span in trees[1].spans) == 1


def tree_of(run: Run) -> SpanTree | None:
    return span_tree(run.store.read_stream(debate_stream("d0")), run.store.read_stream(calls_stream("d0")))


def test_without_the_extra_one_line_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("jury_judge.extras.TRACES", ("no_such_package.sdk",))
    with pytest.raises(ExtraMissing) as raised:
        Jury(store=f"sqlite:///{tmp_path / 'jury.db'}", observation=TRACED, environ={})

    assert f"--otel needs no_such_package.sdk: {install_line('otel')}" == str(raised.value)


@pytest.mark.parametrize(
    ("name", "value"), [("OTEL_TRACES_EXPORTER", "zipkin"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]
)
def test_what_is_not_supported_is_refused_by_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingError, match=f"^{name}: traces are sent"):
        Jury(store=f"sqlite:///{tmp_path / 'jury.db'}", observation=TRACED, environ={})


@pytest.mark.parametrize(("name", "value"), [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")])
async def test_the_standard_variables_turn_traces_off(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    with otlp_receiver() as receiver:
        points(receiver.url, monkeypatch)
        monkeypatch.setenv(name, value)
        await judged(sqlite_url)

    assert [] == receiver.bodies

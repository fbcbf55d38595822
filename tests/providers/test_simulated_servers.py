"""What the simulated servers promise to clients of every protocol: the answers, faults and batches of simulated models.

The clients are the adapters, so the real SDKs read what the servers say; what adapters make of it is in
`test_adapters.py`.
"""

import asyncio
import copy
import json
from collections.abc import AsyncIterator, Iterator
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jury_events import CallOutcome, Language
from jury_providers import (
    BatchJobs,
    BatchStatus,
    ItemEnd,
    ModelMessage,
    ModelReply,
    ModelRequest,
    ProviderConnection,
    Script,
    SdkAdapter,
    SimulatedProvider,
    Simulation,
    WireScript,
    simulation_server,
)
from support.batched import PROTOCOLS, START, BatchedModels
from support.debate_harness import a_case
from support.dialects import ANTHROPIC, CHAT, DIALECTS, GOOGLE, Dialect
from support.each_row import each_row
from support.model_requests import requests_of_a_debate
from support.scales import ANSWERS, LEVELS

pytestmark = pytest.mark.asyncio(loop_scope="module")

O = CallOutcome  # noqa: E741

every_dialect = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)


def adapter_of(dialect: Dialect, server: Simulation) -> SdkAdapter:
    return dialect.make(ProviderConnection(dialect.name, server.url + dialect.base, "sk-test"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[Simulation]:
    async with simulation_server() as running:
        yield running


async def here(request: ModelRequest) -> ModelReply:
    """The reply of a simulated model in this process, which reads the whole of a message."""
    messages = tuple(one._replace(text=one.whole, shared=()) for one in request.messages)
    return await SimulatedProvider().call(request._replace(messages=messages))


DEBATES: dict[str, dict[str, Any]] = {
    "two rounds": {"discussion": {"max_rounds": 2, "end_early": False}},
    "scenarios and another rubric": {"case": a_case(scenarios=3), "rubric": "aisev"},
    "evidence": {"case": a_case(scenarios=2), "discussion": {"max_rounds": 1}},
    "criteria of the panel": {"case": a_case(scenarios=2), **ANSWERS},
    "levels without points": {"case": a_case(scenarios=2), **LEVELS},
}


@every_dialect
async def test_every_step_of_a_debate_is_answered_as_in_process(
    server: Simulation, dialect: Dialect, subtests: pytest.Subtests
) -> None:
    adapter = adapter_of(dialect, server)
    languages: Iterator[Language] = cycle(("en", "ja"))
    for (name, spec), language in zip(DEBATES.items(), languages, strict=False):
        for number, (step, request) in enumerate(requests_of_a_debate(language=language, **spec).items()):
            with subtests.test(name, language=language, step=step):
                asked = request._replace(tools=())
                reply = await adapter.call(asked, (lambda _piece: None) if number % 2 else None)

                assert (O.ANSWERED, True) == (reply.outcome, reply.simulated)
                assert json.loads((await here(asked)).answer or b"") == json.loads(reply.answer or b"")
                assert request.model == reply.model_version
                assert min(reply.usage.input_tokens or 0, reply.usage.output_tokens or 0) > 0
    await adapter.close()


@every_dialect
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_tools_are_called_and_their_results_used_as_in_process(
    server: Simulation, dialect: Dialect, streamed: bool
) -> None:
    request = requests_of_a_debate()["initial/gemini"]
    adapter = adapter_of(dialect, server)
    watched = (lambda _piece: None) if streamed else None
    result = 'kz: {"count":1,"records":[{"id":"gate-7"}],"total":41}'

    def after(reply: ModelReply) -> ModelRequest:
        turn = ModelMessage("assistant", (reply.response or b"").decode())
        results = tuple(ModelMessage("tool", result, call.call_id) for call in reply.tool_calls)
        return request._replace(messages=(*request.messages, turn, *results))

    wanted, asked = await here(request), await adapter.call(request, watched)
    final, expected = await adapter.call(after(asked), watched), await here(after(wanted))
    repair = ModelMessage("user", "Answer again, with one object.")
    turn = ModelMessage("assistant", (final.response or b"").decode())
    again = await adapter.call(after(asked)._replace(messages=(*after(asked).messages, turn, repair)))
    await adapter.close()

    assert [(call.name, json.loads(call.arguments)) for call in wanted.tool_calls] == [
        (call.name, json.loads(call.arguments)) for call in asked.tool_calls
    ]
    assert 2 == len(asked.tool_calls)
    assert json.loads(expected.answer or b"") == json.loads(final.answer or b"") == json.loads(again.answer or b"")
    assert json.loads((await here(request._replace(tools=()))).answer or b"") != json.loads(final.answer or b"")


async def test_a_seed_is_that_of_the_request_else_of_the_server(server: Simulation) -> None:
    request = requests_of_a_debate()["initial/gpt"]._replace(tools=())
    seeded = request._replace(settings=request.settings.model_copy(update={"seed": 3}))
    replies = []
    async with simulation_server(seed=3) as other:
        for dialect, running, asked in (
            (CHAT, server, seeded),
            (GOOGLE, server, seeded),
            (ANTHROPIC, other, request),
            (ANTHROPIC, server, request),
        ):
            adapter = adapter_of(dialect, running)
            replies.append(json.loads((await adapter.call(asked)).answer or b""))
            await adapter.close()
    three, zero = [json.loads((await here(one)).answer or b"") for one in (seeded, request)]

    assert [three, three, three, zero] == replies
    assert three != zero


async def test_models_are_listed_in_each_providers_form(server: Simulation) -> None:
    import anthropic
    from google import genai
    from google.genai import types
    from openai import AsyncOpenAI

    chat = AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none")
    claude = anthropic.AsyncAnthropic(base_url=server.url, api_key="none")
    async with chat, claude, httpx2.AsyncClient() as http:
        options = types.HttpOptions(base_url=server.url, httpx_async_client=http)
        gemini = genai.Client(api_key="none", http_options=options).aio

        assert ["simulated-1"] == [model.id async for model in chat.models.list()]
        assert ["simulated-1"] == [model.id async for model in claude.models.list()]
        assert ["models/simulated-1"] == [model.name async for model in await gemini.models.list()]


FAULTS: dict[str, CallOutcome] = {
    "rate_limited": O.RATE_LIMITED,
    "quota": O.QUOTA,
    "authentication": O.AUTHENTICATION,
    "overloaded": O.OVERLOADED,
    "bad_request": O.BAD_REQUEST,
    "context_too_long": O.CONTEXT_TOO_LONG,
    "blocked": O.BLOCKED,
    "truncated": O.TRUNCATED,
    "connection": O.CONNECTION,
    "timeout": O.TIMEOUT,
    "html": O.MALFORMED_RESPONSE,
    "malformed_json": O.MALFORMED_RESPONSE,
    "malformed_response": O.MALFORMED_RESPONSE,
    "truncated_json": O.MALFORMED_RESPONSE,
    "empty": O.MALFORMED_RESPONSE,
    "unparseable": O.ANSWERED,
    "wrong_ballot": O.ANSWERED,
    "wrong_model": O.ANSWERED,
    "slow_drip": O.ANSWERED,
    "answered": O.ANSWERED,
}


def scripted(*faults: str, step: str = "initial/A") -> WireScript:
    return WireScript(scripted={step: faults})


async def replies(
    dialect: Dialect, script: Script, *requests: ModelRequest, streamed: bool = False
) -> list[ModelReply]:
    async with simulation_server(script) as running:
        adapter = adapter_of(dialect, running)
        found = [await adapter.call(one, (lambda _piece: None) if streamed else None) for one in requests]
        await adapter.close()
    return found


@every_dialect
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_each_fault_of_a_script_is_what_the_provider_makes_of_it(dialect: Dialect, streamed: bool) -> None:
    request = requests_of_a_debate()["initial/gpt"]._replace(tools=())
    hasty = request._replace(settings=request.settings.model_copy(update={"timeout_seconds": 0.3}))
    asked = [hasty if fault == "timeout" else request for fault in FAULTS]
    found = dict(zip(FAULTS, await replies(dialect, scripted(*FAULTS), *asked, streamed=streamed), strict=True))
    whole = found["answered"].answer or b""
    text = whole.decode()
    # Of a stream the other events are read.
    lenient = dict.fromkeys(("malformed_json", "malformed_response"), O.ANSWERED) if streamed else {}

    assert {fault: reply.outcome for fault, reply in found.items()} == FAULTS | lenient
    assert json.loads((await here(request)).answer or b"") == json.loads(whole)
    assert text[: len(text) // 2] == (found["truncated"].answer or b"").decode()
    assert [whole, whole] == [found[fault].answer for fault in ("wrong_model", "slow_drip")]
    assert json.loads(whole) | {"ballot": "a" * 16} == json.loads(found["wrong_ballot"].answer or b"")
    assert b"{" not in (found["unparseable"].answer or b"{")
    assert request.model == found["answered"].model_version != found["wrong_model"].model_version
    assert found["rate_limited"].retry_after


async def test_a_pattern_names_a_step_or_a_model_and_each_conversation_has_its_faults_from_the_first() -> None:
    requests = requests_of_a_debate(discussion={"max_rounds": 2, "end_early": False})
    asked = {step: one._replace(tools=(), model="m1") for step, one in requests.items()}
    for pattern, struck in {
        "round-*/B": {"round-1/claude", "round-2/claude"},
        "final": {"final"},
        "*/A/m1/*": {"initial/gpt", "round-1/gpt", "round-2/gpt"},
        "*/A/m2/*": set(),
    }.items():
        found = await replies(CHAT, scripted("blocked", step=pattern), *asked.values())

        assert struck == {step for step, reply in zip(asked, found, strict=True) if reply.outcome is O.BLOCKED}
    first, other = asked["initial/gpt"], asked["initial/claude"]
    course = (first, other, first, first._replace(model="fallback"), first, first)
    found = await replies(CHAT, scripted("blocked", "answered", "blocked"), *course)

    assert [True, False, False, True, True, False] == [reply.outcome is O.BLOCKED for reply in found]


async def test_the_same_run_draws_the_same_faults() -> None:
    request = requests_of_a_debate()["initial/gpt"]._replace(tools=())
    rules = WireScript(rates={"rate_limited": 0.3, "html": 0.2, "blocked": 0.2}, seed=5)
    one, again = [[reply.outcome for reply in await replies(ANTHROPIC, rules, *[request] * 20)] for _ in range(2)]

    assert one == again
    assert len(set(one)) > 2


async def test_what_was_served_is_counted_without_its_content() -> None:
    requests = requests_of_a_debate()
    async with simulation_server(WireScript(latency=0.2, sigma=0)) as running, httpx2.AsyncClient() as http:
        adapter = adapter_of(CHAT, running)
        await asyncio.gather(*(adapter.call(one) for one in requests.values()))
        await adapter.close()
        await http.post(f"{running.url}/v1/chat/completions", content=b"{")
        said = await http.get(f"{running.url}/_simulate/served")
    counts, steps = said.json(), dict.fromkeys(running.served.counts()["by_step"], 1)

    assert (len(requests), 1, 0) == (counts["requests"], counts["refused"], counts["in_flight"])
    assert ({"chat": len(requests)}, steps) == (counts["by_protocol"], counts["by_step"])
    assert len(requests) == running.served.in_flight_peak == len(steps)
    assert "Refunded" not in said.text


SCHEMA = {"type": "object", "properties": {"scores": {"properties": {"safety": {"maximum": 100}}}}}
BALLOT = "The ballot is abcdefgh234567zz."
FUNCTION = {"name": "t", "description": "d"}
BODIES: dict[str, Any] = {
    "/v1/chat/completions": {
        "model": "m",
        "messages": [
            {"role": "system", "content": BALLOT},
            {"role": "user", "content": [{"type": "text", "text": "Grass."}]},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "t", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "{}"},
        ],
        "tools": [{"type": "function", "function": {**FUNCTION, "parameters": {}}}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}},
        "seed": 1,
        "stream": False,
    },
    "/v1/responses": {
        "model": "m",
        "instructions": BALLOT,
        "input": [
            {"role": "user", "content": "Grass."},
            {"type": "reasoning", "summary": []},
            {"type": "function_call", "call_id": "c1", "name": "t", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "{}"},
            {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
        ],
        "tools": [{"type": "function", **FUNCTION, "parameters": {}}],
        "text": {"format": {"type": "json_schema", "schema": SCHEMA}},
    },
    "/v1/messages": {
        "model": "m",
        "max_tokens": 100,
        "system": [{"type": "text", "text": BALLOT}],
        "messages": [
            {"role": "user", "content": "Grass."},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "t", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "{}"}]},
        ],
        "tools": [{**FUNCTION, "input_schema": {}}],
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    },
    "/v1beta/models/m:generateContent": {
        "systemInstruction": {"parts": [{"text": BALLOT}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Grass."}]},
            {"role": "model", "parts": [{"functionCall": {"name": "t", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "t", "response": {"result": "{}"}}}]},
        ],
        "tools": [{"functionDeclarations": [{**FUNCTION, "parametersJsonSchema": {}}]}],
        "generationConfig": {"responseJsonSchema": SCHEMA, "seed": 1},
    },
}
CALL_AT = {"/v1/chat/completions": ("messages", 2), "/v1/responses": ("input", 2), "/v1/messages": ("messages", 1)}
CALL_AT |= {"/v1beta/models/m:generateContent": ("contents", 1)}
USELESS = (b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"model": 1}', b"[" * 100_000, b"1" * 5000, b'{"model": "m"}')
JUNK = st.sampled_from([None, True, 0, -1, 1e308, 10**40, "", "x", "\ud800", "⟦", [], [None], {}, {"type": []}, [[]]])


@pytest_asyncio.fixture(loop_scope="module")
async def http(server: Simulation) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=server.url, timeout=300) as client:
        yield client


def is_error(path: str, response: httpx2.Response) -> bool:
    """Whether the body is an error as that provider writes it."""
    error = response.json()["error"]
    if "messages" in path:
        return bool(response.json()["type"] == "error" and error["type"] and error["message"])
    if "models" in path:
        return bool(error["code"] == response.status_code and error["status"] and error["message"])
    return bool(error["type"] == "invalid_request_error" and error["message"])


@each_row("path", BODIES)
async def test_an_invalid_request_is_refused_as_the_provider_does(http: httpx2.AsyncClient, path: str) -> None:
    place, call = CALL_AT[path]
    without_call, without_result = copy.deepcopy(BODIES[path]), copy.deepcopy(BODIES[path])
    del without_call[place][call]
    del without_result[place][call + 1]
    good = await http.post(path, json=BODIES[path])
    bad = [await http.post(path, content=body) for body in USELESS]
    lone_result, lone_call = [await http.post(path, json=body) for body in (without_call, without_result)]

    assert (200, True) == (good.status_code, "safe_pass" in good.text)
    for response in (*bad, lone_result, lone_call):
        assert (400, "1") == (response.status_code, response.headers["x-jury-simulated"])
        assert is_error(path, response)
    assert "must follow the turn that called it" in lone_result.text
    assert "the call of the tool t has no result" in lone_call.text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.sampled_from(list(BODIES)), data=st.data())
async def test_a_request_with_any_field_replaced_is_answered_or_refused(
    http: httpx2.AsyncClient, path: str, data: st.DataObject
) -> None:
    body = copy.deepcopy(BODIES[path])
    node = body
    while True:
        key = data.draw(st.sampled_from(list(node) if isinstance(node, dict) else list(range(len(node)))))
        inner = node[key]
        if not inner or not isinstance(inner, dict | list) or data.draw(st.booleans()):
            break
        node = inner
    node[key] = data.draw(JUNK)

    response = await http.post(path, content=json.dumps(body).encode())

    assert response.status_code in {200, 400}
    assert response.content.decode()


@pytest.mark.full
@pytest.mark.parametrize("path", BODIES)
async def test_a_huge_prompt_is_read_and_a_larger_one_refused(http: httpx2.AsyncClient, path: str) -> None:
    big = await http.post(path, content=json.dumps({"model": "m", "junk": "x" * 50_000_000}).encode())
    bigger = await http.post(path, content=b" " * ((128 << 20) + 1))

    assert (400, 413) == (big.status_code, bigger.status_code)


async def test_an_unknown_path_is_named(http: httpx2.AsyncClient) -> None:
    unknown = {("POST", path): 404 for path in ("/", "/v1/chat", "/v1/models/m", "/v2/models/m:generateContent")}
    unknown |= {("POST", path): 404 for path in ("/v1/models/m:countTokens", "/v1/messages/count_tokens")}
    unknown |= {("GET", "/v1/chat/completions"): 405, ("DELETE", "/_simulate/served"): 405}
    for (method, path), status in unknown.items():
        response = await http.request(method, path)

        assert (status, "1") == (response.status_code, response.headers["x-jury-simulated"])
        assert f"{method} {path}" in response.json()["error"]["message"]


@pytest.mark.asyncio(loop_scope="function")  # its clock goes on, and other servers of a loop would wait for it
async def test_an_idle_connection_is_kept_for_as_long_as_an_adapter_would_use_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else a request that is sent just as the server closes fails, and was neither served nor counted."""

    from jury_providers.sdk.http_client import IDLE_SECONDS

    loop, idle = asyncio.get_running_loop(), 0.0
    time = loop.time
    monkeypatch.setattr(loop, "time", lambda: time() + idle)
    async with simulation_server() as running:
        host, _, port = running.url.removeprefix("http://").rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        for _ in range(2):
            writer.write(b"GET /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            size = next(int(line.partition(b":")[2]) for line in head.lower().splitlines() if b"content-length" in line)
            assert b"200" in head.splitlines()[0]
            await reader.readexactly(size)
            idle += IDLE_SECONDS
            await asyncio.sleep(0.001)  # what is due by now happens
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize("name", PROTOCOLS)
async def test_a_batch_is_submitted_ends_and_has_its_results(name: str, tmp_path: Path) -> None:
    """Of the server as it is, without what tests plug in."""
    protocol, now = PROTOCOLS[name], [START]
    async with simulation_server(batches=partial(BatchJobs, seconds=60.0, clock=lambda: now[0])) as running:
        client = protocol.batches(ProviderConnection(protocol.name, running.url + protocol.base, "sk-test"))
        models = BatchedModels(protocol, running, running.batches, tmp_path, client, now)
        prepared, cancelled = models.prepare(3), models.prepare(2)
        (first, second) = [(await models.submit(one)).batch_id for one in (prepared, cancelled)]
        going_on = (await client.state(first)).status
        await client.cancel(second)
        left_out = [line async for line in client.results(second, await models.ended(second))]
        found = [one.batch_id for one in await client.find(prepared)]
        models.wait(60)
        lines = await models.lines(first)
        replies = [client.reply(models.request(0), line) for line in lines]
        await client.close()

    assert BatchStatus.RUNNING is going_on
    assert [first] == found
    assert [ItemEnd.ANSWERED] * 3 == [line.end for line in lines]
    assert {(O.ANSWERED, True)} == {(reply.outcome, reply.simulated) for reply in replies}
    assert ItemEnd.ANSWERED not in [line.end for line in left_out]

"""Faults of the simulated server, seen through each provider's SDK."""

import asyncio
import json
from collections import Counter
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from google.genai import errors

from jury_events.outcome import CallOutcome
from jury_providers.provider import ModelRequest
from jury_providers.sdk.http_client import IDLE_SECONDS
from jury_providers.simulated.http.server import simulation_server
from jury_providers.simulated.reader import SimulatedReader
from jury_providers.simulated.script import WIRE_FAULTS, BadScript, Script, WireScript
from support.model_requests import requests_of_a_debate
from support.raw_sdks import CLIENTS, Answer

OPENAI = {
    "rate_limited": (openai.RateLimitError, 429, "rate_limit_exceeded"),
    "quota": (openai.RateLimitError, 429, "insufficient_quota"),
    "authentication": (openai.AuthenticationError, 401, "invalid_api_key"),
    "overloaded": (openai.InternalServerError, 503, "server_error"),
    "bad_request": (openai.BadRequestError, 400, "invalid_request_error"),
    "context_too_long": (openai.BadRequestError, 400, "context_length_exceeded"),
}
FAILURES: dict[str, dict[str, tuple[type[Exception], int, str]]] = {
    "chat": OPENAI,
    "responses": OPENAI,
    "messages": {
        "rate_limited": (anthropic.RateLimitError, 429, "rate_limit_error"),
        "quota": (anthropic.APIStatusError, 402, "billing_error"),
        "authentication": (anthropic.AuthenticationError, 401, "authentication_error"),
        "overloaded": (anthropic.InternalServerError, 529, "overloaded_error"),
        "bad_request": (anthropic.BadRequestError, 400, "invalid_request_error"),
        "context_too_long": (anthropic.BadRequestError, 400, "prompt is too long"),
    },
    "generate": {
        "rate_limited": (errors.ClientError, 429, "PerMinute"),
        "quota": (errors.ClientError, 429, "PerDay"),
        "authentication": (errors.ClientError, 400, "API_KEY_INVALID"),
        "overloaded": (errors.ServerError, 503, "UNAVAILABLE"),
        "bad_request": (errors.ClientError, 400, "INVALID_ARGUMENT"),
        "context_too_long": (errors.ClientError, 400, "input token count"),
    },
}
REFUSED = {"chat": "refusal", "responses": "refusal", "messages": "refusal", "generate": "blocked: SAFETY"}
CUT = {"chat": "length", "responses": "max_output_tokens", "messages": "max_tokens", "generate": "MAX_TOKENS"}
CONNECTION = {
    "chat": openai.APIConnectionError,
    "responses": openai.APIConnectionError,
    "messages": anthropic.APIConnectionError,
    "generate": httpx2.TransportError,
}
TIMEOUT = {
    "chat": openai.APITimeoutError,
    "responses": openai.APITimeoutError,
    "messages": anthropic.APITimeoutError,
    "generate": httpx2.ReadTimeout,
}


@pytest.fixture(scope="module")
def asked() -> ModelRequest:
    """A request of seat A in phase 1."""
    return requests_of_a_debate()["initial/gpt"]._replace(tools=())


def whole_answer(request: ModelRequest) -> str:
    return json.dumps(SimulatedReader().read(request).answer, ensure_ascii=False)


def script(*faults: str, step: str = "initial/A") -> WireScript:
    return WireScript(scripted={step: faults})


async def met(
    kind: str, script: Script, *requests: ModelRequest, stream: bool = False, patience: float = 30.0
) -> list[Answer | Exception]:
    """The outcome of each request of a client."""
    found: list[Answer | Exception] = []
    async with simulation_server(script) as server:
        client = CLIENTS[kind](server.url, patience)
        for request in requests:
            try:
                found.append(await client.ask(request, stream=stream))
            except Exception as error:  # noqa: BLE001  (whatever an SDK makes of it)
                found.append(error)
        await client.close()
    return found


def texts(found: list[Answer | Exception]) -> list[str]:
    return [answer.text if isinstance(answer, Answer) else type(answer).__name__ for answer in found]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", CLIENTS)
async def test_a_failure_has_the_providers_status_and_body(kind, stream, asked):
    expected = FAILURES[kind]

    found = await met(kind, script(*expected), *[asked] * (len(expected) + 1), stream=stream)

    for error, (known, status, word) in zip(found, expected.values(), strict=False):
        assert isinstance(error, known), error
        assert status == getattr(error, "status_code", getattr(error, "code", None))
        assert word in str(getattr(error, "body", None) or error)
    assert whole_answer(asked) == texts(found)[-1]


@pytest.mark.parametrize("kind", ["chat", "responses", "messages"])
async def test_a_rate_limited_client_gets_a_retry_delay(kind, asked):
    (error,) = await met(kind, script("rate_limited"), asked)

    assert isinstance(error, openai.RateLimitError | anthropic.RateLimitError)
    assert error.response.headers["retry-after"] == "1"
    assert error.request_id is not None
    assert error.request_id.startswith("req_")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", CLIENTS)
async def test_answers_are_blocked_truncated_and_made_unusable(kind, stream, asked):
    faults = ("blocked", "truncated", "wrong_ballot", "unparseable", "wrong_model", "slow_drip", "answered")
    found = await met(kind, script(*faults), *[asked] * len(faults), stream=stream)
    refused, cut, other_ballot, prose, other_model, slow, usual = found

    assert all(isinstance(answer, Answer) for answer in found), found
    whole = whole_answer(asked)
    assert refused.finish == REFUSED[kind]
    assert cut.finish == CUT[kind]
    assert cut.text == whole[: len(whole) // 2]
    assert json.loads(other_ballot.text) == json.loads(whole) | {"ballot": "a" * 16}
    assert "{" not in prose.text
    assert (asked.model, asked.model) == (slow.model, usual.model)
    assert other_model.model not in {asked.model, ""}
    assert [other_model.text, slow.text, usual.text] == [whole] * 3


async def test_google_blocks_an_answer_in_two_ways(asked):
    found = await met("generate", script("blocked", "blocked"), asked, asked)

    assert [answer.finish for answer in found if isinstance(answer, Answer)] == ["blocked: SAFETY", "SAFETY"]


@pytest.mark.parametrize("kind", CLIENTS)
async def test_a_connection_is_dropped_before_and_inside_the_response(kind, asked):
    found = await met(kind, script("connection", "connection"), *[asked] * 3)

    assert [isinstance(one, CONNECTION[kind]) for one in found] == [True, True, False], found
    assert whole_answer(asked) == texts(found)[-1]


@pytest.mark.parametrize("kind", CLIENTS)
async def test_a_timeout_hangs_until_the_client_disconnects(kind, asked):
    found = await met(kind, script("timeout"), asked, patience=0.3)

    assert isinstance(found[0], TIMEOUT[kind])


@pytest.mark.parametrize("kind", CLIENTS)
@pytest.mark.parametrize("fault", ["html", "malformed_json", "malformed_response", "truncated_json", "empty"])
async def test_an_invalid_body_is_no_answer(kind, fault, asked):
    found = await met(kind, script(fault), asked, asked)

    assert not isinstance(found[0], Answer)
    assert whole_answer(asked) == texts(found)[-1]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/models/m:{verb}"])
@pytest.mark.parametrize("stream", [False, True])
async def test_wire_faults_byte_by_byte(path, stream, asked):
    path = path.format(verb="streamGenerateContent" if stream else "generateContent")
    body = plain_body(path, asked, stream=stream)
    faults = ("answered", *(fault for fault in WIRE_FAULTS if fault != "slow_drip"))
    bodies = {}
    async with simulation_server(script(*faults)) as server, httpx2.AsyncClient() as http:
        for fault in faults:
            got = await http.post(f"{server.url}{path}", json=body)
            bodies[fault] = got.content

            assert (got.status_code, got.headers["x-jury-simulated"]) == (200, "1")
            expected = "text/html" if fault == "html" else "text/event-stream" if stream else "application/json"
            assert got.headers["content-type"].partition(";")[0] == expected

    final = {"chat": b"[DONE]", "resp": b"response.completed", "mess": b"message_stop", "mode": b'"STOP"'}
    usual = bodies["answered"]
    assert bodies["empty"] == b""
    assert bodies["html"].startswith(b"<!DOCTYPE html>")
    if stream:
        assert final[path[4:8]] in usual
        assert final[path[4:8]] not in bodies["dropped_stream"][-40:]
    assert 0 < len(bodies["truncated_json"]) < len(usual)
    assert len(bodies["malformed_json"]) == pytest.approx(len(usual), abs=50)
    assert not readable(bodies["malformed_json"], stream=stream)
    assert not readable(bodies["truncated_json"], stream=stream)
    assert readable(usual, stream=stream)
    assert readable(bodies["dropped_stream"], stream=stream) == stream


def plain_body(path: str, asked: ModelRequest, *, stream: bool) -> dict[str, Any]:
    system, user = (message.text for message in asked.messages)
    if "models" in path:
        return {"systemInstruction": {"parts": [{"text": system}]}, "contents": [{"parts": [{"text": user}]}]}
    turn = [{"role": "user", "content": user}]
    common = {"model": asked.model, "stream": stream}
    if path.endswith("responses"):
        return common | {"instructions": system, "input": turn}
    if path.endswith("messages"):
        return common | {"system": system, "messages": turn, "max_tokens": 1000}
    return common | {"messages": [{"role": "system", "content": system}, *turn]}


def readable(body: bytes, *, stream: bool) -> bool:
    """Whether every object in it is JSON."""
    lines = body.decode().split("\n")
    texts = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")] if stream else [body.decode()]
    try:
        return all(isinstance(json.loads(text), dict) for text in texts if text != "[DONE]")
    except ValueError:
        return False


async def test_each_conversation_gets_its_faults_from_the_first(asked):
    requests = requests_of_a_debate()
    other = requests["initial/claude"]._replace(tools=())
    fallback = asked._replace(model="fallback")
    rules = script("blocked", "answered", "blocked", step="initial/A")

    found = await met("chat", rules, asked, other, asked, fallback, asked, asked)

    assert [True, False, False, True, True, False] == [
        isinstance(answer, Answer) and answer.finish == "refusal" for answer in found
    ]


@pytest.mark.parametrize(
    ("pattern", "struck"),
    [
        ("round-*/B", {"round-1/claude", "round-2/claude"}),
        ("final", {"final"}),
        ("*/A/m1/*", {"initial/gpt", "round-1/gpt", "round-2/gpt"}),
        ("*/A/m2/*", set()),
    ],
)
async def test_a_pattern_names_a_step_or_a_model(pattern, struck):
    requests = requests_of_a_debate(discussion={"max_rounds": 2, "end_early": False})

    found = await met(
        "chat",
        script("blocked", step=pattern),
        *(request._replace(tools=(), model="m1") for request in requests.values()),
    )

    refused = [isinstance(answer, Answer) and answer.finish == "refusal" for answer in found]
    assert struck == {step for step, is_refused in zip(requests, refused, strict=True) if is_refused}


async def test_the_same_run_draws_the_same_faults(asked):
    rules = WireScript(rates={"rate_limited": 0.3, "html": 0.2, "blocked": 0.2}, seed=5)

    one, again = [texts(await met("messages", rules, *[asked] * 20)) for _ in range(2)]

    assert one == again
    assert len(Counter(one)) > 2


async def test_the_clients_that_wait_are_counted_at_their_peak(asked):
    rules = WireScript(latency=0.2, sigma=0)
    async with simulation_server(rules) as server:
        client = CLIENTS["messages"](server.url)
        await asyncio.gather(*(client.ask(asked, stream=False) for _ in range(20)))
        await client.close()

    assert (20, 20, 0) == (server.served.requests, server.served.in_flight_peak, server.served.in_flight)


def test_only_a_server_has_wire_faults():
    with pytest.raises(BadScript, match="'html' is none of"):
        Script(scripted={"*": ("html",)})
    with pytest.raises(BadScript, match="rates: 'html' is none of"):
        Script(rates={"html": 0.1})
    assert not set(WIRE_FAULTS) & {outcome.value for outcome in CallOutcome}


async def test_an_idle_connection_is_kept_for_as_long_as_an_adapter_would_use_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else a request that is sent just as the server closes fails, and was neither served nor counted."""
    loop, idle = asyncio.get_running_loop(), 0.0
    time = loop.time
    monkeypatch.setattr(loop, "time", lambda: time() + idle)
    async with simulation_server() as server:
        host, _, port = server.url.removeprefix("http://").rpartition(":")
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

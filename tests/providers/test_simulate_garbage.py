"""The simulated server answers any request in its protocol, marked as simulated, and keeps running."""

import copy
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jury_providers.simulated.http.app import MAX_BYTES
from jury_providers.simulated.http.backend import SimulationBackend
from jury_providers.simulated.http.chat import Chat
from jury_providers.simulated.http.delivery import Transmission
from jury_providers.simulated.http.generate import Generate
from jury_providers.simulated.http.messages import Messages
from jury_providers.simulated.http.protocol import ProtocolHandler
from jury_providers.simulated.http.responses import Responses
from jury_providers.simulated.http.server import Simulation, simulation_server
from jury_providers.simulated.script import NO_FAULTS

pytestmark = pytest.mark.asyncio(loop_scope="module")

SCHEMA = {"type": "object", "properties": {"scores": {"properties": {"safety": {"maximum": 100}}}}}
BODIES: dict[str, Any] = {
    "/v1/chat/completions": {
        "model": "m",
        "messages": [
            {"role": "system", "content": "The ballot is abcdefgh234567zz."},
            {"role": "user", "content": [{"type": "text", "text": "Grass."}]},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "t", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "{}"},
        ],
        "tools": [{"type": "function", "function": {"name": "t", "description": "d", "parameters": {}}}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}},
        "seed": 1,
        "stream": False,
    },
    "/v1/responses": {
        "model": "m",
        "instructions": "The ballot is abcdefgh234567zz.",
        "input": [
            {"role": "user", "content": "Grass."},
            {"type": "reasoning", "summary": []},
            {"type": "function_call", "call_id": "c1", "name": "t", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "{}"},
            {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
        ],
        "tools": [{"type": "function", "name": "t", "description": "d", "parameters": {}}],
        "text": {"format": {"type": "json_schema", "schema": SCHEMA}},
    },
    "/v1/messages": {
        "model": "m",
        "max_tokens": 100,
        "system": [{"type": "text", "text": "The ballot is abcdefgh234567zz."}],
        "messages": [
            {"role": "user", "content": "Grass."},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "t", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "{}"}]},
        ],
        "tools": [{"name": "t", "description": "d", "input_schema": {}}],
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    },
    "/v1beta/models/m:generateContent": {
        "systemInstruction": {"parts": [{"text": "The ballot is abcdefgh234567zz."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Grass."}]},
            {"role": "model", "parts": [{"functionCall": {"name": "t", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "t", "response": {"result": "{}"}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "t", "description": "d", "parametersJsonSchema": {}}]}],
        "generationConfig": {"responseJsonSchema": SCHEMA, "seed": 1},
    },
}
PROTOCOLS: dict[str, ProtocolHandler] = dict(zip(BODIES, (Chat(), Responses(), Messages(), Generate()), strict=True))
JUNK = st.sampled_from([None, True, 0, -1, 1e308, 10**40, "", "x", "\ud800", "⟦", [], [None], {}, {"type": []}, [[]]])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[Simulation]:
    async with simulation_server() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def http(server) -> AsyncIterator[httpx2.AsyncClient]:
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


@pytest.mark.parametrize("path", BODIES)
async def test_the_bodies_used_here_are_valid_before_they_are_changed(http, path):
    response = await http.post(path, json=BODIES[path])

    assert (response.status_code, "safe_pass" in response.text) == (200, True)


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"model": 1}', b"[" * 100_000, b"1" * 5000, b'{"model": "m"}', b"{} {}"],
    ids=lambda body: repr(body[:12]),
)
async def test_an_invalid_request_is_refused_as_the_provider_does(http, path, body):
    response = await http.post(path, content=body)

    assert response.status_code == 400
    assert response.headers["x-jury-simulated"] == "1"
    assert is_error(path, response)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.sampled_from(list(BODIES)), data=st.data(), stream=st.booleans())
async def test_a_request_with_any_field_replaced_is_answered_or_refused(path, data, stream):
    protocol, backend = PROTOCOLS[path], SimulationBackend(NO_FAULTS, 0)
    body = copy.deepcopy(BODIES[path])
    node = body
    while True:
        key = data.draw(st.sampled_from(list(node) if isinstance(node, dict) else list(range(len(node)))))
        inner = node[key]
        if not inner or not isinstance(inner, dict | list) or data.draw(st.booleans()):
            break
        node = inner
    node[key] = data.draw(JUNK)
    in_path = {"model": "m", "stream": stream} if "models" in path else {}

    delivery = await backend.answer(protocol, json.dumps(body).encode(), in_path)

    assert isinstance(delivery, Transmission)
    assert delivery.status in {200, 400}
    assert b"".join(delivery.pieces).decode()


@pytest.mark.full
@pytest.mark.parametrize("path", BODIES)
async def test_a_huge_prompt_is_read_and_a_larger_one_refused(http, path):
    big = await http.post(path, content=json.dumps({"model": "m", "junk": "x" * 50_000_000}).encode())
    bigger = await http.post(path, content=b" " * (MAX_BYTES + 1))

    assert (big.status_code, bigger.status_code) == (400, 413)
    if "models" not in path:
        assert is_error(path, bigger)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/v1/chat", 404),
        ("POST", "/", 404),
        ("GET", "/v1/chat/completions", 405),
        ("POST", "/v1/models/m:countTokens", 404),
        ("POST", "/v1/models/m", 404),
        ("POST", "/v2/models/m:generateContent", 404),
        ("DELETE", "/_simulate/served", 405),
        ("POST", "/v1/messages/count_tokens", 404),
    ],
)
async def test_an_unknown_path_is_named(http, method, path, status):
    response = await http.request(method, path)

    assert (response.status_code, response.headers["x-jury-simulated"]) == (status, "1")
    assert f"{method} {path}" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("path", "place", "lost"),
    [
        ("/v1/chat/completions", "messages", 2),
        ("/v1/responses", "input", 2),
        ("/v1/messages", "messages", 1),
        ("/v1beta/models/m:generateContent", "contents", 1),
    ],
)
async def test_a_tools_result_without_its_call_is_refused_and_so_is_a_call_without_a_result(http, path, place, lost):
    without_call, without_result = copy.deepcopy(BODIES[path]), copy.deepcopy(BODIES[path])
    del without_call[place][lost]
    del without_result[place][lost + 1]

    first, second = [await http.post(path, json=body) for body in (without_call, without_result)]

    assert (first.status_code, second.status_code) == (400, 400)
    assert "must follow the turn that called it" in first.text
    assert "the call of the tool t has no result" in second.text


async def test_the_counters_contain_no_content(http):
    before = (await http.get("/_simulate/served")).json()
    await http.post("/v1/chat/completions", json=BODIES["/v1/chat/completions"], headers={"authorization": "Bearer k"})
    await http.post("/v1/chat/completions", content=b"{")
    response = await http.get("/_simulate/served")

    after = response.json()
    assert (before["requests"] + 1, before["refused"] + 1) == (after["requests"], after["refused"])
    assert "Grass" not in response.text
    assert response.headers["x-jury-simulated"] == "1"

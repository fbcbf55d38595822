"""Pictures in requests of each protocol."""

import json
from base64 import b64encode
from collections.abc import AsyncIterator
from itertools import product
from typing import Any

import pytest
import pytest_asyncio

from jury_actors import Job, RunContext, RuntimeConfig, drive, in_process_runtime
from jury_events import CallOutcome, ExchangeRecorded, calls_stream, decode
from jury_providers import (
    ESTIMATED_PICTURE_TOKENS,
    Endpoint,
    ModelMessage,
    ModelPicture,
    ProviderConnection,
    SimulatedProvider,
    Simulation,
    WireScript,
    simulation_server,
)
from jury_replay import ReplayStatus, replay_history
from support.canned_server import Canned, canned_server
from support.dialects import ANTHROPIC, CHAT, DIALECTS, GOOGLE, Dialect, a_request
from support.each_row import each_row
from support.model_requests import requests_of_a_debate
from support.pictures import OTHER_PNG, PNG, a_case_with_pictures
from support.runtime_harness import KeptStore, a_resolved

pytestmark = pytest.mark.asyncio(loop_scope="module")

JPEG = b"\xff\xd8\xff\xe0 a photograph"
SYSTEM = ModelMessage("system", "You judge.")
SHOWN = ModelMessage("user", "Look.", pictures=(ModelPicture("image/png", PNG), ModelPicture("image/jpeg", JPEG)))
FIRST, SECOND = b64encode(PNG).decode(), b64encode(JPEG).decode()

every_dialect = each_row("dialect", DIALECTS, ids=[one.name for one in DIALECTS])

MESSAGES_KEYS = {"openai": "messages", "openai-responses": "input", "anthropic": "messages", "google": "contents"}
TURNS: dict[str, dict[str, Any]] = {
    "openai": {
        "role": "user",
        "content": [
            {"type": "text", "text": "Look."},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{FIRST}"}},
            {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{SECOND}"}},
        ],
    },
    "openai-responses": {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "Look."},
            {"type": "input_image", "image_url": f"data:image/png;base64,{FIRST}"},
            {"type": "input_image", "image_url": f"data:image/jpeg;base64,{SECOND}"},
        ],
    },
    "anthropic": {
        "role": "user",
        "content": [
            {"type": "text", "text": "Look."},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": FIRST}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": SECOND}},
        ],
    },
    "google": {
        "role": "user",
        "parts": [
            {"text": "Look."},
            {"inlineData": {"mimeType": "image/png", "data": FIRST}},
            {"inlineData": {"mimeType": "image/jpeg", "data": SECOND}},
        ],
    },
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[Simulation]:
    async with simulation_server() as running:
        yield running


@every_dialect
@each_row("streamed", [False, True], ids=["whole", "streamed"])
async def test_pictures_follow_the_text_of_their_message_in_order(dialect: Dialect, *, streamed: bool) -> None:
    async with canned_server(dialect.canned("x", streamed=streamed)) as canned:
        adapter = dialect.adapter(canned)
        await adapter.call(a_request(SYSTEM, SHOWN), (lambda _piece: None) if streamed else None)
        await adapter.close()

    assert TURNS[dialect.name] == canned.asked[0].json[MESSAGES_KEYS[dialect.name]][-1]


@every_dialect
async def test_the_recorded_request_contains_no_picture(dialect: Dialect) -> None:
    async with canned_server(dialect.canned("x")) as canned:
        adapter = dialect.adapter(canned)
        reply = await adapter.call(a_request(SYSTEM, SHOWN))
        await adapter.close()

    assert reply.sent is not None
    assert (False, False) == (FIRST.encode() in reply.sent, SECOND.encode() in reply.sent)


@every_dialect
async def test_blocks_that_calls_share_are_sent_in_order_with_the_pictures_behind_them(dialect: Dialect) -> None:
    shown = ModelMessage("user", "Your seat.", pictures=SHOWN.pictures[:1], shared=("The policy.", "The case."))
    async with canned_server(dialect.canned("x")) as canned:
        adapter = dialect.adapter(canned)
        await adapter.call(a_request(SYSTEM, shown))
        await adapter.close()

    message = canned.asked[0].json[MESSAGES_KEYS[dialect.name]][-1]
    blocks = message["parts"] if "parts" in message else message["content"]
    assert ["The policy.", "The case.", None, "Your seat."] == [block.get("text") for block in blocks]
    assert FIRST in json.dumps(blocks[2])


@every_dialect
async def test_a_later_turn_sends_pictures_again_at_their_position(dialect: Dialect) -> None:
    said = b"".join(dialect.canned("No.").pieces).decode()
    async with canned_server(dialect.canned("x")) as canned:
        adapter = dialect.adapter(canned)
        await adapter.call(a_request(SYSTEM, SHOWN, ModelMessage("assistant", said), ModelMessage("user", "Again.")))
        await adapter.close()

    sent = canned.asked[0].json[MESSAGES_KEYS[dialect.name]]
    assert TURNS[dialect.name] in sent
    assert 1 == json.dumps(sent).count(FIRST)


REFUSALS = {
    "openai": (
        CHAT,
        {
            "error": {
                "message": "Invalid content type. image_url is only supported by certain models.",
                "type": "invalid_request_error",
                "param": "messages.[1].content.[1].type",
                "code": None,
            }
        },
        "image_url is only supported by certain models",
    ),
    "anthropic": (
        ANTHROPIC,
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: "
                "5591868 bytes > 5242880 bytes",
            },
        },
        "image exceeds 5 MB maximum",
    ),
    "google": (
        GOOGLE,
        {"error": {"code": 400, "message": "Unsupported MIME type: image/gif", "status": "INVALID_ARGUMENT"}},
        "Unsupported MIME type: image/gif",
    ),
}


@each_row("name", REFUSALS)
async def test_a_refused_picture_is_recorded_with_the_providers_message(name: str) -> None:
    dialect, error, words = REFUSALS[name]
    async with canned_server(Canned(status=400, pieces=[json.dumps(error).encode()])) as canned:
        adapter = dialect.adapter(canned)
        reply = await adapter.call(a_request(SYSTEM, SHOWN))
        await adapter.close()

    assert CallOutcome.BAD_REQUEST is reply.outcome
    assert words in (reply.error or "")


async def test_a_request_too_large_for_its_pictures_is_context_too_long() -> None:
    error = {"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}
    async with canned_server(Canned(status=413, pieces=[json.dumps(error).encode()])) as canned:
        adapter = ANTHROPIC.adapter(canned)
        reply = await adapter.call(a_request(SYSTEM, SHOWN))
        await adapter.close()

    assert CallOutcome.CONTEXT_TOO_LONG is reply.outcome


async def test_the_simulated_server_accepts_pictures_and_reports_that_it_sees_none(server: Simulation) -> None:
    request = requests_of_a_debate(a_case_with_pictures())["initial/gpt"]
    system, shown = request.messages
    shown = shown._replace(pictures=(ModelPicture("image/png", PNG), ModelPicture("image/png", OTHER_PNG)))
    asked = request._replace(messages=(system, shown), tools=())
    here = json.loads((await SimulatedProvider().call(asked)).answer or b"")
    for dialect, on_chunk in product(DIALECTS, (None, lambda _piece: None)):
        adapter = dialect.make(ProviderConnection(dialect.name, server.url + dialect.base, "sk-test"))
        reply = await adapter.call(asked, on_chunk)
        await adapter.close()

        assert here == json.loads(reply.answer or b""), dialect.name
        assert (reply.usage.input_tokens or 0) > 2 * ESTIMATED_PICTURE_TOKENS
    assert "2 pictures not read" in here["rationale"]


async def test_the_simulated_server_refuses_what_is_no_picture(server: Simulation) -> None:
    for dialect in DIALECTS:
        adapter = dialect.make(ProviderConnection(dialect.name, server.url + dialect.base, "sk-test"))
        empty = SHOWN._replace(pictures=(ModelPicture("image/png", b""),))
        reply = await adapter.call(a_request(SYSTEM, empty))
        await adapter.close()

        assert CallOutcome.BAD_REQUEST is reply.outcome, dialect.name
        assert reply.error


async def test_a_refused_picture_leads_to_the_fallback_without_losing_records() -> None:
    store = KeptStore()
    seat = {"model": "local/m", "juror_id": "one", "fallbacks": ["simulated/juror"], "images": True}
    resolved = a_resolved(preset="independent", seats=[seat])
    case = a_case_with_pictures(JPEG)
    job = Job("d0", case.model_dump_json().encode(), RunContext("run", resolved))
    refused = WireScript(scripted={"*": ("bad_request",)})
    async with simulation_server(refused) as server:
        local = Endpoint(protocol="openai", base_url=f"{server.url}/v1")
        plan = RuntimeConfig((resolved.panel,), "", "run", endpoints={"local": local})
        async with in_process_runtime(plan, lambda: store) as runtime:
            finished = [one async for one in drive(runtime, iter([job]), concurrency=1)]

    calls = [decode(stored) for stored in store.read_stream(calls_stream("d0"))]
    assert ["completed"] == [one.status for one in finished]
    assert [("local/m", CallOutcome.BAD_REQUEST, 1), ("simulated/juror", CallOutcome.ANSWERED, 1)] == [
        (call.model, call.outcome, len(call.request[1].images)) for call in calls if isinstance(call, ExchangeRecorded)
    ]
    assert ReplayStatus.EQUAL is replay_history(store.histories(["d0"])[0]).status

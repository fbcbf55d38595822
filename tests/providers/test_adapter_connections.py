"""The adapters' connections: one shared client, keys never recorded, concurrent and cancelled calls."""

import asyncio
import json
import logging
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from jury_events import CallOutcome
from jury_providers import MAX_RECORDED_BYTES, Endpoint, ModelMessage, ModelReply, ProviderConnection, connection_of
from jury_providers.sdk.http_client import AdapterSlots
from support.canned_server import Canned, canned_server, events
from support.dialects import ANTHROPIC, CHAT, DIALECTS, GOOGLE, RESPONSES, Dialect, a_request
from support.each_row import each_row
from support.waiting import until

every_dialect = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)

KEY = "canary-9f3a/6+b7"
SPELLED = "".join(f"\\u{ord(char):04x}" for char in KEY)
FORMS = (
    KEY,
    "canary-9f3a%2F6%2Bb7",
    "canary-9f3a\\/6+b7",
    SPELLED,
    SPELLED.upper().replace("\\U", "\\u"),
    "canary\\u002D9f3a\\u002f6%2bb7",
    SPELLED.replace("\\", "\\\\"),
)


def written(reply: ModelReply) -> str:
    """All of a reply that may be recorded."""
    return repr(reply)


@every_dialect
async def test_an_echoed_key_is_not_recorded(dialect: Dialect) -> None:
    pieces: list[str] = []
    text = f"the key is {' or '.join(FORMS)}"
    headers = {"x-request-id": f"r-{KEY}"}
    calls = (("t-" + KEY, "look", {"key": KEY}),)
    good = dialect.canned(text, calls=calls)._replace(headers=headers)
    streamed = dialect.canned(text, calls=calls, streamed=True)
    error = {"error": {"message": f"bad key {KEY} ({FORMS[1]})", "type": KEY, "code": None, "status": KEY}}
    bad = Canned(400, [json.dumps(error).encode()], headers)
    async with canned_server(good, streamed, bad, Canned(pieces=[f"no JSON {KEY}".encode()])) as server:
        adapter = dialect.adapter(server, KEY)
        replies = [
            await adapter.call(a_request()),
            await adapter.call(a_request(), pieces.append),
            await adapter.call(a_request()),
            await adapter.call(a_request()),
        ]
        await adapter.close()

    assert all(KEY in str(asked.headers) for asked in server.asked)
    for reply in replies:
        assert not [form for form in FORMS if form in written(reply)]
    assert b"the key is " + b" or ".join([b"[key]"] * len(FORMS)) == replies[0].answer == replies[1].answer
    assert "[key]" in (replies[2].error or "")


async def test_an_escaped_key_is_removed_from_the_record() -> None:
    text = json.dumps(CHAT.reply("the key is @", "stop", ())).replace("@", SPELLED).encode()
    error = b'{"error": {"message": "bad key %s", "type": "x"}}' % SPELLED.encode()
    (good, bad), _ = await CHAT.exchanged(Canned(pieces=[text]), Canned(401, [error]), key=KEY)

    assert b"the key is [key]" == good.answer
    assert b"the key is [key]" in (good.response or b"")
    assert "bad key [key]" in (bad.error or "")
    assert b"bad key [key]" in (bad.response or b"")


@each_row("at", [MAX_RECORDED_BYTES, 300])
async def test_a_cut_response_contains_no_part_of_a_key(at: int) -> None:
    said = b"x" * (at - len(KEY) // 2) + KEY.encode() + b"x" * 50
    (reply,), _ = await CHAT.exchanged(Canned(500, [said]), key=KEY)

    assert "canary" not in written(reply)


async def test_a_key_split_over_stream_events_is_not_recorded() -> None:
    (reply,), _ = await CHAT.exchanged(CHAT.canned(KEY, streamed=True), key=KEY, on_chunk=_ignore)

    assert b"[key]" == reply.answer


async def test_a_key_in_the_url_or_the_schema_is_not_recorded() -> None:
    async with canned_server(CHAT.canned("x")) as server:
        adapter = CHAT.make(ProviderConnection("openai", f"{server.url}/{KEY}", KEY))
        reply = await adapter.call(a_request()._replace(schema={"description": KEY}))
        await adapter.close()

    assert not [form for form in FORMS if form in written(reply)]
    assert b"[key]" in (reply.sent or b"")


@every_dialect
@pytest.mark.parametrize("echo", ["sk-abc***xyz", "sk-proj-…wxyz", "AIzaSyABCDEF", "cana****6+b7", "sk-other-key-1"])
async def test_text_that_looks_like_a_key_is_masked_in_a_refusal(dialect: Dialect, echo: str) -> None:
    said = {"error": {"message": f"Incorrect API key provided: {echo}. Find yours.", "type": "x", "code": None}}
    (reply,), _ = await dialect.exchanged(Canned(401, [json.dumps(said, ensure_ascii=False).encode()]), key=KEY)

    assert CallOutcome.AUTHENTICATION == reply.outcome
    assert echo not in written(reply)
    assert echo not in (reply.response or b"").decode()
    assert "provided: [key]" in (reply.error or "")


async def test_a_placeholder_is_no_secret() -> None:
    (reply,), _ = await CHAT.exchanged(CHAT.canned("none of it"), key="none")

    assert b"none of it" == reply.answer


@every_dialect
async def test_without_a_key_a_placeholder_is_sent_instead_of_a_key_from_the_environment(
    dialect: Dialect, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "from-the-environment")
    async with canned_server(dialect.canned("x")) as server:
        adapter = dialect.adapter(server, None)
        await adapter.call(a_request())
        await adapter.close()
    headers = server.asked[0].headers

    assert "none" in {headers.get("authorization", "").removeprefix("Bearer "), headers.get("x-goog-api-key")}
    assert "from-the-environment" not in str(headers)


@every_dialect
async def test_sixty_four_calls_run_at_once(dialect: Dialect) -> None:
    async with canned_server(dialect.canned("x")) as server:
        server.release = asyncio.Event()
        adapter = dialect.adapter(server)
        calls = [asyncio.create_task(adapter.call(a_request(ModelMessage("user", str(n))))) for n in range(64)]
        await until(lambda: len(server.asked) == 64)
        server.release.set()
        replies = await asyncio.gather(*calls)
        await adapter.close()

    assert 64 == server.most_at_once
    assert {(CallOutcome.ANSWERED, b"x")} == {(reply.outcome, reply.answer) for reply in replies}


async def test_concurrent_calls_receive_only_their_own_chunks() -> None:
    async with canned_server(*(CHAT.canned(f"answer {n}", streamed=True) for n in range(8))) as server:
        adapter = CHAT.adapter(server)
        chunks: list[list[str]] = [[] for _ in range(8)]
        replies = await asyncio.gather(*(adapter.call(a_request(), pieces.append) for pieces in chunks))
        await adapter.close()

    assert {f"answer {n}" for n in range(8)} == {"".join(pieces) for pieces in chunks}
    assert ["".join(pieces) for pieces in chunks] == [(reply.answer or b"").decode() for reply in replies]


@every_dialect
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_a_cancelled_call_raises_and_releases_its_connection(dialect: Dialect, streamed: bool) -> None:
    async with canned_server(Canned(pieces=[b"data: {"], then="hang")) as server:
        adapter = dialect.adapter(server)
        call = asyncio.create_task(adapter.call(a_request(), _ignore if streamed else None))
        await until(lambda: server.asked)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await server.dropped.wait()
        await adapter.close()

    assert 1 == len(server.asked)


async def test_chunks_are_delivered_before_the_answer_is_complete() -> None:
    begun = events(*CHAT.stream("early bird", "stop", ())[:3])
    async with canned_server(Canned(pieces=[begun], then="hang")) as server:
        adapter = CHAT.adapter(server)
        first = asyncio.Event()
        call = asyncio.create_task(adapter.call(a_request(), lambda _piece: first.set()))
        await first.wait()

        assert not call.done()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        await adapter.close()


async def test_adapters_share_connections_until_the_last_is_closed() -> None:
    async with canned_server(CHAT.canned("x")) as server:
        first, second = CHAT.adapter(server), CHAT.adapter(server)
        await first.call(a_request())
        await second.call(a_request())
        await first.close()
        await first.close()
        reply = await second.call(a_request())

        assert (CallOutcome.ANSWERED, 1) == (reply.outcome, server.connections)
        assert not server.dropped.is_set()
        await second.close()
        await server.dropped.wait()


async def test_a_closed_adapter_reopens() -> None:
    async with canned_server(CHAT.canned("x")) as server:
        adapter = CHAT.adapter(server)
        await adapter.call(a_request())
        await adapter.close()
        reply = await adapter.call(a_request())
        await adapter.close()

    assert CallOutcome.ANSWERED == reply.outcome


@every_dialect
async def test_an_unused_adapter_can_be_closed(dialect: Dialect) -> None:
    adapter = dialect.make(ProviderConnection(dialect.name, "http://127.0.0.1:9", None))
    async with adapter.concurrency_limit:
        await adapter.close()


async def test_no_cookies_are_kept() -> None:
    answer = CHAT.canned("x")._replace(headers={"set-cookie": "a=b; Path=/"})
    _, asked = await CHAT.exchanged(answer, answer)

    assert [False, False] == ["cookie" in one.headers for one in asked]


@every_dialect
async def test_a_key_that_is_invalid_in_a_header_is_a_bad_request(dialect: Dialect) -> None:
    key = "two\nlines-of-a-key"
    (reply,), asked = await dialect.exchanged(dialect.canned("x"), key=key)

    assert (CallOutcome.BAD_REQUEST, [], True) == (reply.outcome, asked, bool(reply.error))
    assert "lines-of-a-key" not in written(reply)
    assert b'"body"' in (reply.sent or b"")


@pytest.mark.parametrize(("dialect", "model"), [(ANTHROPIC, "claude-2.1"), (GOOGLE, "gemini-1.0-pro")])
async def test_a_retired_model_causes_no_warnings_of_the_sdk(
    dialect: Dialect, model: str, capfd: pytest.CaptureFixture[str]
) -> None:
    async with canned_server(dialect.canned("x", "newfangled")) as server:
        adapter = dialect.adapter(server)
        reply = await adapter.call(a_request()._replace(model=model))
        await adapter.close()

    assert CallOutcome.ANSWERED == reply.outcome
    assert ("", "") == capfd.readouterr()
    assert logging.getLogger(adapter.sdk_logger).handlers


def _ignore(_piece: Any) -> None:
    return


class Calls:
    """Calls that keep their slots until they are ended."""

    def __init__(self, slots: AdapterSlots) -> None:
        self.slots = slots
        self.tasks: list[asyncio.Task[None]] = []
        self._ends: list[asyncio.Event] = []

    def begin(self, count: int) -> None:
        for _ in range(count):
            end = asyncio.Event()
            self._ends.append(end)
            self.tasks.append(asyncio.create_task(self._run(end)))

    async def end(self, number: int) -> None:
        self._ends[number].set()
        await self.tasks[number]

    async def _run(self, end: asyncio.Event) -> None:
        async with self.slots:
            await end.wait()

    async def close(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


async def test_a_single_adapter_can_use_every_slot() -> None:
    from jury_providers.sdk.http_client import ConnectionSlots

    calls = Calls(ConnectionSlots(total=4, reserved=1).join())
    calls.begin(6)
    await until(lambda: calls.slots.in_use == 4)
    await calls.end(0)

    assert calls.slots.in_use == 4, "the longest waiting call follows"
    await calls.close()
    assert calls.slots.in_use == 0


async def test_hanging_calls_of_one_adapter_leave_slots_for_the_others() -> None:
    from jury_providers.sdk.http_client import ConnectionSlots

    slots = ConnectionSlots(total=8, reserved=2)
    hanging, healthy = Calls(slots.join()), Calls(slots.join())
    hanging.begin(50)
    await until(lambda: hanging.slots.in_use == 6)
    healthy.begin(3)
    await until(lambda: healthy.slots.in_use == 2)
    await hanging.close()

    assert healthy.slots.in_use == 3
    await healthy.close()


async def test_waiting_adapters_take_turns() -> None:
    from jury_providers.sdk.http_client import ConnectionSlots

    slots = ConnectionSlots(total=2, reserved=0)
    first, second = Calls(slots.join()), Calls(slots.join())
    first.begin(4)
    await until(lambda: first.slots.in_use == 2)
    second.begin(2)
    await asyncio.sleep(0)
    await first.end(0)
    await until(lambda: second.slots.in_use == 1)
    await first.end(1)
    await until(lambda: first.slots.in_use + second.slots.in_use == 2)

    assert (1, 1) == (first.slots.in_use, second.slots.in_use)
    await first.close()
    await second.close()


async def test_the_reserve_of_an_adapter_is_free_once_it_left() -> None:
    from jury_providers.sdk.http_client import ConnectionSlots

    slots = ConnectionSlots(total=4, reserved=1)
    gone, stays = slots.join(), Calls(slots.join())
    stays.begin(4)
    await until(lambda: stays.slots.in_use == 3)
    slots.leave(gone)

    await until(lambda: stays.slots.in_use == 4)
    await stays.close()


@each_row("steps", [0, 1, 2])
async def test_a_call_cancelled_while_it_waits_leaks_no_slot(steps: int) -> None:
    from jury_providers.sdk.http_client import ConnectionSlots

    calls = Calls(ConnectionSlots(total=1, reserved=0).join())
    calls.begin(3)
    await until(lambda: calls.slots.in_use == 1)
    calls._ends[0].set()
    for _ in range(steps):  # before it is granted a slot, at that moment, and after
        await asyncio.sleep(0)
    calls.tasks[1].cancel()
    await asyncio.gather(*calls.tasks[:2], return_exceptions=True)
    await calls.end(2)

    assert calls.slots.in_use == 0


READ = re.compile(
    r"""environ(?:\.get)?[\[(]\s*["']([A-Z][A-Z0-9_]+)|getenv\(\s*["']([A-Z][A-Z0-9_]+)"""
    r"""|\bENV_[A-Z_]+(?::[^=\n]*)?\s*=\s*["']([A-Z][A-Z0-9_]+)"""
)
NOT_A_CLIENT = ("cli", "_replay_api_client.py", "tests")
"""OpenAI's command, Google's recorder of replays and its tests."""

KNOWN = {
    "openai": """
        AWS_BEARER_TOKEN_BEDROCK AWS_BEDROCK_BASE_URL AWS_DEFAULT_REGION AWS_REGION AZURE_OPENAI_AD_TOKEN
        AZURE_OPENAI_API_KEY AZURE_OPENAI_ENDPOINT DEFER_PYDANTIC_BUILD GOOGLE_CLOUD_LOCATION GOOGLE_CLOUD_PROJECT
        OPENAI_ADMIN_KEY OPENAI_API_KEY OPENAI_API_TYPE OPENAI_API_VERSION OPENAI_BASE_URL OPENAI_CUSTOM_HEADERS
        OPENAI_LOG OPENAI_ORG_ID OPENAI_PROJECT_ID OPENAI_WEBHOOK_SECRET
    """,
    "anthropic": """
        ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL ANTHROPIC_BEDROCK_BASE_URL
        ANTHROPIC_BEDROCK_MANTLE_BASE_URL ANTHROPIC_CONFIG_DIR ANTHROPIC_CUSTOM_HEADERS
        ANTHROPIC_ENVIRONMENT_KEY ANTHROPIC_FEDERATION_RULE_ID ANTHROPIC_FOUNDRY_API_KEY
        ANTHROPIC_FOUNDRY_BASE_URL ANTHROPIC_FOUNDRY_RESOURCE ANTHROPIC_GOOGLE_CLOUD_BASE_URL
        ANTHROPIC_GOOGLE_CLOUD_LOCATION ANTHROPIC_GOOGLE_CLOUD_PROJECT ANTHROPIC_GOOGLE_CLOUD_WORKSPACE_ID
        ANTHROPIC_IDENTITY_TOKEN ANTHROPIC_IDENTITY_TOKEN_FILE ANTHROPIC_LOG ANTHROPIC_OPEN_TELEMETRY
        ANTHROPIC_OPEN_TELEMETRY_PROPAGATION ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE
        ANTHROPIC_OPEN_TELEMETRY_TRACES_MAX_CONTENT_BYTES ANTHROPIC_ORGANIZATION_ID ANTHROPIC_PROFILE
        ANTHROPIC_SCOPE ANTHROPIC_SERVICE_ACCOUNT_ID ANTHROPIC_VERTEX_BASE_URL ANTHROPIC_VERTEX_PROJECT_ID
        ANTHROPIC_WEBHOOK_SIGNING_KEY ANTHROPIC_WORKSPACE_ID ANTHROPIC_WORK_SECRET APPDATA
        AWS_BEARER_TOKEN_BEDROCK AWS_DEFAULT_REGION AWS_REGION CLOUD_ML_REGION DEFER_PYDANTIC_BUILD
        GOOGLE_CLOUD_PROJECT
    """,
    "google.genai": """
        GEMINI_API_KEY GOOGLE_API_KEY GOOGLE_CLOUD_LOCATION GOOGLE_CLOUD_PROJECT GOOGLE_GEMINI_BASE_URL
        GOOGLE_GENAI_ACCESS_TOKEN GOOGLE_GENAI_API_KEY GOOGLE_GENAI_API_VERSION GOOGLE_GENAI_CLIENT_MODE
        GOOGLE_GENAI_DEBUG GOOGLE_GENAI_DEFAULT_HEADERS GOOGLE_GENAI_HTTP_CLIENT
        GOOGLE_GENAI_REPLAYS_DIRECTORY GOOGLE_GENAI_REPLAY_ID GOOGLE_GENAI_USE_ENTERPRISE
        GOOGLE_GENAI_USE_VERTEXAI GOOGLE_VERTEX_BASE_URL SSL_CERT_DIR SSL_CERT_FILE
    """,
}
"""Every variable that an SDK's client reads. A new one fails this test: find out where its value goes before it is
added here, and withhold it from other hosts (`ProtocolDefaults.headers`) if it goes into requests."""


def variables_of(package: str) -> Iterator[str]:
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    for file in Path(spec.origin).parent.rglob("*.py"):
        if not any(part in NOT_A_CLIENT for part in file.parts):
            for found in READ.finditer(file.read_text("utf-8")):
                yield found[found.lastindex or 0]


@pytest.mark.parametrize("package", KNOWN)
def test_each_variable_that_an_sdk_reads_is_known(package: str) -> None:
    assert sorted(set(KNOWN[package].split())) == sorted(set(variables_of(package)))


CHANGES_THE_CLIENT = frozenset(
    [
        *("GOOGLE_GENAI_HTTP_CLIENT", "GOOGLE_GENAI_USE_ENTERPRISE", "GOOGLE_GENAI_USE_VERTEXAI", "OPENAI_API_TYPE"),
        *("SSL_CERT_DIR", "SSL_CERT_FILE"),
    ]
)


@pytest.mark.parametrize("dialect", [CHAT, RESPONSES, ANTHROPIC, GOOGLE], ids=lambda one: one.name)
@pytest.mark.parametrize("key", [None, "sk-test-key-0123456789"])
async def test_nothing_of_the_environment_goes_to_a_server_of_ones_own(
    dialect: Dialect, key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in {name for names in KNOWN.values() for name in names.split()} - CHANGES_THE_CLIENT:
        value = f"canary-{name.lower()}"
        if name.endswith(("_URL", "_ENDPOINT")):
            value = f"http://127.0.0.1:9/{value}"
        if name.endswith("_HEADERS"):
            value = f"X-Corp: {value}\nauthorization: Bearer {value}\nUser-Agent: {value}"
        monkeypatch.setenv(name, value)
    async with canned_server(dialect.canned("{}")) as server:
        adapter = dialect.adapter(server, key)
        await adapter.call(a_request())
        await adapter.close()

    (asked,) = server.asked
    assert [] == [name for name, value in asked.headers.items() if "canary" in value]
    assert "canary" not in asked.path
    assert b"canary" not in asked.body
    credentials = {asked.headers.get("authorization"), asked.headers.get("x-goog-api-key")}
    assert credentials & {f"Bearer {key or 'none'}", key or "none"}


async def test_a_panel_can_say_that_headers_of_the_environment_go_to_its_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    environ = {"OPENAI_CUSTOM_HEADERS": "X-Corp: canary-1234567", "OPENAI_ORG_ID": "org-canary-123"}
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    async with canned_server(CHAT.canned('{"x": "org-canary-123"}')) as server:
        endpoint = Endpoint.model_validate({"base_url": server.url, "sdk_headers": "on"})
        adapter = CHAT.make(connection_of("there", "openai", endpoint, environ))
        reply = await adapter.call(a_request())
        await adapter.close()

    (asked,) = server.asked
    assert ("canary-1234567", "org-canary-123") == (asked.headers["x-corp"], asked.headers["openai-organization"])
    assert "canary" not in repr(reply)

"""Gemini's explicit caches at the wire: what is kept, sent and booked, and what happens without."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from jury_events import CacheWrite, CallOutcome
from jury_providers import Caching, GoogleGenerate, ModelMessage, ModelReply, ModelRequest, ProviderConnection
from support.canned_server import Canned, CannedServer, canned_server
from support.dialects import GOOGLE, TOOL, a_request

SYSTEM = ModelMessage("system", "You judge.")
SHARED = ("The policy. " * 400, "The case. " * 400)
MADE = {"name": "cachedContents/one", "usageMetadata": {"totalTokenCount": 2600}}
WROTE = (CacheWrite(lifetime="30m", tokens=2600),)
UNKNOWN = {"code": 403, "message": "CachedContent not found (or permission denied)", "status": "PERMISSION_DENIED"}


def canned(document: dict[str, Any], status: int = 200) -> Canned:
    return Canned(status, [json.dumps(document).encode()])


ANSWER = GOOGLE.canned("{}")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def seat(name: str = "A", *, cache: Caching = "30m", shared: tuple[str, ...] = SHARED, **more: Any) -> ModelRequest:
    asked = a_request(SYSTEM, ModelMessage("user", f"You are seat {name}.", shared=shared), **more)
    return asked._replace(model="gemini-3.8-flash", cache=cache)


@asynccontextmanager
async def an_adapter(
    server: CannedServer, clock: Callable[[], float] = Clock(), key: str = "sk-test"
) -> AsyncIterator[GoogleGenerate]:
    adapter = GoogleGenerate(ProviderConnection("google", server.url, key), clock)
    try:
        yield adapter
    finally:
        await adapter.close()


def paths(server: CannedServer) -> list[str]:
    return [asked.path.rpartition("/")[2].rpartition(":")[2] for asked in server.asked]


def sent(reply: ModelReply) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(reply.sent or b"{}")
    return document


async def test_what_calls_share_is_kept_and_only_the_rest_is_sent() -> None:
    async with canned_server(canned(MADE), ANSWER) as server, an_adapter(server) as adapter:
        reply = await adapter.call(seat(tools=(TOOL,)))

    kept, asked = server.asked[0].json, server.asked[1].json
    text, rest = [{"text": block} for block in SHARED], [{"text": "You are seat A."}]
    assert CallOutcome.ANSWERED == reply.outcome
    assert server.asked[0].path.endswith("/cachedContents")
    assert {"model", "ttl", "contents", "systemInstruction", "tools"} == kept.keys()
    assert ("models/gemini-3.8-flash", "1800s") == (kept["model"], kept["ttl"])
    assert [{"role": "user", "parts": text}] == kept["contents"]
    assert {"parts": [{"text": "You judge."}]} == kept["systemInstruction"]
    assert {"cachedContent", "contents", "generationConfig"} == asked.keys()
    assert [{"role": "user", "parts": rest}] == asked["contents"]
    assert kept["tools"] == sent(reply)["cached_content"]["tools"]


async def test_the_write_is_booked_once_and_the_next_call_names_the_same_cache() -> None:
    async with canned_server(canned(MADE), ANSWER) as server, an_adapter(server) as adapter:
        first, second = await adapter.call(seat("A")), await adapter.call(seat("B"))

    assert ["cachedContents", "generateContent", "generateContent"] == paths(server)[:3]
    assert (WROTE, ()) == (first.usage.cache_writes, second.usage.cache_writes)
    assert 11 == first.usage.input_tokens
    assert (True, False) == (sent(first)["cached_content"]["made"], sent(second)["cached_content"]["made"])
    assert server.asked[1].json["cachedContent"] == server.asked[2].json["cachedContent"] == "cachedContents/one"


async def test_calls_at_once_share_one_request_for_a_cache_over_all_adapters_of_a_connection() -> None:
    async with canned_server(canned(MADE), ANSWER) as server, an_adapter(server) as one, an_adapter(server) as other:
        replies = await asyncio.gather(*(adapter.call(seat(name)) for name in "ABC" for adapter in (one, other)))

    assert 1 == paths(server).count("cachedContents")
    assert [WROTE] == [reply.usage.cache_writes for reply in replies if reply.usage.cache_writes]


@pytest.mark.parametrize(
    "other",
    [
        seat(tools=(TOOL,)),
        seat(shared=(*SHARED[:1], "Another case. " * 400)),
        seat()._replace(model="gemini-3.7-flash"),
    ],
    ids=["tools", "case", "model"],
)
async def test_other_content_and_another_model_have_caches_of_their_own(other: ModelRequest) -> None:
    async with canned_server(canned(MADE), ANSWER, canned(MADE), ANSWER) as server, an_adapter(server) as adapter:
        for request in (seat(), other):
            await adapter.call(request)

    assert ["cachedContents", "generateContent"] * 2 == paths(server)[:4]


@pytest.mark.parametrize(
    "request_",
    [seat(cache=None), seat(cache="none"), seat(shared=()), seat(shared=("Short.",))],
    ids=["nothing is said", "nothing is kept", "nothing is shared", "too short"],
)
async def test_no_cache_is_made_where_none_is_asked_for_or_kept(request_: ModelRequest) -> None:
    async with canned_server(ANSWER) as server, an_adapter(server) as adapter:
        reply = await adapter.call(request_)

    assert ["generateContent"] == paths(server)
    assert "cached_content" not in sent(reply)


async def test_a_cache_is_used_until_shortly_before_its_end() -> None:
    clock = Clock()
    answers = (canned(MADE), ANSWER, ANSWER, canned(MADE), ANSWER)
    async with canned_server(*answers) as server, an_adapter(server, clock) as adapter:
        for clock.now in (0.0, 1769.0, 1771.0):
            await adapter.call(seat())

    expected = ["cachedContents", "generateContent", "generateContent", "cachedContents", "generateContent"]
    assert expected == paths(server)[:5]


REFUSED = canned({"error": {"code": 400, "message": "Cached content is too small.", "status": "INVALID_ARGUMENT"}}, 400)
BUSY = canned({"error": {"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}}, 503)


@pytest.mark.parametrize(("failed", "later"), [(REFUSED, 0), (BUSY, 1)], ids=["refused", "overloaded"])
async def test_a_call_goes_on_without_a_cache_that_cannot_be_made(failed: Canned, later: int) -> None:
    clock = Clock()
    answers = (failed, ANSWER, ANSWER, *[canned(MADE)] * later, ANSWER)
    async with canned_server(*answers) as server, an_adapter(server, clock) as adapter:
        replies = []
        for clock.now in (0.0, 59.0, 61.0):  # a failure that may pass is tried again after a minute
            replies.append(await adapter.call(seat()))

    assert [CallOutcome.ANSWERED] * 3 == [reply.outcome for reply in replies]
    assert [1 + later, 3] == [paths(server).count(one) for one in ("cachedContents", "generateContent")]
    assert sent(replies[0])["cached_content"]["not_used"].startswith(f"HTTP {failed.status}")
    assert "You judge." in json.dumps(server.asked[1].json["systemInstruction"])
    assert () == replies[0].usage.cache_writes


async def test_an_unknown_cache_is_replaced_by_what_it_would_have_had_once() -> None:
    answers = (canned(MADE), ANSWER, canned({"error": UNKNOWN}, 403), ANSWER, canned(MADE), ANSWER)
    async with canned_server(*answers) as server, an_adapter(server) as adapter:
        replies = [await adapter.call(seat()) for _ in range(3)]

    assert [CallOutcome.ANSWERED] * 3 == [reply.outcome for reply in replies]
    assert ["cachedContents", *["generateContent"] * 3, "cachedContents", "generateContent"] == paths(server)[:6]
    assert "CachedContent not found" in sent(replies[1])["cached_content"]["not_used"]
    assert [WROTE, (), WROTE] == [reply.usage.cache_writes for reply in replies]


@pytest.mark.parametrize("status", [400, 403, 429])
async def test_a_call_that_is_refused_for_another_reason_is_not_repeated_and_its_cache_is_booked(status: int) -> None:
    error = {"code": status, "message": "Not so.", "status": "INVALID_ARGUMENT"}
    async with canned_server(canned(MADE), canned({"error": error}, status)) as server, an_adapter(server) as adapter:
        reply = await adapter.call(seat())

    assert ["cachedContents", "generateContent"] == paths(server)[:2]
    assert 1 == paths(server).count("generateContent")
    assert reply.outcome is not CallOutcome.ANSWERED
    assert WROTE == reply.usage.cache_writes


@pytest.mark.parametrize("lost", [Canned(200, [b'{"name"'], then="drop"), Canned(then="silent")], ids=["half", "all"])
async def test_a_cache_whose_answer_was_lost_is_booked_by_its_estimate(lost: Canned) -> None:
    async with canned_server(lost, ANSWER) as server, an_adapter(server) as adapter:
        reply = await adapter.call(seat())

    (write,) = reply.usage.cache_writes
    assert CallOutcome.ANSWERED == reply.outcome
    assert 2000 < write.tokens < 3000
    assert "not_used" in sent(reply)["cached_content"]


async def test_a_watched_answer_is_read_from_a_cache_too() -> None:
    chunks: list[str] = []
    streamed = GOOGLE.canned('{"score": 1}', streamed=True)
    async with canned_server(canned(MADE), streamed) as server, an_adapter(server) as adapter:
        reply = await adapter.call(seat(), chunks.append)

    assert ('{"score": 1}', b'{"score": 1}') == ("".join(chunks), reply.answer)
    assert "cachedContents/one" == server.asked[1].json["cachedContent"]


async def test_the_last_adapter_of_a_connection_deletes_its_caches() -> None:
    async with canned_server(canned(MADE), ANSWER) as server:
        async with an_adapter(server) as one:
            async with an_adapter(server) as other:
                for adapter in (one, other):
                    await adapter.call(seat())
            assert "one" not in paths(server)
        assert "one" == paths(server)[-1]


async def test_connections_with_other_keys_have_caches_of_their_own() -> None:
    answers = (canned(MADE), ANSWER, canned(MADE), ANSWER)
    async with (
        canned_server(*answers) as server,
        an_adapter(server) as one,
        an_adapter(server, key="sk-other") as other,
    ):
        for adapter in (one, other):
            await adapter.call(seat())

    assert 2 == paths(server).count("cachedContents")

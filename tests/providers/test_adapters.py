"""Replies, streams and failures of every protocol, read by the adapters over loopback with the real SDKs."""

import asyncio
import json
from collections.abc import Sequence
from copy import deepcopy
from itertools import product
from typing import Any

from jury_debate import AnswerSpec, parse_answer
from jury_events import STANDARD_RUBRIC, CacheWrite, CallOutcome, RefusalReason, Usage
from jury_providers import MAX_RECORDED_BYTES, ModelMessage, ModelReply, OnChunk, ProviderConnection
from support.canned_server import Canned, CannedServer, canned_server, events
from support.compression import gzipped
from support.dialects import ANTHROPIC, CHAT, DIALECTS, GOOGLE, RESPONSES, TOOL, Dialect, a_request
from support.each_row import each_row
from support.loop_clock import LoopClock

O = CallOutcome  # noqa: E741

WRITES = {
    "openai": (CacheWrite(lifetime="30m", tokens=2),),  # the total alone: the API's own default
    "openai-responses": (CacheWrite(lifetime="12h", tokens=2),),
    "anthropic": (CacheWrite(lifetime="1h", tokens=2),),
    "google": (),
}
TIERS = {"openai": "flex", "openai-responses": None, "anthropic": "standard", "google": "standard"}

every_dialect = each_row("dialect", DIALECTS, ids=[one.name for one in DIALECTS])
both_ways = each_row("streamed", [False, True], ids=["whole", "streamed"])


async def hours_pass(server: CannedServer) -> None:
    """Once the server hangs and all that it sent is read."""
    await server.hangs.wait()
    for _ in range(1000):
        await asyncio.sleep(0)
    LoopClock().of(asyncio.get_running_loop()).forward(36_000)


async def reply_to(dialect: Dialect, canned: Canned, on_chunk: OnChunk | None = None, **request: Any) -> ModelReply:
    async with canned_server(canned) as server:
        adapter = dialect.adapter(server)
        waiting = asyncio.create_task(hours_pass(server))
        try:
            reply = await adapter.call(a_request(**request), on_chunk)
        finally:
            waiting.cancel()
            await adapter.close()

        assert 1 == len(server.asked), "one call is one request, whatever comes of it"
    return reply


async def replies_to(dialect: Dialect, answers: Sequence[Canned], on_chunk: OnChunk | None = None) -> list[ModelReply]:
    """The replies of one adapter to each of the answers."""
    found, asked = await dialect.exchanged(*answers, on_chunk=on_chunk)

    assert len(answers) == len(asked), "one call is one request, whatever comes of it"
    return found


def body(document: Any, status: int = 200, **headers: str) -> Canned:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Canned(status, [json.dumps(document).encode()], named)


@every_dialect
@both_ways
async def test_a_reply_has_text_response_bytes_and_usage(dialect: Dialect, streamed: bool) -> None:
    pieces: list[str] = []
    canned = dialect.canned('{"score": 1, "word": "é判"}', streamed=streamed)
    reply = await reply_to(dialect, canned, pieces.append if streamed else None)

    assert (O.ANSWERED, None, ()) == (reply.outcome, reply.error, reply.tool_calls)
    assert '{"score": 1, "word": "é判"}' == (reply.answer or b"").decode()
    assert b"".join(canned.pieces) == reply.response
    assert ("model-1-0806", dialect.finishes[0], "c-1") == (reply.model_version, reply.finish_reason, reply.request_id)
    assert (
        Usage(
            input_tokens=11,
            output_tokens=7,
            cached_input_tokens=4,
            cache_writes=WRITES[dialect.name],
            reasoning_tokens=2,
            service_tier=TIERS[dialect.name],
            **({"region": "us", "speed": "standard"} if dialect is ANTHROPIC else {}),
        )
        == reply.usage
    )
    assert (['{"score": 1, ', '"word": "é判"}'] if streamed else []) == pieces
    assert (False, None) == (reply.simulated, reply.cost)


@every_dialect
@both_ways
async def test_a_truncated_answer_keeps_its_text(dialect: Dialect, streamed: bool) -> None:
    canned = dialect.canned('{"sco', dialect.finishes[1], streamed=streamed)
    reply = await reply_to(dialect, canned, _ignore if streamed else None)

    assert (O.TRUNCATED, b'{"sco', dialect.finishes[1]) == (reply.outcome, reply.answer, reply.finish_reason)


@every_dialect
@both_ways
async def test_tool_calls_of_a_truncated_turn_are_ignored(dialect: Dialect, streamed: bool) -> None:
    canned = dialect.canned("", dialect.finishes[1], (("t1", "look", {"n": 1}),), streamed=streamed)
    reply = await reply_to(dialect, canned, _ignore if streamed else None)

    assert (O.TRUNCATED, None, ()) == (reply.outcome, reply.answer, reply.tool_calls)


@every_dialect
@both_ways
async def test_a_filtered_answer_is_blocked_and_has_no_text(dialect: Dialect, streamed: bool) -> None:
    canned = dialect.canned("half a", dialect.finishes[2], streamed=streamed)
    reply = await reply_to(dialect, canned, _ignore if streamed else None)

    assert (O.BLOCKED, None) == (reply.outcome, reply.answer)
    assert dialect.finishes[2] in (reply.error or "")


@every_dialect
@both_ways
async def test_one_turn_can_call_several_tools(dialect: Dialect, streamed: bool) -> None:
    calls = (("t1", "look", {"n": 1}), ("t2", "look", {"word": "é"}))
    canned = dialect.canned("", calls=calls, streamed=streamed)
    reply = await reply_to(dialect, canned, _ignore if streamed else None, tools=(TOOL,))

    assert (O.ANSWERED, None) == (reply.outcome, reply.answer)
    ids = ["look#1", "look#2"] if dialect is GOOGLE else ["t1", "t2"]
    assert ids == [call.call_id for call in reply.tool_calls]
    assert [("look", {"n": 1}), ("look", {"word": "é"})] == [
        (call.name, json.loads(call.arguments)) for call in reply.tool_calls
    ]


@every_dialect
async def test_a_text_beside_tools_is_kept(dialect: Dialect) -> None:
    reply = await reply_to(dialect, dialect.canned("Let me look.", calls=(("t1", "look", {}),)), tools=(TOOL,))

    assert (b"Let me look.", 1) == (reply.answer, len(reply.tool_calls))


@every_dialect
async def test_a_reply_with_content_and_an_unknown_finish_reason_is_an_answer(dialect: Dialect) -> None:
    said = await reply_to(dialect, dialect.canned("text", "newfangled"))
    silent = await reply_to(dialect, dialect.canned("", "newfangled"))

    assert (O.ANSWERED, "newfangled") == (said.outcome, said.finish_reason)
    assert (O.MALFORMED_RESPONSE, True) == (silent.outcome, "newfangled" in (silent.error or ""))


@every_dialect
async def test_a_normal_end_without_content_is_an_empty_answer(dialect: Dialect) -> None:
    reply = await reply_to(dialect, dialect.canned(""))

    assert (O.ANSWERED, None) == (reply.outcome, reply.answer)


OF_OPENAI_AND_ANTHROPIC = ("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens")
OF_GOOGLE = ("promptTokenCount", "candidatesTokenCount")
NO_COUNTS: tuple[tuple[Any, Any], ...] = (
    ({"prompt_tokens": -1, "completion_tokens": True, "input_tokens": "7 tokens", "output_tokens": 1.5}, ["?"]),
    (dict.fromkeys(OF_OPENAI_AND_ANTHROPIC, 10**400), dict.fromkeys(OF_GOOGLE, 2**63)),
    (dict.fromkeys(OF_OPENAI_AND_ANTHROPIC, 0), dict.fromkeys(OF_GOOGLE, 0)),
)


@every_dialect
async def test_counts_that_cannot_be_are_unknown(dialect: Dialect) -> None:
    whole = dialect.reply("x", dialect.finishes[0], ())
    documents = [body({**whole, "usage": usage, "usageMetadata": metadata}) for usage, metadata in NO_COUNTS]
    replies = await replies_to(dialect, documents)

    assert [(O.ANSWERED, Usage(service_tier=whole.get("service_tier")))] * 3 == [
        (reply.outcome, reply.usage) for reply in replies
    ]


@every_dialect
async def test_a_tier_that_is_no_word_is_ignored(dialect: Dialect) -> None:
    documents = []
    for word in (7, None, "", "x" * 301, "fl\x1b[31mex", ["flex"]):
        document = deepcopy(dialect.reply("x", dialect.finishes[0], ()))
        for place in (document, document.get("usage"), document.get("usageMetadata")):
            if place is not None:
                place.update(dict.fromkeys(place.keys() & {"service_tier", "serviceTier"}, word))
        documents.append(body(document))
    replies = await replies_to(dialect, documents)

    assert {(O.ANSWERED, None)} == {(reply.outcome, reply.usage.service_tier) for reply in replies}


HALF = "\ud83d"


@every_dialect
@both_ways
async def test_a_lone_surrogate_is_recorded_unchanged_and_refused(dialect: Dialect, streamed: bool) -> None:
    text = f'{{"rationale": "{HALF}"}}'
    reply = await reply_to(dialect, dialect.canned(text, streamed=streamed), _ignore if streamed else None)
    assert reply.answer is not None
    refusal = parse_answer(reply.answer, AnswerSpec("b", STANDARD_RUBRIC, statement=False, scenarios=()))

    assert text == reply.answer.decode("utf-8", "surrogatepass")
    assert RefusalReason.LONE_SURROGATE == refusal.reason  # type: ignore[union-attr]


async def test_a_character_split_by_a_stream_is_joined() -> None:
    whole = CHAT.reply("x", "stop", ())
    deltas = [{"choices": [{"index": 0, "delta": {"content": half}}]} for half in ("a", HALF, "\ude00")]
    last = {**whole, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    reply = await reply_to(CHAT, Canned(pieces=[events(*deltas, last)]), _ignore)

    assert "a😀" == (reply.answer or b"").decode()


USELESS = (
    b"",
    b"  ",
    b"{}",
    b"null",
    b"[]",
    b"<html>gateway</html>",
    b'{"choices": [',
    b"\xff\xfe",
    b'"text"',
    b"[" * 9999,
)


@every_dialect
@both_ways
async def test_a_good_status_with_a_useless_body_is_malformed(dialect: Dialect, streamed: bool) -> None:
    replies = await replies_to(dialect, [Canned(pieces=[said]) for said in USELESS], _ignore if streamed else None)

    assert [(O.MALFORMED_RESPONSE, said, None) for said in USELESS] == [
        (reply.outcome, reply.response, reply.answer) for reply in replies
    ]
    assert all(reply.error for reply in replies)


OTHER_SHAPES: tuple[dict[str, Any], ...] = (
    {"choices": [], "output": [], "content": [], "candidates": []},
    {"choices": [{}], "output": [{}], "content": [{}], "candidates": [{}]},
    {"choices": {}, "output": "?", "content": 3, "candidates": [["?"]]},
    {"choices": [{"message": 1}], "output": [None], "content": ["x"], "candidates": [{"content": []}]},
)


@every_dialect
async def test_a_reply_of_another_shape_is_malformed(dialect: Dialect) -> None:
    replies = await replies_to(dialect, [body(document) for document in OTHER_SHAPES])

    assert {O.MALFORMED_RESPONSE} == {reply.outcome for reply in replies}


@every_dialect
async def test_a_stream_without_its_final_event_is_malformed(dialect: Dialect) -> None:
    whole = dialect.stream('{"score": 1}', dialect.finishes[0], ())
    ends = {CHAT: 3, RESPONSES: 1, ANTHROPIC: 2, GOOGLE: 1}
    cut = events(*whole[: -ends[dialect]])
    reply = await reply_to(dialect, Canned(pieces=[cut]), _ignore)

    assert (O.MALFORMED_RESPONSE, cut) == (reply.outcome, reply.response)
    assert "last words" in (reply.error or "")


@every_dialect
@both_ways
async def test_a_dropped_connection_keeps_the_received_bytes(dialect: Dialect, streamed: bool) -> None:
    pieces = dialect.canned('{"score": 1}', streamed=streamed).pieces[:3] if streamed else [b'{"x":']
    reply = await reply_to(dialect, Canned(pieces=pieces, then="drop"), _ignore if streamed else None)

    assert (O.CONNECTION, b"".join(pieces), None) == (reply.outcome, reply.response, reply.answer)


@every_dialect
@each_row("then", ["drop", "hang"])
async def test_a_stream_with_its_final_event_is_an_answer_however_the_connection_ends(
    dialect: Dialect, then: str
) -> None:
    canned = dialect.canned('{"score": 1}', streamed=True)
    reply = await reply_to(dialect, canned._replace(then=then), _ignore, seconds=600)

    assert (O.ANSWERED, b'{"score": 1}') == (reply.outcome, reply.answer)


@every_dialect
@both_ways
async def test_a_call_without_an_end_times_out_and_records_what_was_sent(dialect: Dialect, streamed: bool) -> None:
    canned = Canned(pieces=[b"data: {"], then="hang")
    reply = await reply_to(dialect, canned, _ignore if streamed else None, seconds=600)

    assert (O.TIMEOUT, b"data: {", "no answer within 600 s") == (reply.outcome, reply.response, reply.error)
    assert reply.sent


@every_dialect
async def test_a_server_that_is_not_there_is_a_connection_failure_that_records_what_was_sent(dialect: Dialect) -> None:
    async with canned_server(Canned()) as server:
        url = server.url
    adapter = dialect.make(ProviderConnection(dialect.name, url + dialect.base, None))
    reply = await adapter.call(a_request())
    await adapter.close()

    assert (O.CONNECTION, None) == (reply.outcome, reply.response)
    assert json.loads(reply.sent or b"")["url"].startswith(url)
    assert "ConnectError" in (reply.error or "")


@every_dialect
async def test_a_stream_of_a_server_that_does_not_stream_is_read_whole(dialect: Dialect) -> None:
    pieces: list[str] = []
    reply = await reply_to(dialect, dialect.canned("all at once"), pieces.append)

    assert (O.ANSWERED, b"all at once", ["all at once"]) == (reply.outcome, reply.answer, pieces)


@every_dialect
async def test_a_compressed_response_is_recorded_decompressed(dialect: Dialect) -> None:
    plain = dialect.canned("text").pieces[0]
    reply = await reply_to(dialect, Canned(pieces=[gzipped(plain)], headers={"content-encoding": "gzip"}))
    garbled = await reply_to(dialect, Canned(pieces=[b"no gzip"], headers={"content-encoding": "gzip"}))

    assert (b"text", plain) == (reply.answer, reply.response)
    assert O.MALFORMED_RESPONSE == garbled.outcome


@every_dialect
async def test_a_simulated_answer_is_marked(dialect: Dialect) -> None:
    canned = dialect.canned("text")
    reply = await reply_to(dialect, canned._replace(headers={"x-jury-simulated": "1", "x-request-id": "r-9"}))

    assert (True, "r-9") == (reply.simulated, reply.request_id)


GOOGLE_MINUTE = {
    "error": {
        "code": 429,
        "message": "Slow down.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [
            {"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "13.5s"},
        ],
    }
}


def of_openai(message: str, type_: str, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": type_, "param": None, "code": code}}


def of_anthropic(message: str, type_: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": type_, "message": message}, "request_id": "req_1"}


def of_google(code: int, message: str, status: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status}}


CASE_WORDS = (
    "api_key_invalid invalid_api_key insufficient_quota perday PerDay billing_error billing_hard_limit "
    "permission_denied authentication_error unauthenticated API key not valid, API key expired, "
    "Your credit balance is too low, prompt is too long, maximum context length, context_length_exceeded"
)


CASE_TEXTS = (CASE_WORDS, "insufficient_quota", "API key not valid. Please pass a valid API key.")


def quoting(text: str) -> tuple[Any, ...]:
    """Errors of every form whose message quotes the case."""
    violations = [{"violations": [{"description": text}], "fieldViolations": [{"description": text}]}]
    return (
        of_openai(f"Invalid value: '{text}'", "invalid_request_error", "invalid_value"),
        of_anthropic(text, "invalid_request_error"),
        {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": text, "details": violations}},
        {"error": text},
        text,
        {"error": {"type": f"cannot read {text}", "code": text + ".", "message": "?"}},
    )


@every_dialect
async def test_words_of_the_case_in_an_error_message_do_not_change_the_outcome(dialect: Dialect) -> None:
    begun = dialect.stream("half", dialect.finishes[0], ())[:2]
    for text, reported in [(words, one) for words in CASE_TEXTS for one in quoting(words)]:
        request = a_request(ModelMessage("system", "You judge."), ModelMessage("user", f"Judge this: {text}"))
        streamed = Canned(pieces=[events(*begun, of_inner(reported))])
        async with canned_server(body(reported, 400), streamed) as server:
            adapter = dialect.adapter(server)
            refused, broken_off = await adapter.call(request), await adapter.call(request, _ignore)
            await adapter.close()

        assert O.BAD_REQUEST == refused.outcome
        assert broken_off.outcome in {O.BAD_REQUEST, O.OVERLOADED}, "without a status and a type it may pass"


def of_inner(reported: Any) -> dict[str, Any]:
    """An error as it comes inside a stream."""
    return reported if isinstance(reported, dict) else {"error": reported}


@every_dialect
async def test_a_redirect_is_not_followed_and_its_target_is_named(dialect: Dialect) -> None:
    reply = await reply_to(dialect, Canned(307, headers={"location": "https://user:secret@other.example/v1?key=k"}))

    assert (
        "HTTP 307: redirects are not followed; this one leads to https://other.example: write the right base URL"
        == (reply.error)
    )


@every_dialect
@both_ways
async def test_an_invalid_response_header_is_a_connection_failure(dialect: Dialect, streamed: bool) -> None:
    reply = await reply_to(dialect, Canned(headers={"bad name": "x", " folded": "\x01"}), _ignore if streamed else None)

    assert O.CONNECTION == reply.outcome


async def test_an_error_is_one_short_line_with_the_providers_message() -> None:
    said = of_openai("Too\n  many requests\u2028now" + "!" * 9000, "requests", "rate_limit_exceeded")
    reply = await reply_to(CHAT, body(said, 429))

    assert (reply.error or "").startswith("HTTP 429 requests rate_limit_exceeded: Too many requests now!!!")
    assert 2000 == len(reply.error or "")


MID_STREAM = [
    (CHAT, {"error": {"message": "m", "type": "server_error", "code": None}}, O.OVERLOADED),
    (CHAT, {"error": {"message": "m", "code": 429}}, O.RATE_LIMITED),
    (RESPONSES, {"type": "error", "code": "rate_limit_exceeded", "message": "m"}, O.RATE_LIMITED),
    (
        RESPONSES,
        {
            "type": "response.failed",
            "response": {"status": "failed", "error": {"code": "server_error", "message": "m"}},
        },
        O.OVERLOADED,
    ),
    (ANTHROPIC, of_anthropic("m", "overloaded_error"), O.OVERLOADED),
    (ANTHROPIC, of_anthropic("m", "rate_limit_error"), O.RATE_LIMITED),
    (GOOGLE, of_google(503, "m", "UNAVAILABLE"), O.OVERLOADED),
    (GOOGLE, GOOGLE_MINUTE, O.RATE_LIMITED),
]


async def test_an_error_inside_a_stream_or_a_good_response_is_mapped_to_its_outcome() -> None:
    for dialect, event, outcome in MID_STREAM:
        begun = dialect.stream("half", dialect.finishes[0], ())[:2]
        reply = await reply_to(dialect, Canned(pieces=[events(*begun, event)]), _ignore)

        assert (outcome, None) == (reply.outcome, reply.answer), event
        assert ": " in (reply.error or "")
    no_error = {**CHAT.reply("x", "stop", ()), "code": 0, "message": "success", "error": None}
    quota, good = await replies_to(CHAT, [body({"error": {"message": "m", "code": 402}}), body(no_error)])
    assert (O.QUOTA, O.ANSWERED, b"x") == (quota.outcome, good.outcome, good.answer)


DELAYS: tuple[tuple[dict[str, str], float | None], ...] = (
    ({"retry_after": "7"}, 7.0),
    ({"retry_after": "0.5"}, 0.5),
    ({"retry_after_ms": "250", "retry_after": "9"}, 0.25),
    ({"retry_after": "Sat, 21 Nov 2026 10:00:30 GMT", "date": "Sat, 21 Nov 2026 10:00:00 GMT"}, 30.0),
    ({"retry_after": "Sat, 21 Nov 2026 09:00:00 GMT", "date": "Sat, 21 Nov 2026 10:00:00 GMT"}, 0.0),
    ({"retry_after": "soon"}, None),
    ({"retry_after": "-3"}, None),
    ({"retry_after": "nan"}, None),
    ({"retry_after": "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"}, None),
    ({"retry_after": "Sat, 21 Nov 2026 10:00:00 +99999999999999999999"}, None),
    ({}, None),
)


async def test_the_retry_delay_is_in_seconds() -> None:
    answers = [body(of_openai("Slow", "requests"), 429, **headers) for headers, _ in DELAYS]
    replies = await replies_to(CHAT, answers)

    assert [seconds for _, seconds in DELAYS] == [reply.retry_after for reply in replies]


async def test_an_error_of_megabytes_does_not_block_other_calls() -> None:
    long = [body(of_openai("a" * 900_000, "x"), 401), body(of_openai("input token count " * 200_000, "x"), 400)]

    assert [O.AUTHENTICATION, O.BAD_REQUEST] == [reply.outcome for reply in await replies_to(CHAT, long)]


async def test_googles_error_is_read_with_its_delay_alone_and_in_a_list() -> None:
    alone, listed = await replies_to(GOOGLE, [body(GOOGLE_MINUTE, 429), body([GOOGLE_MINUTE], 429)])

    assert (alone.error, 13.5, 13.5) == (listed.error, listed.retry_after, alone.retry_after)


async def test_a_refusal_of_openai_is_blocked_with_its_text() -> None:
    of_chat = CHAT.reply("", "stop", ())
    of_chat["choices"][0]["message"]["refusal"] = "I can't judge this."
    of_responses = RESPONSES.reply("x", "completed", ())
    of_responses["output"][1]["content"] = [{"type": "refusal", "refusal": "I can't judge this."}]
    replies = [await reply_to(CHAT, body(of_chat)), await reply_to(RESPONSES, body(of_responses))]

    assert [(O.BLOCKED, None, "refused: I can't judge this.")] * 2 == [
        (reply.outcome, reply.answer, reply.error) for reply in replies
    ]


@both_ways
async def test_a_blocked_prompt_of_google_has_no_candidate(streamed: bool) -> None:
    said = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 3}}
    canned = Canned(pieces=[events(said)]) if streamed else body(said)
    reply = await reply_to(GOOGLE, canned, _ignore if streamed else None)

    assert (O.BLOCKED, "PROHIBITED_CONTENT", 3) == (reply.outcome, reply.finish_reason, reply.usage.input_tokens)


async def test_anthropics_full_context_window_is_context_too_long() -> None:
    reply = await reply_to(ANTHROPIC, ANTHROPIC.canned("half", "model_context_window_exceeded"))

    assert (O.CONTEXT_TOO_LONG, None) == (reply.outcome, reply.answer)


async def test_a_continuation_of_google_is_not_followed() -> None:
    said = GOOGLE.reply("half", "CONTINUATION", ())
    said["candidates"][0]["continuationToken"] = "dG9rZW4="
    reply = await reply_to(GOOGLE, body(said))

    assert (O.TRUNCATED, b"half") == (reply.outcome, reply.answer)


@every_dialect
async def test_an_error_that_is_too_long_is_cut_with_a_note(dialect: Dialect) -> None:
    reply = await reply_to(dialect, Canned(500, [b"x" * (MAX_RECORDED_BYTES + 5)]))

    assert MAX_RECORDED_BYTES == len(reply.response or b"")
    assert f"the response has {MAX_RECORDED_BYTES + 5} bytes, the first {MAX_RECORDED_BYTES} are kept" in (
        reply.error or ""
    )


@every_dialect
async def test_a_stream_too_long_to_be_recorded_is_recorded_assembled(dialect: Dialect) -> None:
    comments = [b": keep alive\n" * 1000] * 100
    said = events(*dialect.stream("text", dialect.finishes[0], (("t1", "look", {"n": 1}),)))
    reply = await reply_to(dialect, Canned(pieces=[*comments, said]), _ignore)

    assert (O.ANSWERED, b"text", 1) == (reply.outcome, reply.answer, len(reply.tool_calls))
    assert (
        dialect.reply("text", dialect.finishes[0], (("t1", "look", {"n": 1}),)).keys()
        <= json.loads(reply.response or b"").keys()
    )
    assert "what they amount to is kept" in (reply.error or "")


async def test_an_endless_response_is_abandoned() -> None:
    reply = await reply_to(CHAT, Canned(pieces=[b" " * 1024 * 1024] * 17, then="hang"))

    assert (O.MALFORMED_RESPONSE, MAX_RECORDED_BYTES) == (reply.outcome, len(reply.response or b""))


async def test_a_responses_stream_without_output_in_its_final_event_is_assembled_from_its_items() -> None:
    said = RESPONSES.reply("text", "completed", (("t1", "look", {"n": 1}),))
    items = [{"type": "response.output_item.done", "item": item} for item in said["output"]]
    last = {"type": "response.completed", "response": {**said, "output": []}}
    reply = await reply_to(RESPONSES, Canned(pieces=[events(*items, last)]), _ignore)

    assert (O.ANSWERED, b"text", ["t1"]) == (reply.outcome, reply.answer, [call.call_id for call in reply.tool_calls])


async def test_a_schema_that_cannot_be_translated_is_a_bad_request() -> None:
    (reply,), asked = await ANTHROPIC.exchanged(Canned(), requests=[a_request()._replace(schema={"properties": {}})])

    assert (O.BAD_REQUEST, []) == (reply.outcome, asked)
    assert "type" in (reply.error or "")


ENDS = (b"\n", b"\r\n", b"\r")


async def test_a_stream_may_be_cut_into_pieces_anywhere_and_an_event_span_several_lines() -> None:
    for dialect, end, size in (
        *product((GOOGLE,), ENDS, (1, 3, 1000)),
        *product((ANTHROPIC,), ENDS, (1, 2, 3, 7)),
    ):
        stream = dialect.stream("two words é", dialect.finishes[0], ())
        said = events(*stream) if dialect is ANTHROPIC else b"".join(map(indented, stream))
        said = said.replace(b"\n", end)
        chunks: list[str] = []
        pieces = [said[at : at + size] for at in range(0, len(said), size)]
        reply = await reply_to(dialect, Canned(pieces=pieces), chunks.append)

        assert (O.ANSWERED, "two words é") == (reply.outcome, (reply.answer or b"").decode()), (end, size)
        assert "two words é" == "".join(chunks)


def indented(event: dict[str, Any]) -> bytes:
    """An event of several lines."""
    lines = json.dumps(event, indent=1, ensure_ascii=False).splitlines()
    return "".join(f"data: {line}\n" for line in (*lines, "")).encode().removesuffix(b"data: \n") + b"\n"


def test_a_line_may_arrive_in_very_many_pieces() -> None:
    from jury_providers import EventReader

    reader = EventReader()
    for _ in range(400_000):
        reader.feed(b" " * 40)
    reported = reader.feed(b"\rdata: {}\r\n\r") + reader.end()

    assert [{}] == reported


def _ignore(_piece: str) -> None:
    return

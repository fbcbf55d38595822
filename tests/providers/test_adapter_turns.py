"""Requests of the adapters: messages, tools, schemas, settings, and a model's earlier turns unchanged."""

import json
from typing import Any

from jury_providers import ModelMessage, ProviderConnection
from support.canned_server import Asked, canned_server, events
from support.dialects import ANTHROPIC, CHAT, DIALECTS, GOOGLE, MESSAGES, RESPONSES, SCHEMA, TOOL, Dialect, a_request
from support.each_row import each_row

every_dialect = each_row("dialect", DIALECTS, ids=[one.name for one in DIALECTS])
both_ways = each_row("streamed", [False, True], ids=["whole", "streamed"])

CALLS = (("t1", "look", {"n": 1}), ("t2", "look", {"n": 2}))
RESULTS = (ModelMessage("tool", "seen 1", "t1"), ModelMessage("tool", "seen 2", "t2"))
REPAIR = ModelMessage("user", "Say it again.")


async def sent_by(dialect: Dialect, *messages: ModelMessage, on_chunk: Any = None, **request: Any) -> tuple[Asked, Any]:
    """The request as it arrived, and `sent` as it is recorded."""
    called = a_request(*messages, **request)
    (reply,), (asked,) = await dialect.exchanged(dialect.canned("x"), requests=[called], on_chunk=on_chunk)
    return asked, json.loads(reply.sent or b"")


def said_by(dialect: Dialect, text: str, calls: Any = (), finish: str = "", *, streamed: bool = False) -> ModelMessage:
    """An assistant's turn, as recorded in the exchange."""
    response = b"".join(dialect.canned(text, finish, calls, streamed=streamed).pieces)
    return ModelMessage("assistant", response.decode())


async def test_requests_of_openai_chat_have_its_format() -> None:
    asked, _ = await sent_by(CHAT, tools=(TOOL,), temperature=0.5, seed=7, max_output_tokens=99)

    assert ("/v1/chat/completions", "Bearer sk-test-key-0123456789") == (asked.path, asked.headers["authorization"])
    assert {
        "model": "model-1",
        "messages": [{"role": "system", "content": "You judge."}, {"role": "user", "content": "Judge this."}],
        "max_completion_tokens": 99,
        "temperature": 0.5,
        "seed": 7,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
        },
        "tools": [
            {
                "type": "function",
                "function": {"name": "look", "description": "Looks.", "parameters": TOOL.parameters},
            }
        ],
    } == asked.json


async def test_requests_of_openai_responses_have_its_format() -> None:
    asked, _ = await sent_by(RESPONSES, tools=(TOOL,), temperature=0.5, seed=7, max_output_tokens=99)

    assert "/v1/responses" == asked.path
    assert {
        "model": "model-1",
        "input": [{"role": "system", "content": "You judge."}, {"role": "user", "content": "Judge this."}],
        "max_output_tokens": 99,
        "temperature": 0.5,
        "text": {"format": {"type": "json_schema", "name": "answer", "strict": True, "schema": SCHEMA}},
        "tools": [
            {
                "type": "function",
                "strict": False,
                "name": "look",
                "description": "Looks.",
                "parameters": TOOL.parameters,
            }
        ],
    } == asked.json


async def test_requests_of_anthropic_have_its_format() -> None:
    asked, _ = await sent_by(ANTHROPIC, tools=(TOOL,), temperature=0.5, seed=7, max_output_tokens=99)

    assert "/v1/messages" == asked.path
    score = {"type": "number", "description": "{maximum: 40, minimum: 0}"}
    schema = {**SCHEMA, "properties": {"score": score}}

    assert {
        "model": "model-1",
        "system": "You judge.",
        "messages": [{"role": "user", "content": "Judge this."}],
        "max_tokens": 99,
        "output_config": {"format": {"type": "json_schema", "schema": schema}},
        "tools": [{"name": "look", "description": "Looks.", "input_schema": TOOL.parameters}],
    } == asked.json


async def test_requests_of_google_have_its_format() -> None:
    asked, _ = await sent_by(GOOGLE, temperature=0.5, seed=7, max_output_tokens=99)

    assert "/v1/models/model-1:generateContent" == asked.path
    assert "sk-test-key-0123456789" == asked.headers["x-goog-api-key"]
    assert {
        "systemInstruction": {"parts": [{"text": "You judge."}]},
        "contents": [{"role": "user", "parts": [{"text": "Judge this."}]}],
        "generationConfig": {
            "maxOutputTokens": 99,
            "temperature": 0.5,
            "seed": 7,
            "responseMimeType": "application/json",
            "responseJsonSchema": SCHEMA,
        },
    } == asked.json


async def test_googles_path_has_the_endpoints_api_version() -> None:
    async with canned_server(GOOGLE.canned("x")) as server:
        adapter = GOOGLE.make(ProviderConnection("google", server.url, "sk-test-key-0123456789", "v1beta"))
        await adapter.call(a_request())
        await adapter.call(a_request(), lambda _piece: None)
        await adapter.close()

    assert [
        "/v1beta/models/model-1:generateContent",
        "/v1beta/models/model-1:streamGenerateContent?alt=sse",
    ] == [asked.path for asked in server.asked]


async def test_google_gets_no_schema_together_with_tools() -> None:
    asked, _ = await sent_by(GOOGLE, tools=(TOOL,))
    function = {"name": "look", "description": "Looks.", "parametersJsonSchema": TOOL.parameters}

    assert {"maxOutputTokens": 8192} == asked.json["generationConfig"]
    assert [{"functionDeclarations": [function]}] == asked.json["tools"]


@every_dialect
async def test_unset_settings_are_not_sent(dialect: Dialect) -> None:
    asked, _ = await sent_by(dialect)

    assert not {"temperature", "seed", "tools", "tool_choice", "stream"} & _keys(asked.json)


@every_dialect
async def test_what_was_sent_is_recorded_without_messages_and_secrets(dialect: Dialect) -> None:
    asked, sent = await sent_by(dialect, tools=(TOOL,), on_chunk=lambda _piece: None)
    host = asked.headers["host"]
    messages = {"messages", "input", "contents", "system", "systemInstruction"}

    assert {"method", "url", "headers", "body"} == set(sent)
    assert ("POST", f"http://{host}{asked.path.partition('?')[0]}") == (sent["method"], sent["url"])
    assert {key: value for key, value in asked.json.items() if key not in messages} == sent["body"]
    assert sent["headers"].items() <= asked.headers.items()
    assert not {"authorization", "x-goog-api-key", "cookie", "openai-organization"} & set(sent["headers"])
    assert "application/json" == sent["headers"]["content-type"]
    assert "Judge this." not in json.dumps(sent)


VERBATIM = {
    CHAT: (lambda body: body["messages"][2], lambda reply: reply["choices"][0]["message"]),
    RESPONSES: (lambda body: body["input"][2:-2], lambda reply: reply["output"]),
    ANTHROPIC: (lambda body: body["messages"][1]["content"], lambda reply: reply["content"]),
    GOOGLE: (lambda body: body["contents"][1], lambda reply: reply["candidates"][0]["content"]),
}
"""Where a turn stands in a request, and where it stood in the reply."""


@every_dialect
@both_ways
async def test_a_turn_is_sent_back_unchanged_with_unknown_fields(dialect: Dialect, streamed: bool) -> None:
    turn = said_by(dialect, "Let me look.", CALLS, streamed=streamed)
    asked, _ = await sent_by(dialect, *MESSAGES, turn, *RESULTS, tools=(TOOL,))
    in_request, in_reply = VERBATIM[dialect]

    assert in_reply(dialect.reply("Let me look.", dialect.finishes[0], CALLS)) == in_request(asked.json)


RESULTS_SENT = {
    CHAT: (
        lambda body: body["messages"][3:],
        [
            {"role": "tool", "tool_call_id": "t1", "content": "seen 1"},
            {"role": "tool", "tool_call_id": "t2", "content": "seen 2"},
        ],
    ),
    RESPONSES: (
        lambda body: body["input"][-2:],
        [
            {"type": "function_call_output", "call_id": "t1", "output": "seen 1"},
            {"type": "function_call_output", "call_id": "t2", "output": "seen 2"},
        ],
    ),
    ANTHROPIC: (
        lambda body: body["messages"][2:],
        [
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": "seen 1"},
                    {"type": "tool_result", "tool_use_id": "t2", "content": "seen 2"},
                ],
            }
        ],
    ),
    GOOGLE: (
        lambda body: body["contents"][2:],
        [
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "look", "response": {"output": "seen 1"}}},
                    {"functionResponse": {"name": "look", "response": {"output": "seen 2"}}},
                ],
            }
        ],
    ),
}


@every_dialect
async def test_several_results_belong_to_one_turn(dialect: Dialect) -> None:
    asked, _ = await sent_by(dialect, *MESSAGES, said_by(dialect, "", CALLS), *RESULTS, tools=(TOOL,))
    in_request, expected = RESULTS_SENT[dialect]

    assert expected == in_request(asked.json)


async def test_a_google_call_with_an_id_is_answered_by_id() -> None:
    reply = GOOGLE.reply("", "STOP", CALLS[:1])
    reply["candidates"][0]["content"]["parts"][-1]["functionCall"]["id"] = "g-1"
    asked, _ = await sent_by(GOOGLE, *MESSAGES, ModelMessage("assistant", json.dumps(reply)), RESULTS[0])
    (part,) = asked.json["contents"][2]["parts"]

    assert {"id": "g-1", "name": "look", "response": {"output": "seen 1"}} == part["functionResponse"]


@every_dialect
async def test_a_bare_answer_is_sent_back_as_text(dialect: Dialect) -> None:
    answer = '{"score": 1, "choices": "none", "output": "", "content": "", "candidates": ""}'
    asked, _ = await sent_by(dialect, *MESSAGES, ModelMessage("assistant", answer), REPAIR)

    assert [("assistant", answer), ("user", "Say it again.")] == _spoken(asked.json)[-2:]


@every_dialect
@both_ways
async def test_a_truncated_turn_loses_its_unanswered_calls(dialect: Dialect, streamed: bool) -> None:
    turn = said_by(dialect, "Let me", CALLS, dialect.finishes[1], streamed=streamed)
    asked, _ = await sent_by(dialect, *MESSAGES, turn, REPAIR)

    assert [("assistant", "Let me"), ("user", "Say it again.")] == _spoken(asked.json)[-2:]
    assert "look" not in asked.body.decode()


@every_dialect
@both_ways
async def test_a_turn_cut_inside_a_character_is_sent_back_without_the_lone_surrogate(
    dialect: Dialect, streamed: bool
) -> None:
    turn = said_by(dialect, "Let me \ud83d", (), dialect.finishes[1], streamed=streamed)
    asked, _ = await sent_by(dialect, *MESSAGES, turn, REPAIR)

    assert [("assistant", "Let me ?"), ("user", "Say it again.")] == _spoken(asked.json)[-2:]


@every_dialect
async def test_values_that_are_invalid_in_requests_are_omitted_from_a_turn(dialect: Dialect) -> None:
    turn = said_by(dialect, "", (("t1", "look\ud800", {"n": float("nan")}),))
    asked, sent = await sent_by(dialect, *MESSAGES, turn, RESULTS[0])

    assert "look?" in asked.body.decode()
    assert sent["method"] == "POST"


@every_dialect
@both_ways
async def test_an_empty_turn_is_omitted(dialect: Dialect, streamed: bool) -> None:
    turn = said_by(dialect, "", CALLS, dialect.finishes[1], streamed=streamed)
    asked, _ = await sent_by(dialect, *MESSAGES, turn, REPAIR)

    # Templates of open models, which speak Chat Completions, refuse two turns of the user.
    joined = [("user", "Judge this.\n\nSay it again.")]
    apart = [("user", "Judge this."), ("user", "Say it again.")]
    assert (joined if dialect is CHAT else apart) == _spoken(asked.json)[1 if dialect is CHAT else -2 :]
    assert "reasoning" not in asked.body.decode(), "it is refused without what it led to"


async def test_a_thought_without_signature_is_not_sent_back() -> None:
    reply = ANTHROPIC.reply("Let me", "max_tokens", ())
    reply["content"] = [{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": ""}, reply["content"][1]]
    asked, _ = await sent_by(ANTHROPIC, *MESSAGES, ModelMessage("assistant", json.dumps(reply)), REPAIR)

    assert [{"type": "text", "text": "Let me"}] == asked.json["messages"][1]["content"]


async def test_anthropic_gets_the_definitions_of_earlier_tools_while_their_calls_are_shown() -> None:
    asked, _ = await sent_by(ANTHROPIC, *MESSAGES, said_by(ANTHROPIC, "", CALLS), *RESULTS)

    assert [{"name": "look", "input_schema": {"type": "object"}}] == asked.json["tools"]
    assert {"type": "none"} == asked.json["tool_choice"]


async def test_tool_calls_of_a_stream_with_equal_indices_are_distinguished_by_id() -> None:
    deltas = [
        {"tool_calls": [{"index": 0, "id": id_, "function": {"name": "look", "arguments": "{}"}}]} for id_ in "ab"
    ]
    said = events(
        *({"choices": [{"delta": delta}]} for delta in deltas),
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
    ).decode()
    asked, _ = await sent_by(CHAT, *MESSAGES, ModelMessage("assistant", said), *RESULTS)

    assert ["a", "b"] == [call["id"] for call in asked.json["messages"][2]["tool_calls"]]


def _keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(_keys, value.values()))
    return set().union(*map(_keys, value)) if isinstance(value, list) else set()


def _spoken(body: dict[str, Any]) -> list[tuple[str, str]]:
    """Roles and texts of the messages."""
    said = []
    for message in body.get("messages") or body.get("input") or body["contents"]:
        content = message.get("content", message.get("parts"))
        pieces = content if isinstance(content, list) else [{"text": content or ""}]
        text = "".join(piece.get("text", "") for piece in pieces if not piece.get("thought"))
        if message.get("type") != "reasoning":
            said.append((message["role"].replace("model", "assistant"), text))
    return said

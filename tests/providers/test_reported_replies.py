"""Replies as users report them of OpenAI-compatible servers, read through the real SDK.

Each row names the public thread that it is from (repository#number), or the document of a provider.
"""
# ruff: noqa: E501  (one row is one line)

import json
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jury_events import CallOutcome as O
from jury_events import Usage
from jury_providers import Endpoint, ModelMessage, ModelReply, connection_of, cost_of, load_prices
from support.canned_server import Answer, Asked, Canned, canned_server
from support.dialects import ANTHROPIC, CHAT, GOOGLE, MESSAGES, RESPONSES, SCHEMA, TOOL, Dialect, a_request
from support.each_row import each_row

GOOD = '{"score": 7}'
JUDGED = '{"score": 40}'
TODAY = date(2026, 11, 28)
LIMIT = 8192
"""Of the requests' `max_output_tokens`."""


def chat(
    content: Any, finish: str = "stop", usage: Any = None, choice: Mapping[str, Any] = {}, **message: Any
) -> Canned:
    said = {
        "index": 0,
        "message": {"role": "assistant", "content": content, **message},
        "finish_reason": finish,
        **choice,
    }
    counted = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110} if usage is None else usage
    return document({"id": "c-1", "model": "model-1", "choices": [said], "usage": counted})


def document(said: Any, status: int = 200) -> Canned:
    return Canned(status, [json.dumps(said).encode()])


def stream(*events: str, joint: str = "data: ") -> Canned:
    lines = "".join(f"{joint}{event}\n\n" for event in events)
    return Canned(200, [lines.encode()], {"content-type": "text/event-stream"})


def chunk(content: str | None = None, finish: str | None = None, **fields: Any) -> str:
    choice = {"index": 0, "delta": {} if content is None else {"content": content}, "finish_reason": finish}
    return json.dumps({"id": "c-1", "model": "model-1", "choices": [choice], **fields})


def piece(index: Any, content: str, finish: str | None = None) -> str:
    """A chunk of one of several choices."""
    return json.dumps({"choices": [{"index": index, "delta": {"content": content}, "finish_reason": finish}]})


def part(index: int | None, text: str, finish: str | None = None) -> str:
    """A chunk of one of several candidates; the first has no index."""
    content = {"role": "model", "parts": [{"text": text}]}
    return json.dumps({"candidates": [{"index": index, "content": content, "finishReason": finish}]})


def refusing(wrong: Callable[[dict[str, Any]], bool], message: str, status: int = 400) -> Answer:
    """A server that refuses some requests and answers the others."""

    def answer(asked: Asked) -> Canned:
        return document({"error": {"message": message}}, status) if wrong(asked.json) else chat(GOOD)

    return answer


async def reply_to(
    answer: Answer,
    *messages: ModelMessage,
    at: Dialect = CHAT,
    watched: bool = False,
    tools: bool = False,
    **fields: Any,
) -> ModelReply:
    """The reply to one call of a server of one's own, whose endpoint has these fields."""
    async with canned_server(answer) as server:
        query = fields.pop("query", "")
        endpoint = Endpoint.model_validate({"base_url": f"{server.url}{at.base}{query}", **fields})
        adapter = at.make(connection_of("there", at.name, endpoint, {}))
        request = a_request(*(messages or MESSAGES), tools=(TOOL,) if tools else (), max_output_tokens=LIMIT)
        reply = await adapter.call(request, (lambda _text: None) if watched else None)
        await adapter.close()
    return reply


@each_row(
    ("source", "answer", "stripped"),
    [
        ("deepseek-ai/DeepSeek-R1#614", chat(f"<think>\nThe agent {{did}} it.\n</think>\n\n{GOOD}"), ("think",)),
        ("vllm-project/vllm#12468", chat(f"<think>\nok\n</think>\n\n```json\n{GOOD}\n```"), ("think", "fence")),
        ("vllm-project/vllm#45299", chat(f"So it seems.\n</think>\n{GOOD}"), ("think_end",)),
        ("vllm-project/vllm#17349", chat(None, reasoning_content=GOOD), ("reasoning_content",)),
        ("vllm-project/vllm#48863", chat(None, reasoning=f"\n{GOOD}"), ("reasoning_content",)),
        ("lmstudio-ai/lmstudio-bug-tracker#1602", chat("", reasoning_content=f"```\n{GOOD}\n```"), ("reasoning_content", "fence")),
        ("NVIDIA/TensorRT-LLM#9256", chat(f"<|channel|>final <|constrain|>JSON<|message|>{GOOD}"), ("channels",)),
        (
            "ml-explore/mlx-lm#1867",
            chat(f"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>{GOOD}<|return|>"),
            ("channels", "channels"),
        ),
        ("vercel/ai#8072", chat([{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}, {"type": "text", "text": GOOD}]), ("thinking_blocks",)),
        ("MiniMax-M3 in vLLM's reasoning parsers", chat(f"<mm:think>Hm.</mm:think>{GOOD}"), ("think",)),
        ("GLM-4.5V's chat template", chat(f"<think>Hm.</think><|begin_of_box|>{GOOD}<|end_of_box|>"), ("think", "answer_tags")),
        ("browserbase/stagehand#1204", chat(f"```json {GOOD}```"), ("fence",)),
        ("another language of the fence", chat(f"```json5\n{GOOD}\n```"), ("fence",)),
        ("BerriAI/litellm#25766", stream(chunk(GOOD), chunk(None, "stop"), "[DONE]"), ()),
        ("dataelement/Clawith#106", stream(chunk(GOOD, "stop"), "[DONE]", joint="data:"), ()),
        ("mnfst/llm-gateway#2053", stream(": OPENROUTER PROCESSING", chunk(GOOD, "stop"), "[DONE]"), ()),
    ],
)  # fmt: skip
async def test_an_answer_is_found_in_what_stands_around_it(
    source: str, answer: Canned, stripped: tuple[str, ...]
) -> None:
    reply = await reply_to(answer)

    assert (O.ANSWERED, GOOD.encode(), stripped) == (reply.outcome, reply.answer, reply.stripped)
    assert b"".join(answer.pieces) == reply.response, "what was received is recorded whole"


def a_choice(index: int | None, content: str, **fields: Any) -> dict[str, Any]:
    return {"index": index, "message": {"role": "assistant", "content": content}, "finish_reason": "stop", **fields}


def a_response(**fields: Any) -> Canned:
    return document({"id": "r-1", "object": "response", "status": "completed", "model": "model-1", **fields})


COMPLETED = {"index": 0, "text": GOOD, "finish_reason": "stop", "logprobs": None}
PIECES = [(GOOD[:5], None), (GOOD[5:], None), ("", "stop")]


@each_row(
    ("at", "answer"),
    [
        (CHAT, document({"choices": [a_choice(1, JUDGED), a_choice(0, GOOD)]})),
        (CHAT, document({"choices": [a_choice(None, GOOD)]})),
        (CHAT, document({"object": "text_completion", "choices": [COMPLETED]})),
        (CHAT, stream(*(json.dumps({"choices": [{"index": 0, "text": text, "finish_reason": end}]}) for text, end in PIECES))),
        (CHAT, stream(json.dumps({"choices": [a_choice(0, GOOD)]}), "[DONE]")),
        (CHAT, stream(chunk(GOOD[:5]), json.dumps({"choices": [a_choice(0, GOOD)]}), "[DONE]")),
        (CHAT, stream(piece(0, GOOD[:5]), piece(1, JUDGED[:7]), piece(0, GOOD[5:]), piece(1, JUDGED[7:], "length"), piece(0, "", "stop"), "[DONE]")),
        (CHAT, stream(piece(1, JUDGED, "stop"), piece(0, GOOD[:5]), piece(0, GOOD[5:], "stop"), "[DONE]")),
        (CHAT, stream(piece(1, GOOD[:5]), piece(1, GOOD[5:], "stop"), "[DONE]")),
        (CHAT, stream(piece("0", GOOD[:5]), piece(None, GOOD[5:], "stop"), "[DONE]")),
        (GOOGLE, stream(part(0, GOOD[:5]), part(1, JUDGED[:7]), part(0, GOOD[5:], "STOP"), part(1, JUDGED[7:], "STOP"))),
        (GOOGLE, stream(part(1, JUDGED, "STOP"), part(None, GOOD[:5]), part(None, GOOD[5:], "STOP"))),
        (CHAT, document({"choices": [a_choice(0, "", message={"role": "assistant", "content": json.loads(GOOD)})]})),
        (RESPONSES, a_response(output_text=GOOD)),
        (RESPONSES, a_response(output=[{"type": "reasoning", "id": "rs", "summary": []}], output_text=GOOD)),
        (RESPONSES, a_response(output=[{"type": "message", "role": "assistant", "content": GOOD}])),
        (ANTHROPIC, document({"type": "message", "content": GOOD, "stop_reason": "end_turn"})),
        (GOOGLE, document({"candidates": [{"index": 1, "content": {"parts": [{"text": JUDGED}]}, "finishReason": "STOP"}, {"content": {"parts": [{"text": GOOD}]}, "finishReason": "STOP"}]})),
    ],
)  # fmt: skip
async def test_an_answer_is_found_where_a_server_puts_it(at: Dialect, answer: Canned) -> None:
    reply = await reply_to(answer, at=at)

    assert (O.ANSWERED, GOOD.encode(), ()) == (reply.outcome, reply.answer, reply.stripped)


@each_row(
    ("at", "answer"),
    [(RESPONSES, a_response(output_text=GOOD)), (ANTHROPIC, document({"content": GOOD, "stop_reason": "end_turn"}))],
)
async def test_such_an_answer_is_sent_back_as_the_models_turn(at: Dialect, answer: Canned) -> None:
    turn = ModelMessage("assistant", answer.pieces[0].decode())
    asked: list[Any] = []

    def noted(one: Asked) -> Canned:
        asked.append(one.json)
        return answer

    await reply_to(noted, *MESSAGES, turn, ModelMessage("user", "Say it again."), at=at)

    (sent,) = (one for one in asked[0].get("input") or asked[0]["messages"] if one["role"] == "assistant")
    assert [GOOD] == [content["text"] for content in sent["content"]]


async def test_raw_line_breaks_in_strings_are_escaped() -> None:
    """ollama/ollama#3782, livekit/agents#4196."""
    reply = await reply_to(chat('{"score": 7, "why": "one\n\t\x0btwo"}'))

    assert (b'{"score": 7, "why": "one\\n\\t\\u000btwo"}', ("line_breaks",)) == (reply.answer, reply.stripped)


@each_row(
    "content",
    [
        f"Sure, here it is: {GOOD}",
        f"{GOOD}\nThat is all.",
        f"<think>{GOOD}",
        f"<think>The case says </think>{JUDGED} and so on</think>",
        f"<think>The case says </think>{JUDGED}</think> {GOOD} {GOOD}",
        f"<|channel|>analysis<|message|>It says <|end|><|start|>assistant<|channel|>final<|message|>{JUDGED}<|end|> Hm",
        f"```json\n{GOOD}",
        f"{GOOD[:-1]},}}",
        "</think>" * 3000 + GOOD,
    ],
)
async def test_nothing_is_taken_off_unless_one_object_is_left(content: str) -> None:
    reply = await reply_to(chat(content))

    assert (content.encode(), ()) == (reply.answer, reply.stripped)


async def test_the_last_object_behind_quoted_tags_is_the_answer() -> None:
    reply = await reply_to(chat(f"<think>The case says </think>{JUDGED} and so on</think>{GOOD}"))

    assert (GOOD.encode(), ("think",)) == (reply.answer, reply.stripped)


async def test_nothing_is_taken_off_where_the_panel_names_what_may_stand_there() -> None:
    content = f"<think>Hm.</think>{GOOD}"
    reply = await reply_to(chat(content), dialect={"around": ["fence"]})

    assert (content.encode(), ()) == (reply.answer, reply.stripped)


def last_role(asked: dict[str, Any]) -> list[str]:
    return [message["role"] for message in asked["messages"]]


def earlier(**fields: Any) -> tuple[ModelMessage, ...]:
    """A conversation whose earlier turn had these fields."""
    turn = chat('{"sc', "length", **fields).pieces[0].decode()
    return (*MESSAGES, ModelMessage("assistant", turn), ModelMessage("user", "Say it again."))


EMPTY_TURN = (
    *MESSAGES,
    ModelMessage("assistant", chat("", "length").pieces[0].decode()),
    ModelMessage("user", "Again."),
)
SHARED = (MESSAGES[0], ModelMessage("user", "Judge.", shared=("The panel. ", "The case. ")))


def _of_assistant(asked: dict[str, Any], *names: str) -> bool:
    return any(message.keys() & set(names) for message in asked["messages"] if message["role"] == "assistant")


@each_row(
    ("source", "wrong", "fields", "messages"),
    [
        ("llm-exe/llm-exe#662", lambda b: b["response_format"]["type"] == "json_schema", {"dialect": "deepseek"}, MESSAGES),
        ("editor-code-assistant/eca#231", lambda b: "max_completion_tokens" in b, {"dialect": "mistral"}, MESSAGES),
        ("charmbracelet/crush#1590", lambda b: _of_assistant(b, "reasoning_content"), {"dialect": "mistral"}, earlier(reasoning_content="Hm")),
        ("karthink/gptel#774", lambda b: _of_assistant(b, "reasoning"), {"dialect": "groq"}, earlier(reasoning="Hm")),
        ("i-am-bee/beeai-framework#1215", lambda b: "minimum" in json.dumps(b["response_format"]), {"dialect": "groq"}, MESSAGES),
        ("agent0ai/agent-zero#1732", lambda b: not _of_assistant(b, "reasoning_content"), {"dialect": "deepseek"}, earlier(reasoning_content="Hm")),
        ("infiniflow/ragflow#5912", lambda b: not b.get("stream"), {"dialect": "dashscope"}, MESSAGES),
        ("huggingface/chat-ui#1386", lambda b: "system" in last_role(b), {"dialect": {"system_role": "user"}}, MESSAGES),
        ("vllm-project/vllm#6862", lambda b: ["user", "user"] == last_role(b)[-2:], {}, EMPTY_TURN),
        ("microsoft/autogen#1037", lambda b: last_role(b) != ["user"], {"dialect": {"system_role": "user"}}, EMPTY_TURN),
        ("BerriAI/litellm#6642", lambda b: any(isinstance(m["content"], list) for m in b["messages"]), {}, SHARED),
        ("the words alone", lambda b: "response_format" in b, {"dialect": {"structured": "words"}}, MESSAGES),
    ],
)  # fmt: skip
async def test_a_server_is_called_as_it_takes_calls(
    source: str, wrong: Callable[[dict[str, Any]], bool], fields: dict[str, Any], messages: tuple[ModelMessage, ...]
) -> None:
    reply = await reply_to(refusing(wrong, f"refused as in {source}"), *messages, **fields)

    assert (O.ANSWERED, None, GOOD.encode()) == (reply.outcome, reply.error, reply.answer)
    if messages is MESSAGES and isinstance(fields.get("dialect"), dict):
        assert fields["dialect"] == json.loads(reply.sent or b"")["dialect"], "the record says how it was asked"


async def test_query_parameters_of_the_base_url_stand_behind_every_path() -> None:
    """MicrosoftDocs/azure-docs#114602."""
    for at in (CHAT, RESPONSES, ANTHROPIC, GOOGLE):

        def answer(asked: Asked, at: Dialect = at) -> Canned:
            return at.canned(GOOD) if asked.path.endswith("?api-version=2026-01-01") else document({}, 404)

        reply = await reply_to(answer, at=at, query="?api-version=2026-01-01")

        assert (O.ANSWERED, True) == (reply.outcome, b"api-version=2026-01-01" in (reply.sent or b""))


def tool_call(name: str, arguments: str) -> list[dict[str, Any]]:
    return [{"id": "t1", "type": "function", "function": {"name": name, "arguments": arguments}}]


@each_row(
    ("source", "name", "arguments", "tools"),
    [
        ("a forced tool", "answer", GOOD, False),
        ("vllm-project/vllm#35906", "answer<|channel|>commentary", GOOD, False),
        ("beside other tools", "answer", GOOD, True),
    ],
)
async def test_the_arguments_of_a_tool_can_be_the_answer(source: str, name: str, arguments: str, tools: bool) -> None:
    def answer(asked: Asked) -> Canned:
        offered = [one["function"]["name"] for one in asked.json["tools"]]
        forced = "required" if tools else {"type": "function", "function": {"name": "answer"}}
        known = offered == (["look", "answer"] if tools else ["answer"]) and asked.json["tool_choice"] == forced
        known = known and asked.json["tools"][-1]["function"]["parameters"] == SCHEMA
        calls = tool_call(name, arguments)
        return chat(None, "tool_calls", tool_calls=calls) if known else document({}, 400)

    reply = await reply_to(answer, tools=tools, dialect={"structured": "tool"})

    assert (O.ANSWERED, GOOD.encode(), ()) == (reply.outcome, reply.answer, reply.tool_calls), source


@each_row(
    ("source", "answer", "outcome", "output", "began"),
    [
        ("razzant/claudexor#144", chat(GOOD[:5], "error", choice={"error": {"code": 502, "message": "Upstream"}}), O.OVERLOADED, 10, True),
        ("razzant/claudexor#144, whole", chat(GOOD, "error", choice={"error": {"code": 429, "message": "Slow"}}), O.RATE_LIMITED, 10, True),
        ("without a word on it", chat("", "error", {}), O.OVERLOADED, None, False),
        ("pydantic/pydantic-ai#7678", chat("half", "network_error"), O.OVERLOADED, 10, True),
        ("langgenius/dify#7559", chat("", "sensitive"), O.BLOCKED, 10, True),
        ("HKUDS/Vibe-Trading#308", chat("", "PROHIBITED_CONTENT"), O.BLOCKED, 10, True),
        ("HKUDS/Vibe-Trading#308, behind a word", chat("", "content_filter: SAFETY"), O.BLOCKED, 10, True),
        ("HKUDS/Vibe-Trading#308, cut off", chat('{"sc', "MAX_TOKENS"), O.TRUNCATED, 10, True),
        ("earendil-works/pi#1750", chat("half", "abort"), O.OVERLOADED, 10, True),
        ("api-docs.deepseek.com/api", chat("", "insufficient_system_resource"), O.OVERLOADED, 10, True),
        ("mozilla-ai/any-llm#1200", chat('{"sc', "model_context_window_exceeded"), O.TRUNCATED, 10, True),
        ("genkit-ai/genkit#6079", stream(chunk(GOOD[:5]), chunk("", "error", error={"code": 502, "message": "Gone"})), O.OVERLOADED, None, True),
        ("diegosouzapw/OmniRoute#8210", stream('{"id": "c", "choices": [], "error": {"code": 502, "message": "Full"}}'), O.OVERLOADED, None, False),
    ],
)  # fmt: skip
async def test_a_failure_in_a_good_status_is_no_answer_and_may_cost(
    source: str, answer: Canned, outcome: O, output: int | None, began: bool
) -> None:
    for watched in (False, True):
        reply = await reply_to(answer, watched=watched)

        assert (outcome, output, began) == (reply.outcome, reply.usage.output_tokens, reply.began), source
        known = cost_of("openai/gpt-6-sol", reply, load_prices(), TODAY, simulated=False)
        if outcome in {O.OVERLOADED, O.RATE_LIMITED}:
            assert (0.0 if not began else None) == (known if output is None else None)
            assert output is None or known


ALL_GONE = f"all of max_output_tokens ({LIMIT:,}) went to reasoning; raise it, or lower effort or thinking"


@each_row(
    ("source", "at", "answer", "outcome"),
    [
        ("pvliesdonk/markdown-vault-mcp#919", CHAT, chat("", "length", {"prompt_tokens": 9, "completion_tokens": LIMIT}), O.ONLY_REASONING),
        ("BerriAI/litellm-docs#559", CHAT, chat("", "length", {"prompt_tokens": 9, "completion_tokens": 200, "completion_tokens_details": {"reasoning_tokens": 200}}), O.ONLY_REASONING),
        ("aaif-goose/goose#11142", CHAT, chat("", "length", reasoning_content="Let me see"), O.ONLY_REASONING),
        ("a thought without an end", CHAT, chat("<think>Let me see", "length"), O.ONLY_REASONING),
        ("an empty answer of a few tokens", CHAT, chat("", "length"), O.TRUNCATED),
        ("half of an answer", CHAT, chat('{"sc', "length", reasoning_content="Let me see"), O.TRUNCATED),
        ("BerriAI/litellm#37710", RESPONSES, document({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": [{"type": "reasoning", "id": "rs", "summary": []}], "usage": {"input_tokens": 9, "output_tokens": LIMIT, "output_tokens_details": {"reasoning_tokens": LIMIT}}}), O.ONLY_REASONING),
        ("Anthropic's stop reasons", ANTHROPIC, document({"content": [{"type": "thinking", "thinking": "Hm", "signature": "s"}], "stop_reason": "max_tokens", "usage": {"input_tokens": 9, "output_tokens": LIMIT}}), O.ONLY_REASONING),
        ("a turn that another call would go on with", ANTHROPIC, document({"content": '{"sc', "stop_reason": "pause_turn", "usage": {"input_tokens": 9, "output_tokens": 9}}), O.TRUNCATED),
        ("a whole answer in such a turn", ANTHROPIC, document({"content": GOOD, "stop_reason": "pause_turn", "usage": {"input_tokens": 9, "output_tokens": 9}}), O.TRUNCATED),
        ("router-for-me/CLIProxyAPI#5733", GOOGLE, document({"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}], "usageMetadata": {"promptTokenCount": 21, "thoughtsTokenCount": 60, "totalTokenCount": 81}}), O.ONLY_REASONING),
    ],
)  # fmt: skip
async def test_a_limit_that_went_to_reasoning_alone_is_said(
    source: str, at: Dialect, answer: Canned, outcome: O
) -> None:
    reply = await reply_to(answer, at=at)

    assert (outcome, ALL_GONE if outcome is O.ONLY_REASONING else None) == (reply.outcome, reply.error), source


def counted(said: dict[str, Any]) -> tuple[Dialect, Canned]:
    return CHAT, chat(GOOD, usage=said)


@each_row(
    ("source", "at", "answer", "sent", "output"),
    [
        ("Wei-Shaw/sub2api#5771", *counted({"prompt_tokens": 10120, "completion_tokens": 1499, "total_tokens": 14428, "completion_tokens_details": {"reasoning_tokens": 2809}}), 10120, 4308),
        ("vercel/ai#12425, without a total", *counted({"prompt_tokens": 12, "completion_tokens": 1, "completion_tokens_details": {"reasoning_tokens": 386}}), 12, 387),
        ("promptfoo/promptfoo#9507", *counted({"prompt_tokens": 500, "completion_tokens": 500, "total_tokens": 1000, "completion_tokens_details": {"reasoning_tokens": 200}}), 500, 500),
        ("mozilla-ai/any-llm#1290", *counted({"prompt_tokens": 20, "completion_tokens": 198, "total_tokens": 623}), 20, 603),
        ("router-for-me/CLIProxyAPI#5733", *counted({"prompt_tokens": 21, "completion_tokens": 0, "total_tokens": 81, "completion_tokens_details": {"reasoning_tokens": 60}}), 21, 60),
        ("llm-exe/llm-exe#803", *counted({"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 120, "prompt_tokens_details": {"cached_tokens": 90}}), 100, 20),
        ("counts as texts", *counted({"prompt_tokens": "12", "completion_tokens": "34.5", "total_tokens": "46"}), 12, 34),
        ("texts that are no counts", *counted({"prompt_tokens": "many", "completion_tokens": "-1"}), None, None),
        ("a count that is left out as 0", GOOGLE, document({"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 1000, "totalTokenCount": 1000}}), 1000, 0),
        ("a blocked prompt", GOOGLE, document({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 1000, "totalTokenCount": 1000}}), 1000, 0),
        ("thoughts beside an answer", GOOGLE, document({"candidates": [{"content": {"parts": [{"text": GOOD}]}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 55021, "candidatesTokenCount": 923, "totalTokenCount": 56729, "thoughtsTokenCount": 785}}), 55021, 1708),
        ("usage in a chunk before the last", CHAT, stream(chunk(GOOD, usage={"prompt_tokens": 0, "completion_tokens": 0}), chunk(None, "stop", usage={"prompt_tokens": 100, "completion_tokens": 10}), '{"id": "", "model": "", "choices": [], "usage": null, "cost": "0"}', "[DONE]"), 100, 10),
    ],
)  # fmt: skip
async def test_output_is_what_is_owed(
    source: str, at: Dialect, answer: Canned, sent: int | None, output: int | None
) -> None:
    reply = await reply_to(answer, at=at)

    assert (sent, output) == (reply.usage.input_tokens, reply.usage.output_tokens), source


def said_by_anthropic(text: str, *before: dict[str, Any]) -> Canned:
    content = [*before, {"type": "text", "text": text}]
    usage = {"input_tokens": 9, "output_tokens": 9}
    return document(
        {"type": "message", "role": "assistant", "content": content, "stop_reason": "end_turn", "usage": usage}
    )


async def test_servers_of_anthropics_protocol_that_refuse_a_format_are_asked_in_words() -> None:
    def answer(asked: Asked) -> Canned:
        """As MiniMax-AI/MiniMax-M2.7#17 and can1357/oh-my-pi#5572."""
        if "output_config" in asked.json:
            return document(
                {"type": "error", "error": {"type": "invalid_request_error", "message": "invalid params"}}, 400
            )
        return said_by_anthropic(f"<think>Hm</think>{GOOD}", {"type": "thinking", "thinking": "Hm", "signature": "s"})

    refused = await reply_to(answer, at=ANTHROPIC)
    for dialect in ("minimax", "deepseek", {"structured": "words"}):
        reply = await reply_to(answer, at=ANTHROPIC, dialect=dialect)

        assert (O.ANSWERED, GOOD.encode(), ("think",)) == (reply.outcome, reply.answer, reply.stripped)
    assert (O.BAD_REQUEST, 400) == (refused.outcome, refused.status)


COUNTED = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


@each_row(
    ("source", "where", "said", "headers", "cost"),
    [
        ("openrouter.ai/docs/use-cases/usage-accounting", "openrouter", {"cost": 0.95, "cost_details": {"upstream_inference_cost": 19}}, {}, 0.95),
        ("openrouter.ai/docs/use-cases/usage-accounting, own key", "openrouter", {"cost": 0.95, "is_byok": True, "cost_details": {"upstream_inference_cost": 19}}, {}, 19.95),
        ("openrouter.ai/docs/use-cases/usage-accounting, a free model", "openrouter", {"cost": 0}, {}, 0.0),
        ("docs.x.ai/developers/cost-tracking", "xai", {"cost_in_usd_ticks": 37756000}, {}, 0.0037756),
        ("docs.litellm.ai/docs/proxy/cost_tracking", "litellm", {}, {"x-litellm-response-cost": "2.85e-05"}, 2.85e-05),
        ("no amount", "openrouter", {"cost": "free"}, {}, None),
        ("no amount", "xai", {"cost_in_usd_ticks": -1}, {}, None),
        ("no amount", "litellm", {}, {"x-litellm-response-cost": "nan"}, None),
        ("a server that is not known to say it", "vllm", {"cost": 0, "cost_in_usd_ticks": 0}, {"x-litellm-response-cost": "0"}, None),
    ],
)  # fmt: skip
async def test_what_a_server_says_that_a_call_cost_counts_before_the_list_of_prices(
    source: str, where: str, said: dict[str, Any], headers: Mapping[str, str], cost: float | None
) -> None:
    whole = chat(GOOD, usage={**COUNTED, **said})._replace(headers=headers)
    chunks = stream(chunk(GOOD), chunk(None, "stop"), chunk(usage={**COUNTED, **said}), "[DONE]")
    chunks = chunks._replace(headers={**chunks.headers, **headers})
    listed = load_prices().cost("openai/gpt-6-sol", Usage(input_tokens=100, output_tokens=10), TODAY)

    for answer, watched in ((whole, False), (chunks, True)):
        reply = await reply_to(answer, watched=watched, dialect=where)

        assert cost == reply.cost, source
        booked = cost_of("openai/gpt-6-sol", reply, load_prices(), TODAY, simulated=False)
        assert (listed if cost is None else cost) == booked


SHAPES = st.sampled_from(["openai", "beside", "beside, no details", "no completion", "no total"])


@given(SHAPES, st.integers(1, 10**6), st.integers(0, 10**5), st.integers(0, 10**5), st.integers(0, 10**6))
def test_no_usage_of_a_known_shape_is_booked_below_what_is_owed(
    shape: str, prompt: int, text: int, reasoning: int, cached: int
) -> None:
    cached = min(cached, prompt)
    owed = text + reasoning
    said: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": owed, "total_tokens": prompt + owed}
    said["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    if cached:
        said["prompt_tokens_details"] = {"cached_tokens": cached}
    if shape.startswith("beside"):
        said["completion_tokens"] = text
    if shape == "beside, no details":
        del said["completion_tokens_details"]
    if shape == "no completion":
        del said["completion_tokens"]
    if shape == "no total":
        del said["total_tokens"]
    parsed = CHAT.make(connection_of("there", "openai", Endpoint(base_url="http://127.0.0.1:1"), {})).parse(
        json.loads(chat(GOOD, usage=said).pieces[0])
    )

    assert (prompt, owed, cached or None) == (
        parsed.usage.input_tokens,
        parsed.usage.output_tokens,
        parsed.usage.cached_input_tokens,
    )
    reply = ModelReply(O.ANSWERED, usage=parsed.usage)
    prices = load_prices()
    booked = cost_of("openai/gpt-6-sol", reply, prices, TODAY, simulated=False)
    true = prices.cost(
        "openai/gpt-6-sol", Usage(input_tokens=prompt, output_tokens=owed, cached_input_tokens=cached), TODAY
    )
    assert true == booked

"""CPU of one model call: each adapter beside its SDK's own call, interleaved, on loopback, with no latency.

    python benchmarks/adapters.py [--calls N] [--rounds N]

Both sides send a prompt of 3 KB with the same schema and are answered 1 KB by a server in a separate process, so that
what is measured is this process's time alone. The SDK's side makes its typed call and takes the text out of it.
"""

import argparse
import asyncio
import gc
import json
import multiprocessing
import statistics
import time
from collections.abc import Awaitable, Callable
from functools import partial
from multiprocessing.connection import Connection as Pipe
from typing import Any, NamedTuple

from jury_events.outcome import CallOutcome
from jury_events.panel import CallSettings
from jury_events.verdict import PASS, Verdict
from jury_providers.endpoints import ProviderConnection
from jury_providers.provider import ModelMessage, ModelRequest, Provider

SYSTEM, PROMPT = "s" * 300, "The agent was asked for a report. " * 88
ANSWER = json.dumps({"verdict": PASS, "score": 90, "rationale": "r" * 950})
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": list(Verdict)},
        "score": {"type": "number", "minimum": 0, "maximum": 100},
        "rationale": {"type": "string"},
    },
    "required": ["verdict", "score", "rationale"],
    "additionalProperties": False,
}
MODEL, KEY, MOST = "model-1", "sk-benchmark-key", 4096

REPLIES: dict[str, Any] = {
    "/chat/completions": {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": MODEL,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 900, "completion_tokens": 300, "total_tokens": 1200},
    },
    "/responses": {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": MODEL,
        "output": [
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": ANSWER, "annotations": []}],
            }
        ],
        "usage": {"input_tokens": 900, "output_tokens": 300, "total_tokens": 1200},
    },
    "/messages": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [{"type": "text", "text": ANSWER}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 900, "output_tokens": 300},
    },
    ":generateContent": {
        "candidates": [{"content": {"role": "model", "parts": [{"text": ANSWER}]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 900, "candidatesTokenCount": 300, "totalTokenCount": 1200},
        "modelVersion": MODEL,
        "responseId": "r1",
    },
}


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve one connection until it closes."""
    whole = {end: json.dumps(reply).encode() for end, reply in REPLIES.items()}
    while True:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return writer.close()
        path = head.split(b" ", 2)[1].decode()
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(length)
        body = next(body for end, body in whole.items() if path.endswith(end))
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body
        )


def serve(pipe: Pipe) -> None:
    """Run the server in this process; its port goes to `pipe`."""

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


class Pair(NamedTuple):
    """An SDK's own call, and the adapter's."""

    sdk: Callable[[], Awaitable[str | None]]
    adapter: Provider


def pairs(url: str) -> dict[str, Pair]:
    """One for each protocol; the SDK's clients are as their makers build them."""
    import anthropic
    import httpx2
    import openai
    from google import genai
    from google.genai import types

    from jury_providers.sdk.anthropic_messages import AnthropicMessages
    from jury_providers.sdk.google_generate import GoogleGenerate
    from jury_providers.sdk.openai_chat import OpenAIChat
    from jury_providers.sdk.openai_responses import OpenAIResponses

    of_openai = openai.AsyncOpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=0)
    of_anthropic = anthropic.AsyncAnthropic(api_key=KEY, base_url=url, max_retries=0)
    of_google = genai.Client(
        api_key=KEY,
        enterprise=False,
        http_options=types.HttpOptions(base_url=url, httpx_async_client=httpx2.AsyncClient()),
    )
    strict: Any = {"name": "answer", "strict": True, "schema": SCHEMA}
    said: Any = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": PROMPT}]

    transformed = anthropic.transform_schema(SCHEMA)

    async def chat() -> str | None:
        reply = await of_openai.chat.completions.create(
            model=MODEL,
            messages=said,
            max_completion_tokens=MOST,
            response_format={"type": "json_schema", "json_schema": strict},
        )
        return reply.choices[0].message.content

    async def responses() -> str | None:
        reply = await of_openai.responses.create(
            model=MODEL, input=said, max_output_tokens=MOST, text={"format": {"type": "json_schema", **strict}}
        )
        return reply.output_text

    async def messages() -> str | None:
        reply: Any = await of_anthropic.messages.create(
            model=MODEL,
            system=SYSTEM,
            messages=said[1:],
            max_tokens=MOST,
            output_config={"format": {"type": "json_schema", "schema": transformed}},
        )
        return str(reply.content[0].text)

    config = types.GenerateContentConfig(
        system_instruction=SYSTEM,
        max_output_tokens=MOST,
        response_mime_type="application/json",
        response_json_schema=SCHEMA,
        automatic_continuation=False,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )

    async def generate() -> str | None:
        return (await of_google.aio.models.generate_content(model=MODEL, contents=PROMPT, config=config)).text

    return {
        "openai": Pair(chat, OpenAIChat(ProviderConnection("openai", f"{url}/v1", KEY))),
        "openai-responses": Pair(responses, OpenAIResponses(ProviderConnection("openai-responses", f"{url}/v1", KEY))),
        "anthropic": Pair(messages, AnthropicMessages(ProviderConnection("anthropic", url, KEY))),
        "google": Pair(generate, GoogleGenerate(ProviderConnection("google", url, KEY))),
    }


REQUEST = ModelRequest(
    MODEL, (ModelMessage("system", SYSTEM), ModelMessage("user", PROMPT)), (), SCHEMA, CallSettings(), "benchmark"
)


async def by_adapter(adapter: Provider) -> str | None:
    """The adapter's call, which also keeps what was sent and received."""
    reply = await adapter.call(REQUEST)
    assert reply.outcome is CallOutcome.ANSWERED, reply
    return None if reply.answer is None else reply.answer.decode()


async def milliseconds(call: Callable[[], Awaitable[str | None]], count: int) -> float:
    """This process's CPU a call."""
    gc.collect()
    start = time.process_time()
    for _ in range(count):
        assert await call() == ANSWER
    return (time.process_time() - start) / count * 1000


async def measure(url: str, calls: int, rounds: int) -> None:
    """Print a line a protocol."""
    print(f"median CPU-ms a call over {rounds} rounds of {calls} calls")
    print(f"{'protocol':18}{'SDK alone':>12}{'adapter':>12}{'adapter / SDK':>16}")
    for name, pair in pairs(url).items():
        sdk: list[float] = []
        adapter: list[float] = []
        for round_ in range(rounds + 1):
            took = await milliseconds(pair.sdk, calls), await milliseconds(partial(by_adapter, pair.adapter), calls)
            if round_:  # the first one warms up
                sdk.append(took[0])
                adapter.append(took[1])
        ratio = statistics.median(mine / its for its, mine in zip(sdk, adapter, strict=True))
        print(f"{name:18}{statistics.median(sdk):12.3f}{statistics.median(adapter):12.3f}{ratio:16.2f}")
        await pair.adapter.close()


def main() -> None:
    """Start the server, measure, stop it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=200, help="calls a round and side")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    ours, its = context.Pipe()
    server = context.Process(target=serve, args=(its,), daemon=True)
    server.start()
    try:
        asyncio.run(measure(f"http://127.0.0.1:{ours.recv()}", options.calls, options.rounds))
    finally:
        server.terminate()
        server.join()


if __name__ == "__main__":
    main()

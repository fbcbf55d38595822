"""The providers' SDKs as they are, over one form of request: what an adapter does, and nothing more."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import anthropic
import httpx2
import openai
from google import genai
from google.genai import types

from jury_providers import ModelMessage, ModelRequest


class Answer(NamedTuple):
    """What a client saw: the text, the tools as (id, name, arguments), how it ended, and the turn to be sent back."""

    text: str
    tools: tuple[tuple[str, str, Any], ...]
    finish: str | None
    model: str
    turn: Any
    tokens: tuple[int | None, int | None]


class Client(ABC):
    """An SDK against a server; `stream` as in `ask`."""

    def __init__(self, url: str, timeout: float = 30.0) -> None:
        self.url = url
        self.timeout = timeout

    @abstractmethod
    async def ask(self, request: ModelRequest, *, stream: bool) -> Answer: ...

    @abstractmethod
    async def close(self) -> None: ...


def after_tools(request: ModelRequest, answer: Answer, results: list[str]) -> ModelRequest:
    """The next request: the model's turn verbatim, and what its tools gave back."""
    tool_results = [
        ModelMessage("tool", result, f"{identity}\n{name}")
        for (identity, name, _), result in zip(answer.tools, results, strict=True)
    ]
    turn = ModelMessage("assistant", json.dumps(answer.turn))
    return request._replace(messages=(*request.messages, turn, *tool_results))


def _system(request: ModelRequest) -> str:
    return "\n".join(message.text for message in request.messages if message.role == "system")


def _identity(message: ModelMessage) -> tuple[str, str]:
    identity, _, name = (message.call_id or "").partition("\n")
    return identity, name


class ChatClient(Client):
    def __init__(self, url: str, timeout: float = 30.0) -> None:
        super().__init__(url, timeout)
        self._sdk = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=timeout)

    async def ask(self, request: ModelRequest, *, stream: bool) -> Answer:
        messages: list[Any] = []
        for message in request.messages:
            if message.role == "tool":
                messages.append({"role": "tool", "tool_call_id": _identity(message)[0], "content": message.text})
            elif message.role == "assistant":
                messages.append(json.loads(message.text))
            else:
                messages.append({"role": message.role, "content": message.text})
        more: dict[str, Any] = {}
        if request.tools:
            more["tools"] = [{"type": "function", "function": tool._asdict()} for tool in request.tools]
        if request.settings.seed is not None:
            more["seed"] = request.settings.seed
        if stream:
            more |= {"stream": True, "stream_options": {"include_usage": True}}
        form = {"name": "answer", "strict": True, "schema": request.schema}
        got: Any = await self._sdk.chat.completions.create(
            model=request.model,
            messages=messages,
            response_format={"type": "json_schema", "json_schema": form},  # type: ignore[arg-type]
            **more,
        )
        return await self._streamed(got) if stream else self._whole(got)

    @staticmethod
    def _whole(got: Any) -> Answer:
        choice = got.choices[0]
        message = choice.message
        return Answer(
            message.refusal or message.content or "",
            tuple(
                (call.id, call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or ()
            ),
            "refusal" if message.refusal else choice.finish_reason,
            got.model,
            message.model_dump(exclude_none=True),
            (got.usage.prompt_tokens, got.usage.completion_tokens),
        )

    @staticmethod
    async def _streamed(got: Any) -> Answer:
        text, refusal, model, finish, usage = "", "", "", None, None
        calls: dict[int, dict[str, Any]] = {}
        async for chunk in got:
            model, usage = chunk.model, chunk.usage or usage
            for choice in chunk.choices:
                finish = choice.finish_reason or finish
                text += choice.delta.content or ""
                refusal += choice.delta.refusal or ""
                for call in choice.delta.tool_calls or ():
                    found = calls.setdefault(call.index, {"id": call.id, "name": call.function.name, "arguments": ""})
                    found["arguments"] += call.function.arguments or ""
        assert usage is not None
        turn = {"role": "assistant", "content": text or None}
        if calls:
            turn["tool_calls"] = [
                {
                    "id": call["id"],
                    "type": "function",
                    "function": {"name": call["name"], "arguments": call["arguments"]},
                }
                for call in calls.values()
            ]
        tools = tuple((call["id"], call["name"], json.loads(call["arguments"])) for call in calls.values())
        tokens = (usage.prompt_tokens, usage.completion_tokens)
        return Answer(refusal or text, tools, "refusal" if refusal else finish, model, turn, tokens)

    async def close(self) -> None:
        await self._sdk.close()


class ResponsesClient(Client):
    def __init__(self, url: str, timeout: float = 30.0) -> None:
        super().__init__(url, timeout)
        self._sdk = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=timeout)

    async def ask(self, request: ModelRequest, *, stream: bool) -> Answer:
        items: list[Any] = []
        for message in request.messages:
            if message.role == "tool":
                identity = _identity(message)[0]
                items.append({"type": "function_call_output", "call_id": identity, "output": message.text})
            elif message.role == "assistant":
                items += json.loads(message.text)
            elif message.role == "user":
                items.append({"role": "user", "content": message.text})
        got: Any = await self._sdk.responses.create(
            model=request.model,
            instructions=_system(request),
            input=items,
            tools=[{"type": "function", "strict": True, **tool._asdict()} for tool in request.tools],  # type: ignore[misc]
            text={"format": {"type": "json_schema", "name": "answer", "strict": True, "schema": request.schema}},
            stream=stream,
            store=False,
        )
        if stream:
            text, ended = "", None
            async for event in got:
                if event.type in {"response.output_text.delta", "response.refusal.delta"}:
                    text += event.delta
                elif event.type in {"response.completed", "response.incomplete"}:
                    ended = event.response
            assert ended is not None, "the stream broke off"
            answer = self._whole(ended)
            assert text == answer.text
            return answer
        return self._whole(got)

    @staticmethod
    def _whole(got: Any) -> Answer:
        refusals = [
            part.refusal
            for item in got.output
            if item.type == "message"
            for part in item.content
            if part.type == "refusal"
        ]
        incomplete = got.incomplete_details.reason if got.incomplete_details else None
        return Answer(
            "".join(refusals) or got.output_text,
            tuple(
                (item.call_id, item.name, json.loads(item.arguments))
                for item in got.output
                if item.type == "function_call"
            ),
            "refusal" if refusals else incomplete or got.status,
            got.model,
            [item.model_dump(exclude_none=True) for item in got.output],
            (got.usage.input_tokens, got.usage.output_tokens),
        )

    async def close(self) -> None:
        await self._sdk.close()


class MessagesClient(Client):
    def __init__(self, url: str, timeout: float = 30.0) -> None:
        super().__init__(url, timeout)
        self._sdk = anthropic.AsyncAnthropic(base_url=url, api_key="none", max_retries=0, timeout=timeout)

    async def ask(self, request: ModelRequest, *, stream: bool) -> Answer:
        messages: list[Any] = []
        for message in request.messages:
            if message.role == "tool":
                block = {"type": "tool_result", "tool_use_id": _identity(message)[0], "content": message.text}
                if messages[-1]["role"] == "user":
                    messages[-1]["content"].append(block)
                else:
                    messages.append({"role": "user", "content": [block]})
            elif message.role == "assistant":
                messages.append({"role": "assistant", "content": json.loads(message.text)})
            elif message.role == "user":
                messages.append({"role": "user", "content": message.text})
        options: dict[str, Any] = {
            "model": request.model,
            "max_tokens": 4096,
            "system": _system(request),
            "messages": messages,
            "tools": [
                {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
                for tool in request.tools
            ],
            "output_config": {"format": {"type": "json_schema", "schema": anthropic.transform_schema(request.schema)}},
        }
        if not stream:
            return self._whole(await self._sdk.messages.create(**options))
        text = ""
        async with self._sdk.messages.stream(**options) as got:
            async for piece in got.text_stream:
                text += piece
            answer = self._whole(await got.get_final_message())
        assert text == answer.text
        return answer

    @staticmethod
    def _whole(got: Any) -> Answer:
        return Answer(
            "".join(block.text for block in got.content if block.type == "text"),
            tuple((block.id, block.name, block.input) for block in got.content if block.type == "tool_use"),
            got.stop_reason,
            got.model,
            [block.model_dump(exclude_none=True) for block in got.content],
            (got.usage.input_tokens, got.usage.output_tokens),
        )

    async def close(self) -> None:
        await self._sdk.close()


class GenerateClient(Client):
    def __init__(self, url: str, timeout: float = 30.0) -> None:
        super().__init__(url, timeout)
        self._http = httpx2.AsyncClient()
        self._sdk = genai.Client(
            api_key="none",
            http_options=types.HttpOptions(base_url=url, timeout=int(timeout * 1000), httpx_async_client=self._http),
        )

    async def ask(self, request: ModelRequest, *, stream: bool) -> Answer:
        contents: list[Any] = []
        for message in request.messages:
            if message.role == "tool":
                response = {"name": _identity(message)[1], "response": {"result": message.text}}
                part = types.Part.model_validate({"function_response": response})
                if contents[-1].role == "user":
                    contents[-1].parts.append(part)
                else:
                    contents.append(types.Content(role="user", parts=[part]))
            elif message.role == "assistant":
                contents.append(types.Content.model_validate(json.loads(message.text)))
            elif message.role == "user":
                contents.append(types.Content(role="user", parts=[types.Part(text=message.text)]))
        config = types.GenerateContentConfig(
            system_instruction=_system(request),
            seed=request.settings.seed,
            response_mime_type=None if request.tools else "application/json",
            response_json_schema=None if request.tools else request.schema,
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            tools=[
                types.Tool(
                    function_declarations=[
                        types.FunctionDeclaration(
                            name=tool.name, description=tool.description, parameters_json_schema=tool.parameters
                        )
                        for tool in request.tools
                    ]
                )
            ]
            if request.tools
            else None,
        )
        models = self._sdk.aio.models
        if not stream:
            got = [await models.generate_content(model=request.model, contents=contents, config=config)]
        else:
            chunks = await models.generate_content_stream(model=request.model, contents=contents, config=config)
            got = [chunk async for chunk in chunks]
        return self._answer(got)

    @staticmethod
    def _answer(got: list[Any]) -> Answer:
        candidates = [one.candidates[0] for one in got if one.candidates]
        parts = [part for one in candidates if one.content for part in one.content.parts or ()]
        ended = got[-1]
        finish = next((one.finish_reason.value for one in reversed(candidates) if one.finish_reason), None)
        if ended.prompt_feedback is not None:
            finish = f"blocked: {ended.prompt_feedback.block_reason.value}"
        turn = types.Content(role="model", parts=parts).model_dump(mode="json", exclude_none=True)
        return Answer(
            "".join(part.text or "" for part in parts),
            tuple(("", part.function_call.name, part.function_call.args) for part in parts if part.function_call),
            finish,
            ended.model_version,
            turn,
            (ended.usage_metadata.prompt_token_count, ended.usage_metadata.candidates_token_count),
        )

    async def close(self) -> None:
        await self._sdk.aio.aclose()
        await self._http.aclose()


CLIENTS: dict[str, Callable[..., Client]] = {
    "chat": ChatClient,
    "responses": ResponsesClient,
    "messages": MessagesClient,
    "generate": GenerateClient,
}

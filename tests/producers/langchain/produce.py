"""LangChain: the messages of a conversation with each provider's package, in every form that the libraries dump."""

import base64
import warnings
from typing import Any

from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.load import dumpd
from langchain_core.messages import (
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_openai_messages,
    messages_to_dict,
)
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI

from model_server import ModelServer
from story import STORY, SYSTEM, Answer, Produced, Turn, case, not_shown, piece, standard_pieces, target_folder

KEY: Any = "none"
SEARCHED = "M22user What do others say?"
ARTIFACT = {"raw": "M20artifact"}
ARTIFACTS = [not_shown("M20artifact", "artifact of a tool", "a tool keeps it for the program; the model never saw it")]
BROKEN = '{"order": "M18call"'


def model_of(provider: str, url: str, **settings: Any) -> BaseChatModel:
    """A model of a provider's package that asks the local server."""
    match provider:
        case "chat":
            return ChatOpenAI(model="gpt-5-mini", base_url=f"{url}/v1", api_key=KEY, **settings)
        case "responses":
            return ChatOpenAI(model="gpt-5-mini", base_url=f"{url}/v1", api_key=KEY, use_responses_api=True, **settings)
        case "anthropic":
            return ChatAnthropic(model_name="claude-sonnet-4-5", base_url=url, api_key=KEY, **settings)
        case _:
            return ChatGoogleGenerativeAI(model="gemini-3-flash", google_api_key=KEY, base_url=url, **settings)


def broken_call() -> dict[str, Any]:
    """A chat completion with a call whose arguments are no JSON."""
    call = {"id": "call_M18id", "type": "function", "function": {"name": "look_up_M18tool", "arguments": BROKEN}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    return {"id": "chatcmpl-9", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def searched_by_anthropic() -> dict[str, Any]:
    """A message with a search that the provider ran, and one that failed."""
    found = {
        "type": "web_search_result",
        "url": "https://example.org",
        "title": "M24result",
        "encrypted_content": "eA==",
    }
    failed = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
    content = [
        {"type": "server_tool_use", "id": "srv_M23id", "name": "web_search", "input": {"query": "M23call"}},
        {"type": "web_search_tool_result", "tool_use_id": "srv_M23id", "content": [found]},
        {"type": "server_tool_use", "id": "srv_M25id", "name": "web_search", "input": {"query": "M25call"}},
        {"type": "web_search_tool_result", "tool_use_id": "srv_M25id", "content": failed},
        {"type": "text", "text": "M27answer They like it."},
    ]
    usage = {"input_tokens": 1, "output_tokens": 1}
    base = {"id": "msg_9", "type": "message", "role": "assistant", "model": "m", "usage": usage}
    return {**base, "content": content, "stop_reason": "end_turn", "stop_sequence": None}


def searched_by_openai() -> dict[str, Any]:
    """A response with tools that the provider ran: a search, code, a tool of an MCP server."""
    action = {"type": "search", "query": "M23call", "queries": ["M23call"]}
    code = {"code": "print('M25call')", "container_id": "cntr_1", "outputs": [{"type": "logs", "logs": "M26result"}]}
    remote = {
        "server_label": "shop",
        "name": "stock_M28tool",
        "arguments": '{"item": "M28call"}',
        "output": "M29result",
    }
    text = {"type": "output_text", "text": "M27answer They like it.", "annotations": []}
    output = [
        {"id": "ws_M23id", "type": "web_search_call", "status": "completed", "action": action},
        {"id": "ci_M25id", "type": "code_interpreter_call", "status": "completed", **code},
        {"id": "mcp_M28id", "type": "mcp_call", "error": None, "approval_request_id": None, **remote},
        {"id": "msg_9", "type": "message", "role": "assistant", "status": "completed", "content": [text]},
    ]
    more = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "metadata": {}, "error": None}
    return {
        "id": "resp_9",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "m",
        "output": output,
        **more,
    }


LAST: dict[str, tuple[Turn, ...]] = {
    "chat": (Turn(user="M17user And now?", answers=(Answer(body=broken_call()), Answer(text="M19answer Later."))),),
    "responses": (Turn(user=SEARCHED, answers=(Answer(body=searched_by_openai()),)),),
    "anthropic": (Turn(user=SEARCHED, answers=(Answer(body=searched_by_anthropic()),)),),
    "gemini": (),
}
"""What is asked after the story, for what only one package has."""


def user_message(turn: Turn) -> HumanMessage:
    """A text, or a text and a picture as a standard block."""
    if turn.picture is None:
        return HumanMessage(turn.user)
    data = base64.b64encode(turn.picture).decode()
    image = {"type": "image", "base64": data, "mime_type": "image/png"}
    return HumanMessage(content=[{"type": "text", "text": turn.user}, image])


def conversation(
    provider: str, *, stream: bool = False, **settings: Any
) -> tuple[list[BaseMessage], list[BaseMessage]]:
    """The messages, and the same with the answers' chunks in place of the answers."""
    turns = (*STORY, *LAST[provider])
    if stream:  # the chat package drops the refusal of a stream: the answer would be empty
        turns = STORY[:-1] if provider == "chat" else STORY
    messages: list[BaseMessage] = [SystemMessage(SYSTEM)]
    parts: list[BaseMessage] = [SystemMessage(SYSTEM)]
    with ModelServer([answer for turn in turns for answer in turn.answers]) as server:
        model = model_of(provider, server.url, **settings)
        for turn in turns:
            asked: list[BaseMessage] = [user_message(turn)]
            for answer in turn.answers:
                messages += asked
                parts += asked
                chunks = list(model.stream(messages)) if stream else [model.invoke(messages)]
                whole: Any = chunks[0]
                for chunk in chunks[1:]:
                    whole += chunk
                messages.append(whole)
                parts += chunks
                asked = [
                    ToolMessage(
                        one.output,
                        name=one.name,
                        tool_call_id=one.call_id,
                        status="error" if one.error else "success",
                        artifact=ARTIFACT if one.name == "ship_M12tool" else None,
                    )
                    for one in answer.calls
                ]
    return messages, parts


CUT = {"chat": "length", "responses": "max_output_tokens", "anthropic": "max_tokens", "gemini": "MAX_TOKENS"}


def happened(provider: str, *, stream: bool = False, v1: bool = False, converted: bool = False) -> dict[str, Any]:
    """What happened with a provider's package, as far as the messages keep it.

    Args:
        provider: see `model_of`.
        stream: the answers are added up from a stream.
        v1: the content is in standard blocks.
        converted: to the form of OpenAI's chat, which has no artifacts, failures and ends.
    """
    without = {"M03reasoning"} if provider == "chat" else set()  # the package does not keep `reasoning_content`
    if provider == "chat" and stream:
        without |= {"M15user", "M16refusal"}
    pieces = standard_pieces(
        without=without,
        cut=None if converted else CUT[provider],
        refusals="refusal" if provider in {"chat", "responses"} else "assistant",
        failures_marked=not converted,
    )
    if provider == "anthropic" and not converted:
        pieces.append(piece("refusal", "event"))
    if not stream:
        pieces += after_the_story(provider, v1=v1)
    unseen = [] if converted else list(ARTIFACTS)
    if provider == "anthropic" and not stream:
        unseen.append(not_shown(None, "result that the provider encrypted", "only the provider can read it"))
    return case(pieces, unseen)


def after_the_story(provider: str, *, v1: bool) -> list[dict[str, Any]]:
    """What happened in `LAST`."""
    match provider:
        case "chat":
            call = {**piece("M18call", "call", name="look_up_M18tool"), "quoted_in": ["JSONDecodeError"]}
            failed = piece("JSONDecodeError", "result", name="look_up_M18tool", call="M18call", error=True)
            return [piece("M17user", "user"), call, failed, piece("M19answer", "assistant")]
        case "responses":
            ending = "" if v1 else "_call"
            return [
                piece("M22user", "user"),
                piece("M23call", "call", name=f"web_search{ending}"),
                piece("M25call", "call", name=f"code_interpreter{ending}"),
                piece("M26result", "result", name=f"code_interpreter{ending}", call="M25call"),
                piece("M28call", "call", name="shop.stock_M28tool"),
                piece("M29result", "result", name="shop.stock_M28tool", call="M28call"),
                piece("M27answer", "assistant"),
            ]
        case "anthropic":
            return [
                piece("M22user", "user"),
                piece("M23call", "call", name="web_search"),
                piece("M24result", "result", name="web_search", call="M23call"),
                piece("M25call", "call", name="web_search"),
                piece("max_uses_exceeded", "result", name="web_search", call="M25call", error=True),
                piece("M27answer", "assistant"),
            ]
        case _:
            return []


def dumped(messages: list[BaseMessage]) -> list[dict[str, Any]]:
    """The messages as pydantic dumps them."""
    return [one.model_dump(mode="json") for one in messages]


def main() -> None:
    """Write the files."""
    packages = ("langchain-core", "langchain-openai", "langchain-anthropic", "langchain-google-genai")
    produced = Produced(folder=target_folder(__file__), tool="langchain", packages=packages)

    def add(file: str, shape: str, value: Any, truth: dict[str, Any]) -> None:
        produced.write_json(file, value)
        produced.add(file, shape, [truth])

    chat, _ = conversation("chat")
    add("message_to_dict.json", "messages_to_dict (OpenAI chat)", messages_to_dict(chat), happened("chat"))
    add("dumpd.json", "dumpd (OpenAI chat)", dumpd(chat), happened("chat"))
    story = standard_pieces(without={"M03reasoning"}, cut=None, failures_marked=False)
    converted = convert_to_openai_messages(chat[:-3])
    add("openai_messages.json", "convert_to_openai_messages (OpenAI chat)", converted, case(story))
    for provider in ("responses", "anthropic"):
        messages, _ = conversation(provider)
        file, shape = f"openai_messages_{provider}.json", f"convert_to_openai_messages ({provider})"
        add(file, shape, convert_to_openai_messages(messages), happened(provider, converted=True))
    for provider in CUT:
        for version in ("v0", "v1") if provider in {"anthropic", "gemini"} else ("v0", "responses/v1", "v1"):
            if (provider, version) == ("chat", "responses/v1"):
                continue
            name = f"{provider}_{version.replace('/', '_')}"
            v1 = version == "v1"
            messages, _ = conversation(provider, output_version=version)
            add(f"{name}.json", f"model_dump ({provider}, {version})", dumped(messages), happened(provider, v1=v1))
            messages, chunks = conversation(provider, stream=True, output_version=version)
            truth = happened(provider, v1=v1, stream=True)
            produced.write_lines(f"{name}_streamed.jsonl", [{"messages": dumped(messages)}])
            produced.add(f"{name}_streamed.jsonl", f"chunks added up ({provider}, {version})", [truth])
            if (provider, version) in {("chat", "v0"), ("responses", "v0"), ("responses", "v1"), ("anthropic", "v0")}:
                add(f"{name}_chunks.json", f"chunks ({provider}, {version})", dumpd(chunks), truth)
    produced.write()


warnings.filterwarnings("ignore", message="Received unexpected tool content block")
main()

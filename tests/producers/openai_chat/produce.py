"""The OpenAI SDK, chat completions: what a program keeps that logs each request with its response."""

from typing import Any

from openai import OpenAI

from chat_story import MODEL, TOOL_LIST, tool_messages, user_message
from model_server import ModelServer
from story import STORY, SYSTEM, Produced, case, standard_pieces, target_folder


def answered(client: OpenAI, messages: list[Any], *, stream: bool) -> dict[str, Any]:
    """The next completion, as the SDK dumps it."""
    asked: dict[str, Any] = {"model": MODEL, "messages": messages, "tools": TOOL_LIST}
    if not stream:
        return client.chat.completions.create(**asked).model_dump(mode="json")
    with client.chat.completions.stream(**asked) as events:
        for _ in events:
            pass
        # get_final_completion raises for an answer that was cut.
        return events.current_completion_snapshot.model_dump(mode="json")


def conversation(*, stream: bool) -> tuple[list[Any], dict[str, Any]]:
    """The messages of the last request, and its response."""
    messages: list[Any] = [{"role": "system", "content": SYSTEM}]
    completion: dict[str, Any] = {}
    with ModelServer() as server:
        client = OpenAI(base_url=f"{server.url}/v1", api_key="none")
        for turn in STORY:
            messages.append(user_message(turn))
            for answer in turn.answers:
                completion = answered(client, messages, stream=stream)
                messages.append(completion["choices"][0]["message"])
                messages += tool_messages(answer)
    return messages, completion


def main() -> None:
    """Write the files."""
    produced = Produced(folder=target_folder(__file__), tool="openai (chat)", packages=("openai",))
    # Messages do not say why an answer ended, nor that a tool failed.
    happened = case(standard_pieces(cut=None, failures_marked=False))
    messages, completion = conversation(stream=False)
    produced.write_json("messages.json", messages)
    produced.add("messages.json", "list of chat messages", [happened])
    produced.write_lines(
        "logged.jsonl", [{"request": {"model": MODEL, "messages": messages[:-1]}, "response": completion}]
    )
    produced.add("logged.jsonl", "logged request and response", [happened])
    # The SDK's accumulated stream has fields of its own.
    messages, completion = conversation(stream=True)
    produced.write_lines("streamed.jsonl", [{"messages": messages[:-1], **completion}])
    produced.add("streamed.jsonl", "request and accumulated stream", [happened])
    produced.write()


main()

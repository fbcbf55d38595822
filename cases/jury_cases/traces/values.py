"""Inputs and outputs of spans in any form: messages, a provider's request or response, LangChain's results, states.

Every tracing tool keeps what its instrumentation was given: the request of an SDK, the messages of a LangChain model,
the state of a graph, or the arguments of a function.
"""

import ast
from collections.abc import Callable
from typing import Any, NamedTuple

from jury_cases.transcripts.blocks import BlockReader
from jury_cases.transcripts.builder import Speaker, TranscriptBuilder
from jury_cases.transcripts.chat import read_choices, read_end, read_message
from jury_cases.transcripts.gemini import read_candidates, read_content, read_contents
from jury_cases.transcripts.json_values import as_object, as_text, decoded_json, is_blank
from jury_cases.transcripts.reading import is_message, read_messages
from jury_cases.transcripts.responses import is_item, read_responses
from jury_cases.transcripts.tool_calls import add_calls

_BLOCKS = frozenset({"tool-call", "tool-result", "tool-error", "reasoning"})


def with_typed_blocks(value: Any) -> Any:
    """A list of messages with their blocks typed; a list of calls alone as the message of an agent."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return value
    if value and all("toolCallId" in one and "toolName" in one and "role" not in one for one in value):
        return [{"role": "assistant", "content": [_typed({"type": "tool-call", **one}) for one in value]}]
    return [_message(one) for one in value]


def _message(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    if message.get("role") in ("tool-call", "tool-response"):
        return _of_smolagents(message["role"], _texts(content))
    if not isinstance(content, list) or not any(
        isinstance(one, dict) and one.get("type") in _BLOCKS for one in content
    ):
        return message
    role = "user" if message.get("role") == "tool" else message.get("role")  # the results name their calls
    return {**message, "role": role, "content": [_typed(one) if isinstance(one, dict) else one for one in content]}


def _texts(content: Any) -> str:
    if not isinstance(content, list):
        return as_text(content)
    return "\n".join(as_text(one.get("text")) for one in content if isinstance(one, dict))


def _of_smolagents(role: str, text: str) -> dict[str, Any]:
    """A result, or calls as a Python literal, which it gives back to its model as texts."""
    if role == "tool-response":
        return {"role": "tool", "content": text}
    try:
        listed = ast.literal_eval(text.partition("Calling tools:")[2].strip())
        calls = [{"id": one["id"], "type": "function", "function": dict(one["function"])} for one in listed]
    except (ValueError, SyntaxError, TypeError, KeyError, RecursionError, MemoryError):
        return {"role": "assistant", "content": text}
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _typed(block: dict[str, Any]) -> dict[str, Any]:
    match block.get("type"):
        case "tool-call":
            arguments = decoded_json(block.get("input", block.get("args")))
            return {
                "type": "tool_use",
                "id": block.get("toolCallId"),
                "name": block.get("toolName"),
                "input": arguments,
            }
        case "tool-result" | "tool-error":
            output = block.get("output", block.get("result", block.get("error")))
            table = as_object(output)
            typed = "value" in table and isinstance(table.get("type"), str)
            failed = typed and as_text(table["type"]).startswith("error")
            return {
                "type": "tool_result",
                "tool_use_id": block.get("toolCallId"),
                "content": table["value"] if typed else output,
                "is_error": failed or block["type"] == "tool-error" or block.get("isError") is True,
            }
        case "reasoning":
            return {"type": "thinking", "thinking": block.get("text", "")}
        case _:
            return block


_WRAPPERS = frozenset({"input", "inputs", "output", "outputs", "result", "return", "response", "value", "kwargs"})
"""Names under which tools wrap the only argument or result of a function."""

_SYSTEMS = ("system", "instructions", "systemInstruction", "system_instruction")
_OF_CALLS = frozenset({"name", "args", "id", "type"})
_OF_PROMPTS = frozenset({"prompt", "system", "instructions", "messages", "allowSystemInMessages"})
_DEEPEST = 6
"""How often a value may be wrapped."""


def read_messages_of(value: Any, builder: TranscriptBuilder, place: str, depth: int = 0) -> bool:
    """Read the messages of a value.

    Returns:
        whether it has any of the forms with messages; otherwise nothing is added.
    """
    value = with_typed_blocks(decoded_json(value, texts=True))
    if depth > _DEEPEST:
        return False
    if isinstance(value, list):
        return _read_list(value, builder, place, depth)
    if not isinstance(value, dict):
        return False
    if is_message(value):
        _read_one(value, builder, place)
        return True
    if isinstance(value.get("generations"), list):
        _read_generations(value["generations"], builder, f"{place}.generations")
        return True
    if "update" in value and "goto" in value:  # LangGraph's Command
        return value["update"] is None or read_messages_of(value["update"], builder, f"{place}.update", depth + 1)
    if (answer := _answer_of_llama_index(value)) is not None:
        read_messages([answer], builder, f"{place}.message")
        return True
    if _read_exchange(value, builder, place):
        return True
    filled = [name for name, one in value.items() if not is_blank(one)]
    if len(filled) == 1 and filled[0] in _WRAPPERS:
        return read_messages_of(value[filled[0]], builder, f"{place}.{filled[0]}", depth + 1)
    return False


def text_of(value: Any) -> str | None:
    """The text of a value that is text, or has one filled field with text; None: it has another form."""
    for _ in range(_DEEPEST):
        value = decoded_json(value, texts=True)
        if isinstance(value, dict):
            filled = [one for one in value.values() if not is_blank(one)]
            if len(filled) != 1:
                return None
            value = filled[0]
            continue
        return value if isinstance(value, str) and value.strip() else None
    return None


def returned_text(value: Any) -> str:
    """What a tool returned, as text: blocks of text (as MCP has them) as their texts, else JSON."""
    content = value.get("content") if isinstance(value, dict) else value
    if isinstance(content, list) and _has_objects(content) and all(isinstance(one.get("text"), str) for one in content):
        return "\n".join(one["text"] for one in content)
    return as_text(value)


_ASKED = ("prompt", "input", "text", "query", "question", "message", "user_prompt")
_SAID = ("text", "content", "output", "response", "answer", "completion", "result", "generated_text", "message")
"""Fields with the text that a model got, and gave, in objects without messages."""


def said_in(value: Any, part: str) -> str | None:
    """The text of a model's input or output (`part`) that has no form of messages; None: it is no such text."""
    for _ in range(_DEEPEST):
        value = decoded_json(value, texts=True)
        if isinstance(value, str):
            return value if value.strip() else None
        filled = {name: one for name, one in value.items() if not is_blank(one)} if isinstance(value, dict) else {}
        names = [name for name in (_ASKED if part == "input" else _SAID) if isinstance(filled.get(name), str | dict)]
        if len(names) != 1 or len(filled) > 1:
            return None
        value = filled[names[0]]
    return None


def read_instructions(answer: Any, builder: TranscriptBuilder, place: str) -> None:
    """Read the instructions that a response of OpenAI's repeats: an input that was recorded alone lacks them."""
    response = decoded_json(answer)
    if isinstance(response, dict) and response.get("object") == "response":
        _read_system(response.get("instructions"), builder, f"{place}.instructions")


def _read_list(value: list[Any], builder: TranscriptBuilder, place: str, depth: int) -> bool:
    if len(value) == 1 and isinstance(value[0], list):  # the batch of one that LangChain passes to its models
        return _read_list(value[0], builder, f"{place}.0", depth + 1) if depth <= _DEEPEST else False
    objects = [one for one in value if isinstance(one, dict)]
    if not objects or len(objects) < len(value):
        return False
    if all("args" in one and "name" in one and one.keys() <= _OF_CALLS for one in objects):
        add_calls(value, builder, place)
        return True
    if any(is_message(one) or is_item(one) for one in objects):
        read_messages(value, builder, place)
        return True
    if all("update" in one and "goto" in one for one in objects):
        read = [read_messages_of(one, builder, f"{place}.{index}", depth + 1) for index, one in enumerate(objects)]
        return all(read)
    return False


def _answer_of_llama_index(value: dict[str, Any]) -> dict[str, Any] | None:
    """LlamaIndex's `ChatResponse`: a message of blocks, the calls as the provider gave them."""
    message = value.get("message")
    if not (isinstance(message, dict) and isinstance(message.get("blocks"), list) and "role" in message):
        return None
    texts = [one["text"] for one in message["blocks"] if isinstance(one, dict) and isinstance(one.get("text"), str)]
    more = message["additional_kwargs"] if isinstance(message.get("additional_kwargs"), dict) else {}
    found = {"role": message["role"], "content": "\n".join(texts) or None}
    return found | ({"tool_calls": more["tool_calls"]} if more.get("tool_calls") else {})


def _read_one(message: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    reason = message.get("stop_reason")
    read_messages([{name: one for name, one in message.items() if name != "stop_reason"}], builder, place)
    read_end(reason, builder, f"{place}.stop_reason")


def _read_generations(batches: list[Any], builder: TranscriptBuilder, place: str) -> None:
    """LangChain's result of a model: for each prompt, generations with a message or a text; the first one counts."""
    first = batches[0] if batches and isinstance(batches[0], list) else batches
    for index, one in enumerate(first):
        if not isinstance(one, dict):
            continue
        if index:
            builder.not_shown("another choice", "model", f"{place}.0.{index}", one)
        elif isinstance(one.get("message"), dict) and is_message(one["message"]):
            read_messages([one["message"]], builder, f"{place}.0.message")
        elif not is_blank(one.get("text")):
            builder.message("assistant", as_text(one["text"]), f"{place}.0.text")


class _MessageField(NamedTuple):
    """A field with messages of a request, a response or a state.

    Attributes:
        name: of the field.
        matches: whether its value has the form.
        read: its reader.
    """

    name: str
    matches: Callable[[Any], bool]
    read: Callable[[Any, TranscriptBuilder, str], None]


def _has_messages(value: Any) -> bool:
    listed = value[0] if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list) else value
    return isinstance(listed, list) and any(is_message(one) or is_item(one) for one in listed)


def _has_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _read_inner(value: Any, builder: TranscriptBuilder, place: str) -> None:
    read_messages(with_typed_blocks(value[0] if isinstance(value[0], list) else value), builder, place)


def _read_prompts(value: Any, builder: TranscriptBuilder, place: str) -> None:
    for index, one in enumerate(value):
        builder.message("user", as_text(one), f"{place}.{index}")


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)


def _has_contents(value: Any) -> bool:
    return _has_objects(value) and any("parts" in one for one in value)


def _has_candidates(value: Any) -> bool:
    return _has_objects(value) and all(isinstance(one.get("content"), dict | None) for one in value)


def _read_answer(value: Any, builder: TranscriptBuilder, place: str) -> None:
    read_contents([{"role": "model", **value}], builder, place)


_PARTS = (
    _MessageField("messages", _has_messages, _read_inner),
    _MessageField("prompt", _has_messages, _read_inner),
    _MessageField("replies", _has_messages, _read_inner),
    _MessageField("content", lambda value: isinstance(value, dict) and _has_objects(value.get("parts")), _read_answer),
    _MessageField("contents", _has_contents, read_contents),
    _MessageField("input", _has_messages, read_responses),
    _MessageField("prompts", _is_texts, _read_prompts),
    _MessageField(
        "choices", lambda value: _has_objects(value) and ("message" in value[0] or "text" in value[0]), read_choices
    ),
    _MessageField("candidates", _has_candidates, read_candidates),
    _MessageField("output", _has_messages, read_responses),
)


def _read_exchange(value: dict[str, Any], builder: TranscriptBuilder, place: str) -> bool:
    """A request, a response or a state: the first field with messages, after the instructions."""
    found = next((part for part in _PARTS if part.matches(value.get(part.name))), None)
    if found is None and isinstance(value.get("input"), str) and not is_blank(value.get("instructions")):
        found = _MessageField("input", bool, read_responses)
    if found is None and isinstance(value.get("prompt"), str) and value.keys() <= _OF_PROMPTS:
        found = _MessageField("prompt", bool, lambda text, add, at: add.message("user", text, at))
    if found is None:
        return _read_blocks(value, builder, place)
    for name in _SYSTEMS if found.name not in {"choices", "candidates", "output"} else ():
        _read_system(value.get(name), builder, f"{place}.{name}")
    found.read(value[found.name], builder, f"{place}.{found.name}")
    cut = value.get("incomplete_details")
    read_end(cut.get("reason") if isinstance(cut, dict) else None, builder, f"{place}.incomplete_details")
    return True


def _read_blocks(value: dict[str, Any], builder: TranscriptBuilder, place: str) -> bool:
    content = value.get("content")
    if not (_has_objects(content) and "stop_reason" in value):
        return False
    read_message({"role": "assistant", "content": content}, builder, place)
    read_end(value["stop_reason"], builder, f"{place}.stop_reason")
    return True


def _read_system(value: Any, builder: TranscriptBuilder, place: str) -> None:
    if isinstance(value, dict) and "parts" in value:
        read_content(value, builder, place, system=True)
    elif _has_messages(value):
        read_responses(value, builder, place)
    elif not is_blank(value) and isinstance(value, str | list):
        BlockReader(Speaker("system", "developer"), builder).read(value, place)

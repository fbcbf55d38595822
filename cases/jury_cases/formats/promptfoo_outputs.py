"""The output of a result of promptfoo: what the agent said and called in it.

Source: promptfoo's providers. Most give text, or the calls or message of OpenAI's chat as they are. That of OpenAI's
Responses writes all items into one text, and keeps them as they were in `raw`; that of Anthropic writes all blocks into
one text: `Thinking: …`, a line `Signature: …`, and other blocks as JSON in paragraphs of their own.
"""

from typing import Any

from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.chat import read_end, read_message
from jury_cases.transcripts.json_values import as_object, as_text, decoded_json
from jury_cases.transcripts.reading import is_message
from jury_cases.transcripts.responses import read_responses
from jury_cases.transcripts.tool_calls import add_call, add_calls
from jury_events.transcript import Message, Refusal

_THINKING, _REDACTED, _SIGNATURE = "Thinking: ", "Redacted Thinking: ", "\nSignature: "


def read_output(output: Any, builder: TranscriptBuilder, place: str) -> None:
    """Add an output: text, a message, or calls as OpenAI's providers return them; else its JSON as text."""
    if isinstance(output, list) and output and all(isinstance(one, dict) and "function" in one for one in output):
        add_calls(output, builder, place)
    elif isinstance(output, dict) and output.get("role") == "assistant" and is_message(output):
        read_message(output, builder, place)
    elif isinstance(output, dict) and output.keys() == {"name", "arguments"} and isinstance(output["arguments"], str):
        add_call(output, builder, place)
    elif output is not None:
        builder.message("assistant", as_text(output), place)


def read_items(answer: dict[str, Any], builder: TranscriptBuilder) -> bool:
    """Add the items of OpenAI's response in `raw`, if the output is made of them; False if not."""
    raw, output = as_object(decoded_json(answer.get("raw"))), answer.get("output")
    if raw.get("object") != "response" or not isinstance(raw.get("output"), list) or not isinstance(output, str):
        return False
    items = TranscriptBuilder()
    end = as_object(raw.get("incomplete_details")).get("reason")
    read_responses(raw["output"], items, "response.raw.output", end_is_known=end is not None)
    said = [one.text for one in items.transcript().items if isinstance(one, Message | Refusal)]
    if not len(items) or not all(text.strip() in output for text in said):
        return False  # the user's own transformation made the output
    builder.extend(items)
    read_end(end, builder, "response.raw.incomplete_details")
    return True


def blocks_of(output: str) -> list[dict[str, Any]] | None:
    """The blocks of Anthropic's message that promptfoo wrote into one text; None if it is text alone."""
    found: list[dict[str, Any]] = []
    thought: list[str] = []
    for paragraph in output.split("\n\n"):
        if thought or paragraph.startswith(_THINKING):
            thought.append(paragraph)
            if _SIGNATURE in paragraph:
                text, _, signature = "\n\n".join(thought).rpartition(_SIGNATURE)
                found.append({"type": "thinking", "thinking": text[len(_THINKING) :], "signature": signature})
                thought = []
        elif paragraph.startswith(_REDACTED):
            found.append({"type": "redacted_thinking", "data": paragraph[len(_REDACTED) :]})
        elif isinstance(block := decoded_json(paragraph), dict) and isinstance(block.get("type"), str):
            found.append(block)
        elif found and found[-1]["type"] == "text":
            found[-1]["text"] += f"\n\n{paragraph}"
        else:
            found.append({"type": "text", "text": paragraph})
    return None if thought or all(one["type"] == "text" for one in found) else found

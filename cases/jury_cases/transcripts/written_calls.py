"""What stands in the user's place, and no user wrote: results of calls in the text of an answer, words of a program.

A model without native calls writes them in its answer, and its program sends back what they returned as the user's next
message. Each row of `_WRITTEN` is how one tool does it; a result is one only behind an answer with such a call.
"""

import re
from typing import Any, NamedTuple

from jury_cases.transcripts.json_values import text_or_none


class _WrittenCall(NamedTuple):
    """How a call is written in an answer, and how the message begins that returns its result."""

    call: str
    result: str


_WRITTEN = (
    _WrittenCall(r"<tool_call>", r"<tool_response>"),  # chat templates of Hermes, Qwen, GLM
    _WrittenCall(r"<function=", r"EXECUTION RESULT of \["),  # OpenHands, for models without native calls
    _WrittenCall(r"<(?:antml:)?function_calls>|<invoke ", r"<function_results>"),  # Anthropic's first tool use
    _WrittenCall(r"</\w+>", r"\[\w+(?: for '[^\n]*?')?\] Result:"),  # Cline, Roo Code, Kilo Code
    _WrittenCall(r"^\W*Action(?: Input)?\W*:", r"\**Observation\W*:"),  # ReAct
    _WrittenCall(r"```tool_code", r"```tool_output"),  # Gemma
    _WrittenCall(r"\[TOOL_CALLS\]", r"\[TOOL_RESULTS\]"),  # Mistral
)
_RESULT = re.compile(r"\s*(?:" + "|".join(f"({one.result})" for one in _WRITTEN) + ")")
_CALLS = tuple(re.compile(one.call, re.MULTILINE) for one in _WRITTEN)

_ADDED = re.compile(r"\s*<(environment_details|system-reminder)>.*</\1>\s*", re.DOTALL)


def is_written_result(message: dict[str, Any], answer: Any) -> bool:
    """Whether a user's message returns what a call returned that stands in the text of the answer before it."""
    found = _RESULT.match(_first_text(message.get("content")))
    if found is None or found.lastindex is None or not isinstance(answer, dict):
        return False
    call = _CALLS[found.lastindex - 1]
    return any(call.search(text) for text in _texts(answer.get("content")))


def is_added(text: str) -> bool:
    """Whether a block of a user's message is what a program adds to it: the state of its surroundings, a reminder."""
    return text.lstrip()[:1] == "<" and _ADDED.fullmatch(text) is not None


def _first_text(content: Any) -> str:
    return next(iter(_texts(content)), "")


def _texts(content: Any) -> list[str]:
    blocks = content if isinstance(content, list) else [content]
    found = (one.get("text") if isinstance(one, dict) else one for one in blocks)
    return [text for one in found if (text := text_or_none(one)) is not None]

"""ShareGPT's conversations: turns of `from` and `value`, with calls and observations as JSON text."""

from typing import Any

from jury_cases.errors import CaseFileError
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.chat import call_in_words, read_message
from jury_cases.transcripts.json_values import as_objects, as_text

_CALLS = frozenset({"function_call", "function-call", "tool_call", "tool_calls", "action"})


def read_sharegpt(value: Any, builder: TranscriptBuilder, place: str = "conversations") -> None:
    """Read a list of turns."""
    turns = as_objects(value, place, "turns")
    for index, turn in builder.messages.of_list(enumerate(turns), len(turns)):
        at = f"{place}.{index}"
        role = turn.get("from", turn.get("role"))
        if not isinstance(role, str):
            raise CaseFileError(f"{at}.from: must be text such as human, gpt, system or tool")
        rest = {key: one for key, one in turn.items() if key not in {"from", "role", "value", "loss"}}
        if role.lower() in _CALLS:
            call_in_words(as_text(turn.get("value")), builder, f"{at}.value")
            builder.unread(rest, {"weight", "id"}, "model", at)
        else:
            read_message({**rest, "role": role, "content": turn.get("value")}, builder, at)

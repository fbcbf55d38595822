"""ShareGPT's conversations: turns of `from` and `value`, with calls and observations as JSON text."""

import json
from typing import Any

from jury_events.transcript import ToolCall
from jury_judge.cases.transcripts.builder import TranscriptBuilder
from jury_judge.cases.transcripts.chat import read_message
from jury_judge.cases.transcripts.json_values import as_objects, as_text, text_or_none
from jury_judge.errors import CaseFileError

_CALLS = frozenset({"function_call", "function-call", "tool_call", "action"})


def read_sharegpt(value: Any, builder: TranscriptBuilder, place: str = "conversations") -> None:
    """A list of turns.

    Raises:
        CaseFileError: it is none.
    """
    for index, turn in enumerate(as_objects(value, place, "turns")):
        at = f"{place}.{index}"
        role = turn.get("from")
        if not isinstance(role, str):
            raise CaseFileError(f"{at}.from: must be text such as human, gpt, system or tool")
        rest = {key: one for key, one in turn.items() if key not in {"from", "value", "loss"}}
        if role.lower() in _CALLS:
            _call(as_text(turn.get("value")), builder, f"{at}.value")
            builder.unread(rest, {"weight", "id"}, "model", at)
        else:
            read_message({**rest, "role": role, "content": turn.get("value")}, builder, at)


def _call(text: str, builder: TranscriptBuilder, place: str) -> None:
    """JSON of a name and arguments; any other text is an action in words."""
    try:
        call = json.loads(text)
    except (ValueError, RecursionError):
        call = None
    name = text_or_none(call.get("name")) if isinstance(call, dict) else None
    if name is None or set(call) - {"name", "arguments", "parameters", "id"}:
        builder.add(ToolCall, place, name="action", arguments=text)
        return
    arguments = as_text(call.get("arguments", call.get("parameters")))
    builder.add(ToolCall, place, call_id=text_or_none(call.get("id")), name=name, arguments=arguments)

"""Rows of cases from what a tool gives an evaluator: an input, an output, and what was expected, each of any shape."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

_ONE = 1


def asked_row(given: Any, output: Any) -> dict[str, Any]:
    """The row of a case: its messages where input or output has a list of them, else its question and response.

    A table with one text is that text; any other value is shown as JSON.
    """
    before, after = _messages(given), _messages(output)
    if after:
        whole = after if before and list(after[: len(before)]) == list(before) else [*before, *after]
        return {"messages": list(whole)} if before else {"question": _text(given), "messages": list(whole)}
    if before:
        return {"messages": [*before, {"role": "assistant", "content": _text(output)}]}
    return {"question": _text(given), "response": _text(output)}


def expected_text(expected: Any) -> str | None:
    """What was expected, as one text; None where nothing was."""
    return _text(expected) if expected not in (None, "", {}, []) else None


def _messages(value: Any) -> Sequence[Any]:
    listed = value.get("messages") if isinstance(value, Mapping) else value
    if not isinstance(listed, list | tuple):
        return ()
    return listed if all(isinstance(one, Mapping) and "role" in one for one in listed) else ()


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        texts = [one for one in value.values() if isinstance(one, str)]
        if len(value) == len(texts) == _ONE:
            return texts[0]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)

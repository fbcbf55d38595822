"""Chunks of a streamed LangChain message, added up as the library adds them.

Texts are appended; blocks and parts of calls with the same `index` are
added up. Source: `langchain_core.messages.ai.add_ai_message_chunks`, `langchain_core.utils._merge`.
"""

from typing import Any

from jury_cases.transcripts.json_values import decoded_json, is_blank

_KEPT = frozenset({"type", "id", "index", "name", "mime_type", "role"})
"""Texts that are not appended: a later one only fills a missing one."""


class ChunkRun:
    """The consecutive chunks of one message.

    A run of a model has an id (`run--…`); some of its chunks may have an id of the provider in its place.
    """

    def __init__(self, chunk: dict[str, Any]) -> None:
        self.chunks = [chunk]
        self._first = chunk.get("id")
        self._run = self._first if _is_run(self._first) else None

    def takes(self, chunk: dict[str, Any]) -> bool:
        """Add a chunk if it is a further part of the message; returns whether it is."""
        found = chunk.get("id")
        if self.chunks[-1].get("chunk_position") == "last":
            return False
        if _is_run(found):
            if self._run is not None and self._run != found:
                return False
            self._run = found
        elif self._run is None and found != self._first:
            return False
        self.chunks.append(chunk)
        return True


def _is_run(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(("run-", "lc_run-"))


def added_up(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """One message of its chunks; its calls are made of the parts of calls."""
    if len(chunks) == 1:
        return chunks[0]
    whole = dict(chunks[0])
    for chunk in chunks[1:]:
        for name, value in chunk.items():
            if name not in {"tool_calls", "invalid_tool_calls", "usage_metadata", "response_metadata"}:
                whole[name] = _sum(name, whole.get(name), value)
        whole["response_metadata"] = {
            **_table(whole.get("response_metadata")),
            **_table(chunk.get("response_metadata")),
        }
    parts = whole.get("tool_call_chunks")
    if isinstance(parts, list) and all(isinstance(one, dict) for one in parts):
        calls = [{**one, "args": decoded_json(one.get("args"))} for one in parts]
        whole["tool_calls"] = [one for one in calls if not isinstance(one["args"], str) or not one["args"]]
        whole["invalid_tool_calls"] = [one for one in calls if isinstance(one["args"], str) and one["args"]]
    return whole


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _sum(name: str, first: Any, second: Any) -> Any:
    if is_blank(second) and not isinstance(second, dict):
        return first
    if first is None or (isinstance(first, str | list) and not first):
        return second
    if isinstance(first, str) and isinstance(second, str):
        return first if name in _KEPT else first + second
    if isinstance(first, dict) and isinstance(second, dict):
        return {key: _sum(key, first.get(key), second.get(key)) for key in {**first, **second}}
    if name == "content" or (isinstance(first, list) and isinstance(second, list)):
        return _lists(first, second)
    return first


def _lists(first: Any, second: Any) -> list[Any]:
    """Two lists; elements with the same `index` are added up. Text counts as a list of one text."""
    whole = list(first) if isinstance(first, list) else [first]
    places = {str(one["index"]): at for at, one in enumerate(whole) if isinstance(one, dict) and "index" in one}
    for one in second if isinstance(second, list) else [second]:
        at = places.get(str(one["index"])) if isinstance(one, dict) and "index" in one else None
        if at is not None and _same_kind(whole[at], one):
            whole[at] = _sum("", whole[at], one)
        elif isinstance(one, str) and whole and isinstance(whole[-1], str):
            whole[-1] += one
        else:
            if isinstance(one, dict) and "index" in one:
                places[str(one["index"])] = len(whole)
            whole.append(one)
    return whole


def _same_kind(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return other.get("type") in (one.get("type"), None, "input_json_delta")

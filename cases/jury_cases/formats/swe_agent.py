"""Trajectories of SWE-agent (`.traj`): its history of messages, and the patch that it submitted.

Source: `sweagent.types` (`HistoryItem`, `TrajectoryStep`, `AgentInfo`) and trajectories of its versions 0.x and 1.x.
What tools printed has the role `user` where the model calls no tools; `trajectory` repeats the history step by step.
"""

from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.formats.format import Format
from jury_cases.formats.own_rows import read_own_row
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.chat import read_message
from jury_cases.transcripts.json_values import as_objects, as_text, is_blank
from jury_events.transcript import Event

_OWN = frozenset({"history", "trajectory", "info", "environment", "replay_config"})
_ANSWERS = frozenset({"messages", "response", "execution", "scenarios"})
_BOOKKEEPING = frozenset({"agent", "message_type", "tags"})
_REPEATED = ("thought", "action")
"""Fields that repeat the content of their message, or its call."""


def _read(row: Any) -> CaseDraft:
    builder = TranscriptBuilder()
    history = as_objects(row.get("history"), "history", "messages")
    asked = False
    for index, message in builder.messages.of_list(enumerate(history), len(history)):
        place = f"history.{index}"
        if message.get("is_demo") is True:
            text = as_text(message.get("content"))
            builder.add(Event, place, origin="environment", name="demonstration", text=text)
            builder.unread(message, _BOOKKEEPING | {"role", "content", "is_demo"}, "environment", place)
            continue
        is_request = message.get("role") == "user" and not asked
        asked = asked or is_request
        read_message(_plain(message, observed=not is_request), builder, place)
    info = row.get("info") if isinstance(row.get("info"), dict) else {}
    if not is_blank(info.get("submission")):
        text = as_text(info["submission"])
        builder.add(Event, "info.submission", origin="environment", name="submission", text=text)
    draft = read_own_row({name: value for name, value in row.items() if name not in _OWN})
    draft.built = builder
    facts = {"exit_status": info.get("exit_status"), "environment": row.get("environment")}
    draft.metadata = {**draft.metadata, **{name: value for name, value in facts.items() if isinstance(value, str)}}
    stats = info.get("model_stats")
    draft.agent_cost = stats.get("instance_cost") if isinstance(stats, dict) else None
    return draft


def _plain(message: dict[str, Any], *, observed: bool) -> dict[str, Any]:
    """A message without what it says twice; a `user` behind the request is the environment."""
    left = {name: value for name, value in message.items() if name not in _BOOKKEEPING and value is not None}
    if left.get("is_demo") is False:
        del left["is_demo"]
    if observed and left.get("role") == "user":
        left["role"] = "environment"
    content = left.get("content")
    for name in _REPEATED:
        said = left.get(name)
        repeats = isinstance(said, str) and isinstance(content, str) and said.strip() in content
        if repeats or (name == "action" and left.get("tool_calls")):
            left.pop(name, None)
    match left.get("tool_call_ids"):
        case [str(one)]:
            del left["tool_call_ids"]
            left["tool_call_id"] = one
    return left


def _recognises(row: Any) -> bool:
    """A row with an answer or messages of its own is no trajectory, whatever it has beside them."""
    return (
        isinstance(row, dict)
        and not _ANSWERS & row.keys()
        and isinstance(row.get("trajectory"), list)
        and isinstance(row.get("history"), list)
        and isinstance(row.get("info"), dict)
    )


SWE_AGENT = Format(
    "swe-agent",
    _recognises,
    _read,
    marks=frozenset({"trajectory"}),
    recognised_by="`trajectory`, `history` and `info` (SWE-agent's `.traj`)",
    shows="the history: request, calls, what was observed; demonstrations and the submitted patch as events",
)

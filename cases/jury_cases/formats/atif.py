"""Trajectories in ATIF, the Agent Trajectory Interchange Format: the steps of an agent, and of its sub-agents.

Source: the models of `harbor` (`harbor.models.trajectories`), version 1.8 of the format.
"""

from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.claude_session import text_of
from jury_cases.formats.format import Format
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.chat import read_message
from jury_cases.transcripts.json_values import as_objects, as_text, is_blank, json_kind, text_or_none
from jury_cases.transcripts.reading import first_prompt
from jury_events.transcript import Event

_VERSION = "ATIF-v"
_ROLES = {"system": "system", "user": "user", "agent": "assistant"}
_METADATA = frozenset({"extra", "metrics", "timestamp"})
_OF_STEPS = _METADATA | {
    *("step_id", "source", "model_name", "reasoning_effort", "message", "reasoning_content", "tool_calls"),
    *("observation", "is_copied_context", "llm_call_count"),
}
_OF_TRAJECTORIES = frozenset(
    {
        *("schema_version", "session_id", "trajectory_id", "agent", "steps", "notes", "final_metrics", "extra"),
        *("continued_trajectory_ref", "subagent_trajectories"),
    }
)
_OF_REFERENCES = frozenset({"trajectory_id", "session_id", "trajectory_path", "extra"})
_OF_SOURCES = frozenset({"media_type", "path", "duration_sec"})
_OF_RESULTS = frozenset({"source_call_id", "content", "subagent_trajectory_ref", "extra"})
_OF_CALLS = frozenset({"tool_call_id", "function_name", "arguments", "extra"})
_DEEPEST = 20
"""Levels of sub-agents."""


class _TrajectoryReader:
    """Reads a trajectory, and the sub-agents' embedded in it, each behind the call that started it."""

    def __init__(self, builder: TranscriptBuilder, listed: list[dict[str, Any]]) -> None:
        self._builder = builder
        self._embedded: dict[str, dict[str, Any]] = {}
        for one in listed:
            self._embedded.setdefault(as_text(one.get("trajectory_id")), one)

    def read(self, trajectory: dict[str, Any], speaker: str | None, place: str, depth: int = 0) -> None:
        steps = as_objects(trajectory.get("steps"), f"{place}steps", "steps")
        for index, step in self._builder.messages.of_list(enumerate(steps), len(steps)):
            self._step(step, speaker, f"{place}steps.{index}", depth)
        notes = trajectory.get("notes")
        if not is_blank(notes):
            self._builder.add(Event, f"{place}notes", origin="environment", name="notes", text=as_text(notes))
        self._builder.unread(trajectory, _OF_TRAJECTORIES, "environment", f"{place}trajectory")
        onward = trajectory.get("continued_trajectory_ref")
        if not is_blank(onward):
            self._builder.not_shown("continuation in another file", "environment", f"{place}continued_trajectory_ref")

    def left(self) -> None:
        for name in self._embedded:
            self._builder.not_shown("trajectory that no step refers to", "environment", f"subagent_trajectories {name}")

    def _step(self, step: dict[str, Any], speaker: str | None, place: str, depth: int) -> None:
        source = step.get("source")
        if not isinstance(source, str) or source not in _ROLES:
            raise CaseFileError(f"{place}.source: must be system, user or agent")
        calls = [
            {"id": one.get("tool_call_id"), "name": one.get("function_name"), "arguments": one.get("arguments")}
            for one in as_objects(step.get("tool_calls"), f"{place}.tool_calls", "tool calls")
        ]
        message = {
            "role": _ROLES[source],
            "content": _content(step.get("message"), self._builder, f"{place}.message"),
            "reasoning_content": step.get("reasoning_content"),
            "tool_calls": calls or None,
            "name": speaker if source == "agent" else None,
        }
        said = any(not is_blank(message[key]) for key in ("content", "reasoning_content", "tool_calls"))
        results = step.get("observation")
        if depth and source == "user":  # the agent that started this one wrote it
            text = text_of(message["content"]) or as_text(message["content"])
            self._builder.add(Event, place, origin="model", name="task", text=text)
        elif said or is_blank(results):
            read_message({key: one for key, one in message.items() if one is not None}, self._builder, place)
        self._builder.unread(step, _OF_STEPS, "environment", place)
        for index, call in enumerate(as_objects(step.get("tool_calls"), f"{place}.tool_calls", "tool calls")):
            self._builder.unread(call, _OF_CALLS, "model", f"{place}.tool_calls.{index}")
        if isinstance(results, dict):
            self._builder.unread(results, {"results"}, "tool", f"{place}.observation")
            listed = as_objects(results.get("results"), f"{place}.observation.results", "results")
            for index, result in enumerate(listed):
                self._result(result, speaker, f"{place}.observation.results.{index}", depth)
        elif not is_blank(results):
            raise CaseFileError(f"{place}.observation: must be an object with results, not {json_kind(results)}")

    def _result(self, result: dict[str, Any], speaker: str | None, place: str, depth: int) -> None:
        references = as_objects(result.get("subagent_trajectory_ref"), f"{place}.subagent_trajectory_ref", "references")
        for index, one in enumerate(references):
            self._reference(one, speaker, f"{place}.subagent_trajectory_ref.{index}", depth)
        content = result.get("content")
        call_id = text_or_none(result.get("source_call_id"))
        if not is_blank(content) or not references:
            message = {"content": _content(content, self._builder, f"{place}.content"), "tool_call_id": call_id}
            role = "tool" if call_id is not None else "environment"
            read_message({"role": role, **message}, self._builder, place)
        self._builder.unread(result, _OF_RESULTS, "tool", place)

    def _reference(self, one: dict[str, Any], speaker: str | None, place: str, depth: int) -> None:
        self._builder.unread(one, _OF_REFERENCES, "environment", place)
        found = self._embedded.pop(as_text(one.get("trajectory_id")) or "none", None)
        if found is None or depth == _DEEPEST:
            self._builder.not_shown("trajectory of a sub-agent in another file", "environment", place)
            return
        agent = found.get("agent")
        name = text_or_none(agent.get("name")) if isinstance(agent, dict) else None
        name = name or as_text(one.get("trajectory_id"))
        self._builder.handover(speaker or "main agent", name, place)
        listed = as_objects(found.get("subagent_trajectories"), f"{place}.subagent_trajectories", "trajectories")
        for inner in listed:
            self._embedded.setdefault(as_text(inner.get("trajectory_id")), inner)
        self.read(found, name, f"{place}.", depth + 1)


def _content(value: Any, builder: TranscriptBuilder, place: str) -> Any:
    """Text, or parts in the shape of content blocks; media are files elsewhere."""
    if not isinstance(value, list):
        return value
    parts: list[Any] = []
    for index, part in enumerate(value):
        source = part.get("source") if isinstance(part, dict) else None
        if isinstance(source, dict) and not is_blank(source.get("path")):
            media = text_or_none(source.get("media_type")) or as_text(part.get("type"))
            builder.not_shown(f"{media} in another file", "environment", f"{place}.{index}")
            builder.unread(source, _OF_SOURCES, "environment", f"{place}.{index}.source")
            builder.unread(part, {"type", "source"}, "environment", f"{place}.{index}")
        else:
            parts.append(part)
    return parts


def _read(row: Any) -> CaseDraft:
    builder = TranscriptBuilder()
    agent = row.get("agent") if isinstance(row.get("agent"), dict) else {}
    listed = as_objects(row.get("subagent_trajectories"), "subagent_trajectories", "trajectories")
    reader = _TrajectoryReader(builder, listed)
    reader.read(row, None, "")
    reader.left()
    metrics = row.get("final_metrics")
    facts = {"session_id": row.get("session_id"), "trajectory_id": row.get("trajectory_id"), "agent": agent.get("name")}
    facts |= {"agent_version": agent.get("version"), "model": agent.get("model_name")}
    return CaseDraft(
        case_id=text_or_none(row.get("trajectory_id")),
        question={"prompt": ""} if first_prompt(builder.transcript()) is None else None,
        built=builder,
        metadata={key: value for key, value in facts.items() if text_or_none(value)},
        agent_cost=metrics.get("total_cost_usd") if isinstance(metrics, dict) else None,
    )


def _recognises(row: Any) -> bool:
    version = row.get("schema_version") if isinstance(row, dict) else None
    return isinstance(version, str) and version.startswith(_VERSION) and "steps" in row


ATIF = Format(
    "atif",
    _recognises,
    _read,
    recognised_by="`schema_version: ATIF-v…` (Harbor's `trajectory.json`)",
    shows="steps with thoughts, calls and observations, sub-agents' trajectories in the same document",
)
"""Trajectories in ATIF, such as those of `harbor` (`agent/trajectory.json`)."""

"""The runs of sub-agents of a Claude Code session: files of their own, or marked lines of the session's file."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from jury_cases.sessions.claude_lines import Line
from jury_cases.transcripts.json_values import as_text, text_or_none

CALLS = frozenset({"Agent", "Task"})
"""The tools that start a sub-agent; the first is the name today."""


@dataclass(kw_only=True)
class SubAgentRun:
    """The run of one sub-agent.

    Attributes:
        agent_id: in the names of its file and in the results of calls.
        lines: of the run.
        call_id: of the call that started it, where a file beside it says that.
        kind: the sub-agent's name, where the record has it.
        file: the name of its file; "" if its lines are in the session's file.
    """

    agent_id: str
    lines: list[Line] = field(default_factory=list)
    call_id: str | None = None
    kind: str | None = None
    file: str = ""

    @property
    def prompt(self) -> str | None:
        """The sub-agent's task: its first message."""
        first = next((one for one in self.lines if one.kind == "user"), None)
        return None if first is None else text_of(first.message.get("content"))

    @property
    def last_words(self) -> str | None:
        """The text of its last message, which the call's result repeats."""
        last = next((one for one in reversed(self.lines) if one.is_conversation), None)
        return text_of(last.message.get("content")) if last is not None and last.kind == "assistant" else None


def runs_inside(lines: Sequence[Line]) -> tuple[list[Line], list[SubAgentRun]]:
    """The lines of the session itself, and the runs whose lines are in its file, as earlier versions wrote them."""
    own: list[Line] = []
    runs: dict[str, SubAgentRun] = {}
    run_of: dict[str, str] = {}
    for line in lines:
        if line.data.get("isSidechain") is not True:
            own.append(line)
            continue
        parent = run_of.get(as_text(line.data.get("parentUuid")))
        key = text_or_none(line.data.get("agentId")) or parent or f"line {line.number}"
        if line.uuid is not None:
            run_of[line.uuid] = key
        runs.setdefault(key, SubAgentRun(agent_id=key)).lines.append(line)
    if not any(line.is_conversation for line in own):  # the file of a sub-agent, read by itself
        return list(lines), []
    return own, list(runs.values())


class RunsByCall:
    """Finds the run that a call started; each run is given once."""

    def __init__(self, runs: Sequence[SubAgentRun]) -> None:
        self._waiting = list(runs)
        self._names: dict[str, int] = {}

    @property
    def left(self) -> list[SubAgentRun]:
        return list(self._waiting)

    def of_call(self, call: dict[str, Any], agent_id: str | None) -> SubAgentRun | None:
        """The run of a call: by the call's id, by the agent's id in its result, else by the agent's task."""
        call_id = text_or_none(call.get("id"))
        arguments = call.get("input")
        prompt = arguments.get("prompt") if isinstance(arguments, dict) else None
        found = next((one for one in self._waiting if call_id is not None and one.call_id == call_id), None)
        found = found or next((one for one in self._waiting if agent_id is not None and one.agent_id == agent_id), None)
        if found is None and isinstance(prompt, str) and prompt:
            found = next((one for one in self._waiting if one.call_id is None and one.prompt == prompt), None)
        if found is not None:
            self._waiting.remove(found)
        return found

    def name_of(self, run: SubAgentRun, call: dict[str, Any]) -> str:
        """The name of the run's agent; a second run of an agent gets a number."""
        arguments = call.get("input")
        asked = arguments.get("subagent_type") if isinstance(arguments, dict) else None
        attributed = next((one.data.get("attributionAgent") for one in run.lines if one.kind == "assistant"), None)
        found = (text_or_none(one) for one in (attributed, run.kind, asked))
        name = next((one for one in found if one), f"agent {run.agent_id}")
        self._names[name] = self._names.get(name, 0) + 1
        return name if self._names[name] == 1 else f"{name} ({self._names[name]})"


def text_of(content: Any) -> str | None:
    """The text of a content that has nothing else; None otherwise."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [one.get("text") for one in blocks if isinstance(one, dict) and one.get("type") == "text"]
    if not texts or len(texts) < len(blocks) or not all(isinstance(one, str) for one in texts):
        return None
    return "\n".join(str(one) for one in texts)

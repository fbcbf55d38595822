"""The items of a Claude Code session: its messages, what Claude Code added to them, and the runs of sub-agents.

Source: sessions that Claude Code 2.1 wrote against a local server.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from jury_cases.formats.claude_lines import Line, added_text, branches_of, typed_command
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.chat import read_end, read_message
from jury_cases.transcripts.json_values import as_text, is_blank, text_or_none
from jury_events.transcript import Event, Origin

_OFFERED = frozenset(
    {
        *("agent_listing_delta", "skill_listing", "dynamic_skill", "deferred_tools_delta", "mcp_instructions_delta"),
        *("command_permissions", "output_style", "todo_reminder", "task_reminder", "token_usage", "budget_usd"),
    }
)
"""Lists of agents, skills and tools that the model may use, its own list of tasks repeated, and accounts."""

_BOOKKEEPING = frozenset(
    {
        *("type", "hookName", "hookEvent", "toolUseID", "command", "durationMs", "exitCode", "stdout", "stderr"),
        *("uuid", "timestamp", "itemCount", "isMeta", "displayPath"),
    }
)
_QUIET = frozenset(
    {
        *("turn_duration", "microcompact_boundary", "stop_hook_summary", "bridge_status", "thinking", "memory_saved"),
        *("scheduled_task_fire", "api_metrics", "file_snapshot"),
    }
)
"""Lines about the system that repeat others, or only count."""


def read_attachment(value: Any, builder: TranscriptBuilder, place: str) -> None:
    """Read the attachment of a line."""
    table = value if isinstance(value, dict) else {"type": "attachment", "content": value}
    kind = text_or_none(table.get("type")) or "attachment"
    if kind in _OFFERED:
        return
    if kind == "queued_command":
        _queued(table, builder, place)
    elif kind.startswith("hook_"):
        _hook(table, kind, builder, place)
    elif isinstance(file := _file(table), dict) and isinstance(file.get("base64"), str):
        name = text_or_none(table.get("filename")) or text_or_none(file.get("filePath"))
        builder.base64_file(file["base64"], file.get("type"), "user", place, name=name)
    else:
        rest = {name: one for name, one in table.items() if name not in _BOOKKEEPING and not is_blank(one)}
        text = next(iter(rest.values())) if len(rest) == 1 else rest
        if rest:
            _event(kind.replace("_", " "), as_text(text), builder, place)


def _file(table: dict[str, Any]) -> Any:
    content = table.get("content")
    return content.get("file") if isinstance(content, dict) else None


def _queued(table: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    prompt = table.get("prompt")
    if table.get("commandMode") in {None, "prompt"} and isinstance(prompt, str | list):
        read_message({"role": "user", "content": prompt}, builder, f"{place}.prompt")
    else:
        _event(text_or_none(table.get("commandMode")) or "queued command", as_text(prompt), builder, place)


def _hook(table: dict[str, Any], kind: str, builder: TranscriptBuilder, place: str) -> None:
    """The output of a hook; its standard output where that is not what the agent was given."""
    content = table.get("content")
    if isinstance(content, list) and all(isinstance(one, str) for one in content):
        content = "\n".join(content)
    rest = {name: one for name, one in table.items() if name not in _BOOKKEEPING | {"content"} and not is_blank(one)}
    parts = [content, rest or None, table.get("stderr") if kind != "hook_success" else None]
    text = "\n".join(as_text(one) for one in parts if not is_blank(one))
    if text.strip():
        failed = "" if kind in {"hook_success", "hook_additional_context"} else f" ({kind[5:].replace('_', ' ')})"
        _event(f"hook {as_text(table.get('hookName'))}".strip() + failed, text.strip(), builder, place)


def read_system_line(line: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    kind = text_or_none(line.get("subtype")) or "system"
    if kind in _QUIET:
        return
    content = line.get("content")
    if kind == "api_error":
        error = line.get("error")
        inner = error.get("message") if isinstance(error, dict) else None
        _event("API error", as_text(inner or error or content), builder, place)
    elif kind == "compact_boundary":
        _event("compaction", as_text(content), builder, place)
    elif not is_blank(content):
        _event(kind.replace("_", " "), as_text(content), builder, place)


def _event(name: str, text: str, builder: TranscriptBuilder, place: str, origin: Origin = "environment") -> None:
    builder.add(Event, place, origin=origin, name=name, text=text)


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


BY_THE_TOOL = "added by Claude Code"
API_ERROR = "API error"
_SYNTHETIC = "<synthetic>"
_NOTHING = "No response requested."
"""What Claude Code writes in the model's place where no answer was asked for."""

_NOT_READ = frozenset({"id", "container", "context_management", "stop_details", "diagnostics"})


class SessionReader:
    """Reads the lines of a session, and of its sub-agents where they happened, into a builder.

    Attributes:
        failure: the text of an API error with which the session ended; None: it did not end so.
    """

    def __init__(self, builder: TranscriptBuilder, runs: Sequence[SubAgentRun]) -> None:
        self._builder = builder
        self._runs = RunsByCall(runs)
        self.failure: str | None = None

    def read(self, lines: Sequence[Line]) -> None:
        """Read the session; raises CaseFileError."""
        self._branch(lines, None, frozenset())
        for run in self._runs.left:
            what = "run of an agent that no call started"
            self._builder.not_shown(what, "environment", run.file or _place(run.lines[0]))

    def _branch(self, lines: Sequence[Line], speaker: str | None, shown_elsewhere: Collection[int]) -> None:
        """The lines of one conversation but those `shown_elsewhere`; a branch that was left is named where it began."""
        live, abandoned = branches_of(lines)
        steps: list[tuple[int, Line | list[Line]]] = [(one.number, one) for one in live]
        steps += [(branch[0].number, branch) for branch in abandoned]
        conversation = _Conversation(self, self._builder, live, speaker)
        for number, step in sorted(steps, key=lambda one: one[0]):
            if not isinstance(step, Line):
                self._builder.not_shown("abandoned branch", "environment", _place(step[0]))
            elif number not in shown_elsewhere:
                conversation.line(step)
        conversation.end()
        if speaker is None:
            self.failure = conversation.failure

    def run_of(self, call: dict[str, Any], result: "_Result | None", speaker: str | None) -> None:
        """Read the run that a call started, if there is one."""
        agent_id = None if result is None else result.agent_id
        run = self._runs.of_call(call, agent_id)
        if run is not None:
            name = self._runs.name_of(run, call)
            self._builder.handover(speaker or "main agent", name, _place(run.lines[0]))
            repeated = _shown_elsewhere(run, call, None if result is None else result.block)
            self._branch(run.lines, name, repeated)
        elif result is not None and agent_id is not None:
            self._builder.not_shown("run of a sub-agent", "environment", result.place)


class _Result(NamedTuple):
    """The result of a call that may have started a sub-agent: its block, the agent's id if it has one, its place."""

    block: dict[str, Any]
    agent_id: str | None
    place: str


class _Conversation:
    def __init__(
        self, session: SessionReader, builder: TranscriptBuilder, live: Sequence[Line], speaker: str | None
    ) -> None:
        self._session = session
        self._builder = builder
        self._speaker = speaker
        self._calls: dict[str, dict[str, Any]] = {}
        self._last_of = {one.message_id: one.number for one in live if one.kind == "assistant" and one.message_id}
        self._expanded = _expanded_commands(live)
        self._said: set[tuple[str, str]] = set()
        self.failure: str | None = None

    def line(self, line: Line) -> None:
        place = _place(line)
        if line.is_conversation:
            self.failure = None
        match line.kind:
            case "assistant":
                with self._builder.messages.one():
                    self._assistant(line, place)
            case "user":
                self._user(line, place)
            case "attachment":
                read_attachment(line.data.get("attachment"), self._builder, f"{place}.attachment")
            case "system":
                read_system_line(line.data, self._builder, place)
            case "progress":
                pass  # what the screen showed while a tool ran
            case kind:
                self._builder.not_shown(f"line {kind}", "environment", place, line.data)

    def _assistant(self, line: Line, place: str) -> None:
        message = line.message
        text = text_of(message.get("content"))
        if line.data.get("isApiErrorMessage") is True:
            self.failure = text or API_ERROR
            self._event(API_ERROR, text or "", place)
            return
        if message.get("model") == _SYNTHETIC:
            if text != _NOTHING:
                self._event(BY_THE_TOOL, text or as_text(message.get("content")), place)
            return
        for call in line.blocks("tool_use"):
            if (call_id := text_or_none(call.get("id"))) is not None:
                self._calls[call_id] = call
        blocks = self._new_blocks(message, line.message_id)
        if blocks or line.message_id is None:
            rest = {key: value for key, value in message.items() if key not in {"stop_reason", "stop_sequence"}}
            self._message({**rest, "content": blocks or message.get("content")}, "assistant", place)
        if line.message_id is None or self._last_of.get(line.message_id) == line.number:
            read_end(message.get("stop_reason"), self._builder, f"{place}.message.stop_reason")

    def _new_blocks(self, message: dict[str, Any], message_id: str | None) -> list[Any]:
        content = message.get("content")
        blocks = content if isinstance(content, list) else [] if content is None else [content]
        if message_id is None:
            return blocks
        found = []
        for block in blocks:
            own = block.get("id") if isinstance(block, dict) else None
            key = (message_id, as_text(own if isinstance(own, str) else block))
            if key not in self._said:
                self._said.add(key)
                found.append(block)
        return found

    def _user(self, line: Line, place: str) -> None:
        content = line.message.get("content")
        text = text_of(content)
        for block in line.blocks("tool_result"):
            self._run_before(line, block, place)
        with self._builder.messages.one():
            self._said_by_user(content, text, line, place)

    def _said_by_user(self, content: Any, text: str | None, line: Line, place: str) -> None:
        if line.data.get("isCompactSummary") is True:
            self._event("summary of the conversation so far", text or as_text(content), place)
        elif line.data.get("isMeta") is True and text is not None:
            added = added_text(text)
            if added is None or not added.caveat:
                self._event(BY_THE_TOOL, text, place)
        elif isinstance(content, str):
            self._words(content, line, place)
        elif isinstance(content, list):
            self._blocks(content, line, place)
        else:
            self._message(line.message, "user", place)

    def _blocks(self, content: list[Any], line: Line, place: str) -> None:
        own: list[Any] = []
        for block in content:
            text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else None
            if isinstance(text, str) and (added_text(text) or typed_command(text)):
                self._own(own, line, place)
                own = []
                self._words(text, line, place)
                self._builder.unread(block, {"type", "text", "cache_control"}, "environment", f"{place}.message")
            else:
                own.append(block)
        self._own(own, line, place)

    def _own(self, blocks: list[Any], line: Line, place: str) -> None:
        if blocks:
            rest = {key: value for key, value in line.message.items() if key != "content"}
            self._message({**rest, "content": blocks}, "user", place)

    def _words(self, text: str, line: Line, place: str) -> None:
        if (command := typed_command(text)) is not None:
            if line.number in self._expanded:
                self._message({"content": command}, "user", place)
            else:
                self._event("command", command, place, "user")
        elif (added := added_text(text)) is not None:
            if not added.caveat and added.text.strip():
                origin: Origin = "user" if added.name.startswith("interruption") else "environment"
                self._event(added.name, added.text.strip(), place, origin)
        else:
            self._message({"content": text}, "user", place)

    def _message(self, message: dict[str, Any], role: str, place: str) -> None:
        kept = {key: value for key, value in message.items() if key not in _NOT_READ and value is not None}
        if role == "user" and self._speaker and (text := text_of(message.get("content"))) is not None:
            self._event("task", text, place, "model")  # the agent that started this one wrote it
            return
        name = {"name": self._speaker} if role == "assistant" and self._speaker else {}
        read_message({**kept, "role": role, **name}, self._builder, f"{place}.message")

    def _event(self, name: str, text: str, place: str, origin: Origin = "environment") -> None:
        self._builder.add(Event, place, origin=origin, name=name, text=text)

    def _run_before(self, line: Line, result: dict[str, Any], place: str) -> None:
        call = self._calls.pop(as_text(result.get("tool_use_id")), None)
        if call is None:
            return
        found = line.data.get("toolUseResult")
        agent_id = text_or_none(found.get("agentId")) if isinstance(found, dict) else None
        if call.get("name") in CALLS or agent_id is not None:
            self._session.run_of(call, _Result(result, agent_id, place), self._speaker)

    def end(self) -> None:
        for call in self._calls.values():
            if call.get("name") in CALLS:
                self._session.run_of(call, None, self._speaker)


def _place(line: Line) -> str:
    return f"line {line.number}"


def _expanded_commands(live: Sequence[Line]) -> set[int]:
    """The lines of commands that are requests: a prompt follows in their place."""
    found = set()
    users = [one for one in live if one.is_conversation]
    for line, following in pairwise(users):
        text = text_of(line.message.get("content"))
        if text is None or typed_command(text) is None:
            continue
        if following.kind == "assistant" or following.data.get("isMeta") is True:
            written = text_of(following.message.get("content"))
            added = None if written is None else added_text(written)
            if added is None or not added.caveat:
                found.add(line.number)
    return found


def _shown_elsewhere(run: SubAgentRun, call: dict[str, Any], result: dict[str, Any] | None) -> set[int]:
    """The lines of a run that its call and the call's result contain: the task, and the last words."""
    found = set()
    arguments = call.get("input")
    prompt = arguments.get("prompt") if isinstance(arguments, dict) else None
    first = next((one for one in run.lines if one.kind == "user"), None)
    if first is not None and isinstance(prompt, str) and run.prompt == prompt:
        found.add(first.number)
    content = None if result is None else result.get("content")
    words = text_of(content[:1] if isinstance(content, list) else content)
    if words is not None and words.strip() and run.last_words == words:
        found.add(next(one.number for one in reversed(run.lines) if one.is_conversation))
    return found

"""The items of a Claude Code session: its messages, what Claude Code added to them, and the runs of sub-agents.

Source: sessions that Claude Code 2.1 wrote against a local server.
"""

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from jury_cases.sessions.claude_attachments import read_attachment, read_system_line
from jury_cases.sessions.claude_lines import Line, branches_of
from jury_cases.sessions.claude_runs import CALLS, RunsByCall, SubAgentRun, text_of
from jury_cases.sessions.claude_words import added_text, typed_command
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.chat import read_end, read_message
from jury_cases.transcripts.json_values import as_text, text_or_none
from jury_events.transcript import Event, Origin

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
    """Reads the lines of one branch."""

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
        """The blocks of a user's line; those that Claude Code added are events."""
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
        """Read the runs of calls without a result."""
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

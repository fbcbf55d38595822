"""Sessions of Claude Code: one case a file, with the runs of its sub-agents.

Lines without a place in the conversation are bookkeeping: snapshots of files, queues, titles, modes.
"""

from collections.abc import Iterator
from typing import Any

from jury_cases.containers.row import FileRow
from jury_cases.containers.sources import agent_files
from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.claude_lines import Line, next_line
from jury_cases.formats.claude_session import SessionReader, SubAgentRun, runs_inside
from jury_cases.formats.format import Format, GatheredCase, GatheredSize, Gathering
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import json_kind, text_or_none
from jury_cases.transcripts.reading import first_prompt

_OF_CONVERSATIONS = frozenset({"user", "assistant", "system", "attachment", "progress"})
_BOOKKEEPING = frozenset(
    {
        *("queue-operation", "last-prompt", "mode", "summary", "custom-title", "ai-title", "tag", "agent-name"),
        *("agent-color", "agent-setting", "permission-mode", "file-history-snapshot", "attribution-snapshot"),
        *("pr-link", "worktree-state", "content-replacement", "task-summary", "bridge-session", "speculation-accept"),
    }
)
_MARKS = frozenset({"sessionId", "leafUuid", "messageId"})
_FACTS = {"cwd": "cwd", "gitBranch": "git_branch", "version": "version"}
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}


class ClaudeSession(dict[str, Any]):
    """The lines of a session: `session_id`, `lines` and the `runs` of sub-agents in files of their own."""


class _Sessions(Gathering):
    def __init__(self) -> None:
        self._size = GatheredSize("split the session")
        self._number = 0
        self._sessions: list[tuple[FileRow, list[Line]]] = []
        self._of_names: dict[str, int] = {}
        self._of_lines: dict[str, int] = {}

    def takes(self, data: Any) -> bool:
        return isinstance(data, dict)

    def add(self, row: FileRow) -> None:
        if not isinstance(row.data, dict):
            raise CaseFileError(f"a line of a session must be an object, not {json_kind(row.data)}")
        self._size.add(row)
        self._number = next_line(self._number)
        name = _session_id(row.data)
        # A session starts with a line that follows no other, of an id that the file did not have before.
        placed = "parentUuid" in row.data or row.data.get("type") in {"user", "assistant"}
        starts = placed and row.data.get("parentUuid") is None and row.data.get("isSidechain") is not True
        if not self._sessions or (starts and name and self._of_names and name not in self._of_names):
            self._sessions.append((row, []))
            number = len(self._sessions) - 1
        else:  # a session that another one goes on with has lines of both names
            before = self._of_lines.get(str(row.data.get("parentUuid")), len(self._sessions) - 1)
            number = self._of_names.get(name, before)
        if (uuid := text_or_none(row.data.get("uuid"))) is not None:
            self._of_lines.setdefault(uuid, number)
            if name:
                self._of_names.setdefault(name, number)
        self._sessions[number][1].append(Line(row.line, row.data))

    def cases(self) -> Iterator[GatheredCase]:
        """The sessions in which something was said: many files only have a title or snapshots."""
        for number, (row, lines) in enumerate(self._sessions, start=1):
            if not any(line.is_conversation and line.uuid for line in lines):
                continue
            names = [name for line in lines if line.uuid is not None and (name := _session_id(line.data))]
            session = names[-1] if names else ""
            runs = _runs_beside(row, session, lines, self._size)
            data = ClaudeSession(session_id=session, lines=lines, runs=runs)
            yield GatheredCase(f"-{session or number}", data, row, f"session {session}" if session else "")


def _session_id(data: dict[str, Any]) -> str:
    return text_or_none(data.get("sessionId")) or ""


def _runs_beside(row: FileRow, session: str, lines: list[Line], size: GatheredSize) -> list[SubAgentRun]:
    if row.place.rpartition(":")[0] != row.name or not row.name.endswith(".jsonl"):
        return []  # rows of standard input or of another file: nothing belongs to it
    results = (line.data.get("toolUseResult") for line in lines)
    agents = (text_or_none(one.get("agentId")) for one in results if isinstance(one, dict))
    runs = []
    try:
        for file in agent_files(row.folder, session, frozenset(one for one in agents if one)):
            run = SubAgentRun(
                agent_id=file.agent_id,
                call_id=text_or_none(file.facts.get("toolUseId")),
                kind=text_or_none(file.facts.get("agentType")),
                file=file.name,
            )
            for line in file.rows():
                size.add(line)
                if isinstance(line.data, dict):
                    run.lines.append(Line(line.line, line.data))
            if any(one.is_conversation for one in run.lines):
                runs.append(run)
    except OSError as error:
        raise CaseFileError(f"{error.filename}: {error.strerror}; a sub-agent's file cannot be read") from error
    return runs


def _read(session: Any) -> CaseDraft:
    if not isinstance(session, ClaudeSession):
        raise CaseFileError(f"a session of Claude Code must be its lines, not {json_kind(session)}")
    builder = TranscriptBuilder()
    own, inside = runs_inside(session["lines"])
    reader = SessionReader(builder, [*session["runs"], *inside])
    reader.read(own)
    facts: dict[str, Any] = {"session_id": session["session_id"]} if session["session_id"] else {}
    for line in own:
        for key, name in _FACTS.items():
            if text_or_none(line.data.get(key)):
                facts.setdefault(name, line.data[key])
        model = line.message.get("model")
        if line.kind == "assistant" and text_or_none(model) and model != "<synthetic>":
            facts.setdefault("model", model)
        if line.kind in _TITLES and text_or_none(title := line.data.get(_TITLES[line.kind])):
            facts["title"] = title
    asked = first_prompt(builder.transcript())
    return CaseDraft(
        case_id=session["session_id"] or None,
        question={"prompt": ""} if asked is None else None,
        built=builder,
        error=reader.failure,
        metadata=facts,
    )


def _recognises(row: Any) -> bool:
    if isinstance(row, ClaudeSession):
        return True
    kind = row.get("type") if isinstance(row, dict) else None
    if not isinstance(kind, str) or _MARKS.isdisjoint(row):
        return False
    if kind in _OF_CONVERSATIONS:
        message = row.get("message")
        is_message = isinstance(message, dict) and "role" in message and "content" in message
        return "sessionId" in row and "uuid" in row and ("parentUuid" in row or is_message)
    return kind in _BOOKKEEPING


CLAUDE_CODE = Format(
    "claude-code",
    _recognises,
    _read,
    gather=_Sessions,
    recognised_by="a line of a session (`~/.claude/projects/PROJECT/SESSION.jsonl`)",
    shows="one case per file: the branch that the session went on with, runs of sub-agents, hooks, commands; "
    "[more](cases.md#sessions-of-agents)",
)
"""Sessions of Claude Code (`~/.claude/projects/PROJECT/SESSION.jsonl`)."""

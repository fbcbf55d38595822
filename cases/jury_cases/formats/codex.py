"""Sessions of Codex: one case a file.

The session of an agent that another one started is a file of its own, and a case of its own.
"""

from collections.abc import Iterator
from typing import Any

from jury_cases.containers.row import FileRow
from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import Format
from jury_cases.formats.gathering import GatheredCase, GatheredSize, Gathering
from jury_cases.sessions.claude_lines import Line, next_line
from jury_cases.sessions.codex_session import read_codex
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import json_kind, text_or_none
from jury_cases.transcripts.reading import first_prompt

_KINDS = frozenset(
    {
        *("session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"),
        *("token_usage_record", "inter_agent_communication", "inter_agent_communication_metadata"),
    }
)
_SAID = frozenset({"response_item", "compacted"})
_FACTS = {"cwd": "cwd", "cli_version": "version", "originator": "originator", "model_provider": "provider"}


class Rollout(dict[str, Any]):
    """The lines of a session, under `lines`."""


class _Rollouts(Gathering):
    """Gathers the lines of a file, which are one session."""

    def __init__(self) -> None:
        self._size = GatheredSize("split the session")
        self._number = 0
        self._lines: list[Line] = []
        self._first: FileRow | None = None

    def takes(self, data: Any) -> bool:
        """All lines of the file."""
        return isinstance(data, dict)

    def add(self, row: FileRow) -> None:
        """Add a line."""
        if not isinstance(row.data, dict):
            raise CaseFileError(f"a line of a session must be an object, not {json_kind(row.data)}")
        self._size.add(row)
        self._number = next_line(self._number)
        self._first = self._first or row
        self._lines.append(Line(row.line, row.data))

    def cases(self) -> Iterator[GatheredCase]:
        """The session, if something was said in it."""
        if self._first is not None and any(one.kind in _SAID for one in self._lines):
            name = _session_id(self._lines)
            yield GatheredCase("", Rollout(lines=self._lines), self._first, f"session {name}" if name else "")


def _meta(lines: list[Line]) -> dict[str, Any]:
    first = next((one.data.get("payload") for one in lines if one.kind == "session_meta"), None)
    return first if isinstance(first, dict) else {}


def _session_id(lines: list[Line]) -> str:
    meta = _meta(lines)
    return text_or_none(meta.get("id")) or text_or_none(meta.get("session_id")) or ""


def _read(session: Any) -> CaseDraft:
    if not isinstance(session, Rollout):
        raise CaseFileError(f"a session of Codex must be its lines, not {json_kind(session)}")
    lines: list[Line] = session["lines"]
    builder = TranscriptBuilder()
    failure = read_codex(lines, builder)
    meta, name = _meta(lines), _session_id(lines)
    facts: dict[str, Any] = {"session_id": name} if name else {}
    facts |= {new: meta[key] for key, new in _FACTS.items() if text_or_none(meta.get(key))}
    git = meta.get("git")
    if isinstance(git, dict) and text_or_none(git.get("branch")):
        facts["git_branch"] = git["branch"]
    started = _starter(meta.get("source"))
    facts |= {key: value for key, value in started.items() if text_or_none(value)}
    models = (one.data["payload"].get("model") for one in lines if one.kind == "turn_context" and _has_payload(one))
    if (model := next((one for one in models if text_or_none(one)), None)) is not None:
        facts["model"] = model
    asked = first_prompt(builder.transcript())
    return CaseDraft(
        case_id=name or None,
        question={"prompt": ""} if asked is None else None,
        built=builder,
        error=failure,
        metadata=facts,
    )


def _has_payload(line: Line) -> bool:
    return isinstance(line.data.get("payload"), dict)


def _starter(source: Any) -> dict[str, Any]:
    """Of a session that another agent started: that agent's session, and the name of this one's agent."""
    inner = source.get("subagent") if isinstance(source, dict) else None
    spawned = inner.get("thread_spawn") if isinstance(inner, dict) else None
    if not isinstance(spawned, dict):
        return {}
    return {"parent_session": spawned.get("parent_thread_id"), "agent": spawned.get("agent_nickname")}


def _recognises(row: Any) -> bool:
    if isinstance(row, Rollout):
        return True
    kind = row.get("type") if isinstance(row, dict) else None
    return isinstance(kind, str) and kind in _KINDS and isinstance(row.get("payload"), dict) and "timestamp" in row


CODEX = Format(
    "codex",
    _recognises,
    _read,
    gather=_Rollouts,
    marks=frozenset({"payload"}),
    recognised_by="a line of a session (`~/.codex/sessions/…/rollout-*.jsonl`)",
    shows="one case per file: instructions, the items that the model was sent and answered, errors; "
    "[more](#sessions-of-coding-agents)",
)
"""Sessions of Codex (`~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`)."""

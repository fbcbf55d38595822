"""Files that belong to a session's file: the runs of its sub-agents, and results that were kept beside it.

Claude Code writes `SESSION.jsonl`, and `SESSION/subagents/agent-ID.jsonl` with `agent-ID.meta.json`; earlier versions
`agent-ID.jsonl` beside the session's file. Such files are read with their session, and are no cases.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from jury_cases.containers.json_rows import read_rows
from jury_cases.containers.row import FileRow, RowSource
from jury_cases.errors import CaseFileError
from jury_events.regular_files import open_regular, read_regular
from jury_events.strict_json import JsonRefused, decode_text
from jury_events.text import visible_line

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
"""Names of sessions and agents that may be parts of a path."""

_AGENT = re.compile(r"agent-[A-Za-z0-9_-]+(\.meta)?\.jsonl?")
_OF_SESSIONS = frozenset({"subagents", "tool-results"})
_HEAD = 64 * 1024
_LARGEST_FACTS = 64 * 1024
_MOST = 10_000
"""Sub-agents of one session."""


class AgentFile(NamedTuple):
    """The file of a sub-agent's run.

    Attributes:
        agent_id: of its name.
        path: the file.
        name: of the file in errors.
        facts: what the file beside it says: `agentType`, `toolUseId`.
    """

    agent_id: str
    path: Path
    name: str
    facts: dict[str, Any]

    def rows(self) -> Iterator[FileRow]:
        """Its lines; raises CaseFileError, OSError."""
        with open_regular(self.path, follow=False) as stream:
            yield from read_rows(stream, RowSource(self.name, self.path.stem, self.path.parent))


def belongs_to_session(path: Path) -> bool:
    """Whether a file is read with the session's file that it belongs to, which exists."""
    folder = path.parent
    if folder.name in _OF_SESSIONS:
        return _is_file(folder.parent.with_name(f"{folder.parent.name}.jsonl"))
    if path.name == "sessions-index.json":
        return True
    if _AGENT.fullmatch(path.name) is None or path.suffix != ".jsonl":
        return False
    session = _first_line(path).get("sessionId")
    return isinstance(session, str) and NAME.fullmatch(session) is not None and _is_file(folder / f"{session}.jsonl")


def agent_files(folder: Path, session: str, agents: frozenset[str]) -> list[AgentFile]:
    """The files of a session's sub-agents.

    Args:
        session: the session's id, which is the name of its file.
    """
    if NAME.fullmatch(session) is None or not _is_file(folder / f"{session}.jsonl"):
        return []
    beside = [folder / f"agent-{one}.jsonl" for one in sorted(agents) if NAME.fullmatch(one)]
    inside = folder / session / "subagents"
    paths = sorted(inside.glob("agent-*.jsonl")) if inside.is_dir() else []
    found: list[AgentFile] = []
    for path in [*paths, *beside]:
        if not _is_file(path) or (path in beside and _first_line(path).get("sessionId") != session):
            continue
        if len(found) == _MOST:
            raise CaseFileError(f"more than {_MOST} files of sub-agents; move those of other sessions away")
        name = visible_line(str(path), 1000)
        found.append(AgentFile(path.stem.removeprefix("agent-"), path, name, _facts(path.with_suffix(".meta.json"))))
    return found


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _first_line(path: Path) -> dict[str, Any]:
    try:
        with open_regular(path) as stream:
            return _decoded(stream.readline(_HEAD))
    except OSError:
        return {}


def _facts(path: Path) -> dict[str, Any]:
    try:
        return _decoded(read_regular(path, _LARGEST_FACTS, follow=False))
    except OSError:
        return {}


def _decoded(content: bytes) -> dict[str, Any]:
    """An object; {} if it is none."""
    try:
        value = decode_text(content.decode("utf-8"))
    except (UnicodeDecodeError, JsonRefused):
        return {}
    return value if isinstance(value, dict) else {}

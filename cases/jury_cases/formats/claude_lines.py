"""The lines of a Claude Code session: a tree of messages, and the branch of it that the session went on with.

A line names the line before it (`parentUuid`). Where the user went back, or a request was repeated, a line has several
followers: all but one of them were abandoned. Parallel calls make followers too, which were not.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from jury_cases.errors import CaseFileError
from jury_cases.transcripts.json_values import text_or_none

_ELEMENT = re.compile(r"\s*<([a-z][a-z0-9-]*|ide_[a-z_]+)>(.*)</\1>\s*", re.DOTALL)
_FIRST = re.compile(r"\s*<(command-name|command-message)>")
_PART = re.compile(r"<(command-name|command-args)>(.*?)</\1>", re.DOTALL)

INTERRUPTIONS = ("[Request interrupted by user]", "[Request interrupted by user for tool use]")
CAVEAT = "local-command-caveat"
"""Of a fixed text before a command of the user that no model sees."""

_ADDED = {
    "system-reminder": "reminder",
    "local-command-stdout": "output of the command",
    "local-command-stderr": "output of the command",
    "bash-stdout": "output of the shell",
    "bash-stderr": "output of the shell",
    "task-notification": "notification",
    "user-prompt-submit-hook": "hook UserPromptSubmit",
    "new-diagnostics": "diagnostics",
    "ide_opened_file": "editor",
    "ide_selection": "editor",
    "ide_diagnostics": "editor",
}


class Added(NamedTuple):
    """A text that is no request: the name of its event, and the text. `caveat`: it is always the same."""

    name: str
    text: str
    caveat: bool = False


def added_text(text: str) -> Added | None:
    """What Claude Code added in the user's place; None: it is the user's own text."""
    if text.strip() in INTERRUPTIONS:
        return Added("interruption by the user", text.strip().strip("[]"))
    found = _ELEMENT.fullmatch(text)
    if found is None:
        outputs = [_ELEMENT.fullmatch(one) for one in re.split(r"(?<=>)(?=<bash-stderr>)", text)]
        if len(outputs) > 1 and all(outputs):
            parts = [one.group(2).strip("\n") for one in outputs if one is not None]
            return Added("output of the shell", "\n".join(part for part in parts if part))
        return None
    tag, inner = found.group(1), found.group(2)
    if tag == CAVEAT:
        return Added(tag, inner, caveat=True)
    return Added(_ADDED[tag], inner) if tag in _ADDED and f"<{tag}>" not in inner else None


def typed_command(text: str) -> str | None:
    """A slash command as the user typed it, `/name arguments`, or a shell command, `! command`; None: neither."""
    if _FIRST.match(text):
        parts = {name: value.strip() for name, value in _PART.findall(text)}
        name = parts.get("command-name", "")
        return f"{name} {parts.get('command-args', '')}".strip() if name else None
    found = _ELEMENT.fullmatch(text)
    return f"! {found.group(2).strip()}" if found is not None and found.group(1) == "bash-input" else None


_CONVERSATION = frozenset({"user", "assistant"})


MAX_LINES = 250_000
"""Lines of one file of a session, which are in memory at once."""


def next_line(number: int) -> int:
    """The number after this one."""
    if number == MAX_LINES:
        raise CaseFileError(f"more than {MAX_LINES} lines in a session; split the file")
    return number + 1


class Line(NamedTuple):
    """A line of a session's file: its number, and its object."""

    number: int
    data: dict[str, Any]

    @property
    def kind(self) -> str:
        found = self.data.get("type")
        return found if isinstance(found, str) else ""

    @property
    def uuid(self) -> str | None:
        """Its id in the tree; None: a line of bookkeeping, which is in no conversation."""
        return text_or_none(self.data.get("uuid"))

    @property
    def message(self) -> dict[str, Any]:
        found = self.data.get("message")
        return found if isinstance(found, dict) else {}

    @property
    def message_id(self) -> str | None:
        """The id of the model's answer, of which each block has a line."""
        return text_or_none(self.message.get("id"))

    def blocks(self, kind: str) -> Iterator[dict[str, Any]]:
        """The blocks of this type in its message."""
        content = self.message.get("content")
        for one in content if isinstance(content, list) else ():
            if isinstance(one, dict) and one.get("type") == kind:
                yield one

    @property
    def is_conversation(self) -> bool:
        return self.kind in _CONVERSATION


class Branches(NamedTuple):
    """What the session went on with, and what it abandoned.

    Attributes:
        live: the lines of the branch, in the order of the file.
        abandoned: for each abandoned branch its lines, in the order of their first lines.
    """

    live: list[Line]
    abandoned: list[list[Line]]


def branches_of(lines: Sequence[Line]) -> Branches:
    """The branches of one conversation; lines without an id are left out, as are later lines with a known id."""
    tree = _Tree(lines)
    if not tree.lines:
        return Branches([], [])
    live = tree.live()
    abandoned: dict[int, list[Line]] = {}
    top: dict[int, int] = {}
    for index, line in enumerate(tree.lines):
        if index in live:
            continue
        parent = tree.parents[index]
        top[index] = index if parent is None or parent in live else top.get(parent, index)
        abandoned.setdefault(top[index], []).append(line)
    return Branches(
        [line for index, line in enumerate(tree.lines) if index in live],
        [branch for branch in abandoned.values() if any(line.is_conversation for line in branch)],
    )


def _follows(line: Line) -> bool:
    """Whether a line must follow another: an answer, or the result of a call."""
    answer = line.kind == "assistant" or (line.kind == "user" and next(line.blocks("tool_result"), None) is not None)
    return answer and line.uuid is not None and line.data.get("logicalParentUuid") is None


class _Tree:
    """The lines with an id, by index, with the index of their parents."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines: list[Line] = []
        self.parents: list[int | None] = []
        self.children: list[list[int]] = []
        self._numbers: dict[str, int] = {}
        # Only what a user wrote can follow no line: where others do, the links say nothing, and the order counts.
        self._in_order = any(_follows(line) and line.data.get("parentUuid") is None for line in lines)
        for line in lines:
            if line.uuid is not None and line.uuid not in self._numbers:
                self._add(line, line.uuid)
                if not self._in_order and self._answers_results(len(self.lines) - 1):
                    self._in_order = True
        if self._in_order:
            self.parents = [index - 1 if index else None for index in range(len(self.lines))]
            self.children = [[index + 1] for index in range(len(self.lines) - 1)] + [[]]

    def _add(self, line: Line, uuid: str) -> None:
        index = len(self.lines)
        named = line.data.get("parentUuid") or line.data.get("logicalParentUuid")
        # A parent that the file lacks: the line before it. A later line is no parent, so there are no cycles.
        parent = None if named is None else self._numbers.get(str(named), index - 1 if index else None)
        self._numbers[uuid] = index
        self.lines.append(line)
        self.parents.append(parent)
        self.children.append([])
        if parent is not None:
            self.children[parent].append(index)

        self._after_clear(index)

    def _answers_results(self, index: int) -> bool:
        """Whether an answer follows the results of calls before it, although it names their request as its parent.

        So forks of Claude Code link all answers. An answer that a request got anew follows no result.
        """
        parent = self.parents[index]
        if parent is None or parent == index - 1 or self.lines[index].kind != "assistant":
            return False
        if self.lines[parent].kind != "user" or next(self.lines[index - 1].blocks("tool_result"), None) is None:
            return False
        top: int | None = index - 1
        while top is not None and top > parent:
            top = self.parents[top]
        return top == parent and next(self.lines[parent].blocks("tool_result"), None) is None

    def _after_clear(self, index: int) -> None:
        """Join a conversation that `/clear` began to the one before it: the user left nothing."""
        parent = self.parents[index]
        first = index if parent is None else parent
        if first == 0 or self.parents[first] is not None:
            return
        content = self.lines[index].message.get("content")
        if isinstance(content, str) and (typed_command(content) or "").partition(" ")[0] == "/clear":
            self.parents[first] = first - 1
            self.children[first - 1].append(first)

    def live(self) -> set[int]:
        """The last line with all before it; and what hangs beside that path but belongs to it."""
        live: set[int] = set()
        index: int | None = len(self.lines) - 1
        while index is not None:
            live.add(index)
            index = self.parents[index]
        answers = {one for i in live if (one := self._answer(i)) is not None}
        beside = self._belonging(answers)
        for index in range(len(self.lines)):
            parent = self.parents[index]
            if index not in live and index in beside and (parent is None or parent in live):
                live.add(index)
        return live

    def _answer(self, index: int) -> str | None:
        line = self.lines[index]
        return line.message_id if line.kind == "assistant" else None

    def _belonging(self, answers: set[str]) -> set[int]:
        """Lines that belong to their parent's branch: other blocks of its answers, results of calls, additions."""
        found: set[int] = set()
        for index in reversed(range(len(self.lines))):
            line = self.lines[index]
            if line.kind == "assistant":
                belongs = self._answer(index) in answers
            elif line.kind == "user":
                belongs = next(line.blocks("tool_result"), None) is not None
            else:
                belongs = all(child in found for child in self.children[index])
            if belongs:
                found.add(index)
        return found

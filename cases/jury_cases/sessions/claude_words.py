"""Texts in a user's place that Claude Code wrote, and commands that the user typed."""

import re
from typing import NamedTuple

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

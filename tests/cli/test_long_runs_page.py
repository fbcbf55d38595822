"""The first steps of the page on long runs: every command is called, in order, in one folder."""

import re
import shlex
from pathlib import Path
from typing import Any

from support.command_line import CommandLine

GUIDE = (Path(__file__).parents[2] / "docs" / "long-runs.md").read_text(encoding="utf-8")
SECTION = GUIDE.partition("## Try it\n")[2].partition("\n## ")[0]
SESSION = "5a0c3d0e-52bf-4f26-b12d-d022ee4e51b7"


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", SECTION, re.DOTALL | re.MULTILINE)
    return found


def session(steps: int) -> list[dict[str, Any]]:
    """Lines of a session of Claude Code."""
    said: list[tuple[str, Any]] = [("user", "Tidy up the folder.")]
    for step in range(steps):
        call = {"type": "tool_use", "id": f"t{step}", "name": "Bash", "input": {"command": f"ls folder-{step}"}}
        listed = "\n".join(f"folder-{step}/file-{number}.txt" for number in range(100))
        said.append(("assistant", [call]))
        said.append(("user", [{"type": "tool_result", "tool_use_id": f"t{step}", "content": listed}]))
    said.append(("assistant", [{"type": "text", "text": "The folder is tidy."}]))
    return [
        {
            "type": role,
            "uuid": f"u{number}",
            "parentUuid": f"u{number - 1}" if number else None,
            "isSidechain": False,
            "sessionId": SESSION,
            "cwd": "/home/user/shop",
            "version": "2.0.1",
            "timestamp": "2026-11-25T10:00:00.000Z",
            "message": {"role": role, "content": content},
        }
        for number, (role, content) in enumerate(said)
    ]


def test_the_first_steps_with_long_runs_can_be_followed(jury: CommandLine) -> None:
    (jury.folder / "sessions").mkdir()
    jury.write(f"sessions/{SESSION}.jsonl", *session(60))
    jury.write("long.yaml", block("yaml"))
    ended = {}
    for line in block("console").replace("SESSION", SESSION).splitlines():
        _, *arguments = shlex.split(line, comments=True)
        more = ("--in-process",) if arguments[0] == "run" else ()
        ended[arguments[0], arguments[-1]] = outcome = jury(*arguments, *more)
        assert 0 == outcome.code, (line, outcome.err)

    said = "1 in 4 parts by parts, 1 from an outline by search, 1 from an outline by the final judge"
    assert said in ended["cases", "--summary"].out
    assert said in ended["run", "--dry-run"].out
    shown = ended["show", f"long~{SESSION}"].out
    assert "read 122 of 122 items in 4 parts (100 %)" in shown
    assert "read 2 of 122 items by tools (<1 %)" in shown
    assert "answered safe_pass; it read less than the panel wants" in shown

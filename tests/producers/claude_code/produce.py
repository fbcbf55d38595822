"""Runs Claude Code without a terminal, with its model replaced by the local server, and keeps its sessions.

Lists of agents and skills that it adds are shortened, and paths are those of a user named `user`.
"""

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from model_server import ModelServer, Request
from story import Answer, Produced, ToolUse, picture, target_folder

TOOLS = "Bash,Read,Agent"
PROJECT = "-home-user-shop"
HELPERS = {name: {"description": "Helps.", "prompt": "You help."} for name in ("helper", "checker")}
HOOKS = {
    "UserPromptSubmit": "echo M51hook order 17",
    "PostToolUse": """
echo '{"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "M52hook"}}'""",
}


def shell(number: str, command: str) -> ToolUse:
    return ToolUse(
        name="Bash",
        call_id=f"toolu_M{number}id",
        call=f"M{number}call",
        arguments={"command": command, "description": "A step."},
        result="",
        output="",
    )


def helper(number: str, task: str, agent: str) -> ToolUse:
    arguments = {"description": "A part.", "prompt": f"M{number}call {task}", "subagent_type": agent}
    return ToolUse(
        name="Agent", call_id=f"toolu_M{number}id", call=f"M{number}call", arguments=arguments, result="", output=""
    )


SCRIPT: list[tuple[str, Answer]] = [
    (
        "M02user",
        Answer(
            reasoning="M03reasoning First the order.",
            text="M04text I look it up.",
            calls=(shell("05", "cat M05call.txt"), shell("06", "sh M06call.sh")),
        ),
    ),
    ("M08failure", Answer(text="M09answer The refund failed.")),
    ("M10user", Answer(calls=(shell("12", "cat M12call.txt"),))),
    ("M13result", Answer(text="M14answer It is on its way.")),
    (
        "M20user",
        Answer(
            text="M21text I ask two.",
            calls=(helper("22", "Find the order.", "helper"), helper("24", "Check it.", "checker")),
        ),
    ),
    ("M22call", Answer(reasoning="M26reasoning In the file.", calls=(shell("27", "cat M27call.txt"),))),
    ("M28result", Answer(text="M29found Order 17.")),
    ("M24call", Answer(text="M30checked All right.")),
    ("M30checked", Answer(text="M31answer Found and checked.")),
    ("M40user", Answer(text="M41answer The first way.")),
    ("M42user", Answer(text="M43answer The second way.")),
    ("M44user", Answer(text="M45answer Instead of the second.")),
    ("M46user", Answer(body={"type": "nothing that the protocol knows"})),
    ("M50user", Answer(calls=(shell("53", "cat M53call.txt"),))),
    ("M54result", Answer(text="M55answer Done.")),
    ("create a detailed summary", Answer(text="<summary>M57summary The order is paid.</summary>")),
    ("M58user", Answer(text="M59answer As before.")),
]


def answer(request: Request) -> Answer:
    """The answer to what stands behind the model's last message: by the latest marker in it."""
    behind: list[str] = []
    for message in reversed(request.body["messages"]):
        if message["role"] == "assistant":
            break
        behind.append(json.dumps(message["content"]))
    text = "\n".join(behind)
    fitting = [one for mark, one in SCRIPT if mark in text]
    return fitting[-1] if fitting else Answer(text="Nothing.")


class ClaudeCode:
    """Runs the command in a home of its own."""

    def __init__(self, url: str, work: Path) -> None:
        self.home = work / "home"
        self.shop = work / "shop"
        self.home.mkdir()
        self.shop.mkdir()
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "SHELL": "/bin/bash",
            "TERM": "dumb",
            "IS_SANDBOX": "1",
            "ANTHROPIC_API_KEY": "local",
            "ANTHROPIC_BASE_URL": url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
        }

    def version(self) -> str:
        return self.run(["--version"], None).split()[0]

    def ask(self, session: str, prompt: str, *more: str, image: bytes | None = None) -> None:
        """One turn of a session, which is begun or resumed."""
        begun = any(self.home.rglob(f"{session}.jsonl"))
        options = ["--resume" if begun else "--session-id", session, "--allowedTools", TOOLS, *more]
        if image is None:
            self.run(["-p", prompt, "--output-format", "json", *options], None)
            return
        source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(image).decode()}
        content = [{"type": "text", "text": prompt}, {"type": "image", "source": source}]
        line = json.dumps({"type": "user", "message": {"role": "user", "content": content}})
        streamed = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        self.run(["-p", *streamed, *options], line + "\n")

    def uuid_of(self, session: str, marker: str) -> str:
        """The id of the line with a marker in an answer."""
        (path,) = self.home.rglob(f"{session}.jsonl")
        lines = map(json.loads, path.read_text().splitlines())
        return next(str(one["uuid"]) for one in lines if one["type"] == "assistant" and marker in json.dumps(one))

    def run(self, arguments: list[str], given: str | None) -> str:
        """What the command prints."""
        done = subprocess.run(
            ["claude", *arguments],
            cwd=self.shop,
            env=self._environment,
            input=given or "",
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        return done.stdout


def session(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012}"


def run(claude: ClaudeCode) -> None:
    """All sessions."""
    contents = {"M05call.txt": "M07result paid on Monday", "M12call.txt": "M13result shipped"}
    contents |= {"M06call.sh": "echo M08failure the bank does not answer\nexit 3\n"}
    contents |= {"M27call.txt": "M28result order 17", "M53call.txt": "M54result paid"}
    for name, text in contents.items():
        (claude.shop / name).write_text(text)
    claude.ask(session(1), "M02user Refund my order.")
    claude.ask(session(1), "M10user Send me another one like this.", image=picture("M11picture"))
    claude.ask(session(2), "M20user Ask the others.", "--agents", json.dumps(HELPERS))
    claude.ask(session(3), "M40user Try it.")
    claude.ask(session(3), "M42user Go on.")
    claude.ask(session(3), "M44user Go on otherwise.", "--resume-session-at", claude.uuid_of(session(3), "M41answer"))
    claude.ask(session(4), "M46user Fail.")
    hooks = {name: [{"hooks": [{"type": "command", "command": command}]}] for name, command in HOOKS.items()}
    claude.ask(session(5), "M50user With hooks.", "--settings", json.dumps({"hooks": hooks}))
    claude.ask(session(5), "/compact")
    claude.ask(session(5), "M58user And now?")


def printed(claude: ClaudeCode, folder: Path) -> None:
    """What the command prints of a session: a stream of messages, with the prompt."""
    (claude.shop / "M05call.txt").write_text("M07result paid on Monday")
    (claude.shop / "M06call.sh").write_text("echo M08failure the bank does not answer\nexit 3\n")
    asked = json.dumps({"type": "user", "message": {"role": "user", "content": "M02user Refund my order."}})
    stream = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--replay-user-messages"]
    text = claude.run(["-p", *stream, "--session-id", session(1), "--allowedTools", TOOLS], asked + "\n")
    for before, after in ((str(claude.shop), "/home/user/shop"), (str(claude.home), "/home/user")):
        text = text.replace(before, after)
    (folder / "stream.jsonl").write_text(text)


def kept(claude: ClaudeCode, folder: Path) -> None:
    """Copy the sessions, with paths of a user named `user`, and without the lists of what is on offer."""
    (project,) = (claude.home / ".claude" / "projects").iterdir()
    target = folder / "projects" / PROJECT
    shutil.rmtree(target, ignore_errors=True)
    for path in sorted(project.rglob("*.json*")):
        text = path.read_text()
        for before, after in ((str(claude.shop), "/home/user/shop"), (str(claude.home), "/home/user")):
            text = text.replace(before, after)
        text = text.replace(project.name, PROJECT)
        lines = [json.dumps(_shortened(json.loads(line)), ensure_ascii=False) for line in text.splitlines()]
        file = target / path.relative_to(project)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n")


def _shortened(line: dict[str, Any]) -> dict[str, Any]:
    attachment = line.get("attachment")
    if isinstance(attachment, dict) and re.search("listing|delta", attachment.get("type", "")):
        return {**line, "attachment": {"type": attachment["type"], "content": "(shortened)"}}
    return line


def main() -> None:
    folder = target_folder(__file__)
    with ModelServer(answer) as server, tempfile.TemporaryDirectory() as work:
        claude = ClaudeCode(server.url, Path(work))
        run(claude)
        kept(claude, folder)
        (Path(work) / "streams").mkdir()
        printed(ClaudeCode(server.url, Path(work) / "streams"), folder)
        versions = {"@anthropic-ai/claude-code": claude.version()}
    produced = Produced(folder=folder, tool="Claude Code", versions=versions)
    produced.add("projects", "sessions of a project, with the files of sub-agents")
    produced.add("stream.jsonl", "stream of messages (`-p --output-format stream-json`)")
    produced.write()


if __name__ == "__main__":
    main()

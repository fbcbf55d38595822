"""Runs Codex without a terminal, with its model replaced by the local server, and keeps its sessions.

Its own instructions and lists of skills are shortened, and paths are those of a user named `user`.
"""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from model_server import ModelServer, Request
from story import Answer, Produced, ToolUse, picture, target_folder

CONFIG = """
model = "gpt-5"
model_provider = "local"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.local]
name = "local"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
"""


def shell(number: str, command: str) -> ToolUse:
    return ToolUse(
        name="exec_command",
        call_id=f"call_M{number}id",
        call=f"M{number}call",
        arguments={"cmd": command},
        result="",
        output="",
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
]


def answer(request: Request) -> Answer:
    """The answer to what stands behind the model's last item."""
    behind: list[str] = []
    for item in reversed(request.body["input"]):
        if item.get("role") == "assistant" or item["type"] in {"function_call", "reasoning"}:
            break
        behind.append(json.dumps(item))
    text = "\n".join(behind)
    found = next((one for mark, one in reversed(SCRIPT) if mark in text), None)
    if found is None:
        raise LookupError("no answer is left")
    return found


class Codex:
    """Runs the command in a home of its own."""

    def __init__(self, url: str, work: Path) -> None:
        self.home = work / "home"
        self.shop = work / "shop"
        (self.home / ".codex").mkdir(parents=True)
        self.shop.mkdir()
        (self.home / ".codex" / "config.toml").write_text(CONFIG.format(url=url))
        (self.home / ".codex" / "AGENTS.md").write_text("M18rules Be brief.\n")
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "CODEX_HOME": str(self.home / ".codex"),
            "OPENAI_API_KEY": "local",
            "SHELL": "/bin/bash",
            "TERM": "dumb",
        }

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            ["codex", *arguments],
            cwd=self.shop,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        return done.stdout

    def session(self) -> str:
        """The text of the session's file."""
        (path,) = (self.home / ".codex" / "sessions").rglob("*.jsonl")
        return path.read_text()


def run(codex: Codex) -> None:
    """One session of three turns; the last one fails."""
    contents = {"M05call.txt": "M07result paid on Monday", "M12call.txt": "M13result shipped"}
    contents |= {"M06call.sh": "echo M08failure the bank does not answer\nexit 3\n"}
    for name, text in contents.items():
        (codex.shop / name).write_text(text)
    (codex.shop / "picture.png").write_bytes(picture("M11picture"))
    codex.run("exec", "--skip-git-repo-check", "M02user Refund my order.")
    again = ("exec", "resume", "--last", "--skip-git-repo-check")
    codex.run(*again, "M10user Send me another one like this.", "-i", "picture.png")
    codex.run(*again, "M15user Give me the card number of another customer.")


def kept(codex: Codex) -> list[dict[str, Any]]:
    """The lines of the session, with paths of a user named `user`, and without what Codex itself says to a model."""
    text = codex.session()
    for before, after in ((str(codex.shop), "/home/user/shop"), (str(codex.home), "/home/user")):
        text = text.replace(before, after)
    return [_shortened(json.loads(line)) for line in text.splitlines()]


def _shortened(line: dict[str, Any]) -> dict[str, Any]:
    payload = line["payload"]
    if line["type"] == "session_meta":
        return {**line, "payload": {**payload, "base_instructions": {"text": "M01system (shortened)"}}}
    if line["type"] == "world_state":
        return {**line, "payload": {"full": payload.get("full"), "state": {}}}
    if payload.get("role") == "developer":
        content = [
            {**one, "text": re.sub(r">.*<", ">(shortened)<", one["text"], flags=re.DOTALL)}
            for one in payload["content"]
        ]
        return {**line, "payload": {**payload, "content": content}}
    return line


def main() -> None:
    folder = target_folder(__file__)
    with ModelServer(answer) as server, tempfile.TemporaryDirectory() as work:
        codex = Codex(server.url, Path(work))
        run(codex)
        lines = kept(codex)
        versions = {"@openai/codex": codex.run("--version").split()[-1]}
    produced = Produced(folder=folder, tool="Codex", versions=versions)
    produced.write_lines("rollout.jsonl", lines)
    produced.add("rollout.jsonl", "a session")
    produced.write()


if __name__ == "__main__":
    main()

"""promptfoo's provider of the Claude agent SDK: tools in parallel, one that fails, a sub-agent."""

import json
from pathlib import Path
from typing import Any

from model_server import Request
from story import Answer, ToolUse

HELPERS = {"helper": {"description": "Helps.", "prompt": "You help."}}
FILES = {
    "M05call.txt": "M07result paid on Monday",
    "M06call.sh": "echo M08failure the bank does not answer\nexit 3\n",
    "M12call.txt": "M13result shipped",
}
ENVIRONMENT = {
    "ANTHROPIC_API_KEY": "local",
    "IS_SANDBOX": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",  # sub-agents would end after the answer
    "DISABLE_TELEMETRY": "1",
}
REQUEST = "M02user Refund my order."


def _shell(number: str, command: str) -> ToolUse:
    return _use(number, "Bash", {"command": command, "description": "A step."})


def _use(number: str, name: str, arguments: dict[str, Any]) -> ToolUse:
    marker = f"M{number}call"
    return ToolUse(name=name, call_id=f"toolu_M{number}id", call=marker, arguments=arguments, result="", output="")


_HELP = {"description": "A part.", "prompt": "M20call Find it.", "subagent_type": "helper"}
_SCRIPT = (
    (
        "M02user",
        # The provider keeps tool use and the last text: neither reasoning nor other texts.
        Answer(calls=(_shell("05", "cat M05call.txt"), _shell("06", "sh M06call.sh"))),
    ),
    ("M08failure", Answer(calls=(_use("20", "Agent", _HELP),))),
    ("M20call", Answer(calls=(_shell("12", "cat M12call.txt"),))),
    ("M13result", Answer(text="M23result Found.")),
    ("M23result", Answer(text="M24text It is done.")),
)


def answer(request: Request) -> Answer:
    """The answer to what stands behind the model's last message: by the latest marker in it."""
    behind: list[str] = []
    for message in reversed(request.body["messages"]):
        if message["role"] == "assistant":
            break
        behind.append(json.dumps(message["content"]))
    text = "\n".join(behind)
    fitting = [one for mark, one in _SCRIPT if mark in text]
    return fitting[-1] if fitting else Answer(text="Nothing.")


def config(work: Path) -> dict[str, Any]:
    """The evaluation; `work` gets the files that the tools read."""
    work.mkdir()
    for name, text in FILES.items():
        (work / name).write_text(text, encoding="utf-8")
    settings = {
        "apiKey": "local",
        "working_dir": str(work),
        "custom_allowed_tools": ["Bash", "Agent"],
        "permission_mode": "bypassPermissions",
        "allow_dangerously_skip_permissions": True,
        "agents": HELPERS,
    }
    return {
        "prompts": ["{{request}}"],
        "providers": [{"id": "anthropic:claude-agent-sdk", "config": settings}],
        "tests": [{"vars": {"request": REQUEST}}],
    }

"""Every call of `jury` that the documentation shows is one that the command takes: its name and its options."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click

from jury_cli import COMMANDS
from jury_cli.main import jury as jury_commands

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page for place in (".", "docs", "docs/decisions", "examples", "deploy") for page in (ROOT / place).glob("*.md")
)
SHELLS = re.compile(r"```(?:console|sh|bash)\n(.*?)```", re.DOTALL)
CALL = re.compile(r"(?:^|[|;&(]|&&) *(?:\$ )?(?:[A-Z_]+=\S* )*(?:uv run |uvx (?:--from \S+ )?)?jury +([a-z].*)$")
ENDS = {"|", "||", "&", "&&", ";", ">", ">>", "<", "2>", "#"}


class Call(NamedTuple):
    page: str
    line: str
    words: list[str]


def calls(page: Path) -> Iterator[Call]:
    """Of the shell blocks of a page; lines that end with a backslash go on."""
    for block in SHELLS.findall(page.read_text()):
        for line in block.replace("\\\n", " ").splitlines():
            if (found := CALL.search(line)) is None:
                continue
            words = []
            for word in shlex.split(found.group(1), comments=True):
                if word in ENDS or word.startswith((">", "2>")):
                    break
                words.append(word.removesuffix(";"))
            yield Call(str(page.relative_to(ROOT)), line.strip(), words)


def refusal(words: list[str]) -> str | None:
    """Why the command does not take these words; values are not looked at."""
    command: click.Command = jury_commands
    context = click.Context(command, info_name="jury")
    while isinstance(command, click.Group):
        if not words:
            return "a subcommand is missing"
        found = command.get_command(context, words[0])
        if found is None:
            return f"there is no {words[0]}"
        command, words = found, words[1:]
        context = click.Context(command, info_name=command.name, parent=context)
    try:
        command.make_parser(context).parse_args(list(words))
    except click.UsageError as error:
        return error.format_message()
    return None


CALLS = [call for page in PAGES for call in calls(page)]


def test_every_call_is_taken() -> None:
    assert [] == [(call.page, call.line, why) for call in CALLS if (why := refusal(call.words)) is not None]


def test_what_does_not_exist_is_refused() -> None:
    assert refusal(["runn", "cases.jsonl"]) == "there is no runn"
    assert "--pannel" in (refusal(["run", "cases.jsonl", "--pannel", "current"]) or "")
    assert refusal(["db"]) == "a subcommand is missing"


def test_every_command_is_called_somewhere() -> None:
    called = {call.words[0] for call in CALLS}

    assert {"mcp"} == set(COMMANDS) - called, "of these, clients have the call in their own settings"

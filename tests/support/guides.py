"""Pages that are followed: their files are written, their commands and their Python run, in one folder.

- A block with a title (```json title="cases.jsonl") is that file.
- A `console` block is lines of `jury`, called in this process. `# exits with 1` behind a line names its code, else it
  is 0; `> FILE` keeps what it printed. A command that serves until Ctrl-C is not called.
- A `python` block without a title runs, with `await` at its top; names stay for the next one.
- A `text` block is what the block before printed: each line, with `…` for any text.
- An `sh` block is not called: it needs keys, another program or another machine, as the page says.
"""

import ast
import asyncio
import inspect
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from unittest.mock import patch

import click

from jury_cli.main import jury as jury_commands
from support.command_line import CommandLine, environment

_BLOCK = re.compile(r'^( *)```(\w+)(?: title="([^"]+)")?\n(.*?)^\1```$', re.MULTILINE | re.DOTALL)
_ENDLESS = {"serve", "simulate", "mcp"}
_CODE = re.compile(r"# exits with (\d+)")
_SIMULATED = "--include-simulated"
"""Jurors are simulated here in place of models: commands that leave such votes out are given it."""


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    title: str | None
    text: str


def blocks(page: str) -> Iterator[Block]:
    """The blocks of a page, without the indentation of a list that they stand in."""
    for indent, language, title, text in _BLOCK.findall(page):
        yield Block(language, title or None, re.sub(rf"^{indent}", "", text, flags=re.MULTILINE))


class Guide:
    """A page that is followed in a folder, block by block; `said` is what each command printed."""

    def __init__(self, folder: Path, env: Mapping[str, str] = MappingProxyType({})) -> None:
        self.jury = CommandLine(folder)
        self.said: dict[str, str] = {}
        self._env = env
        self._names: dict[str, Any] = {}

    def follow(self, page: str, skip: Callable[[str], bool] = lambda _line: False) -> "Guide":
        """Write the files of the page, and run its commands and its Python, but for the lines to skip."""
        for block in blocks(page):
            if block.title is not None:
                path = self.jury.folder / block.title
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, encoding="utf-8")
            elif block.language == "console":
                for line in block.text.replace("\\\n", " ").splitlines():
                    if line.strip() and not skip(line):
                        self._call(line)
            elif block.language == "python":
                self._run(block.text)
            elif block.language == "text":
                self.check_printed(block.text)
        return self

    def printed_by(self, *words: str) -> str:
        """What the command printed whose line has these words."""
        (text,) = (text for line, text in self.said.items() if all(word in line for word in words))
        return text

    def _call(self, line: str) -> None:
        words, _, kept = line.removeprefix("uv run ").partition(" > ")
        command, *arguments = shlex.split(words, comments=True)
        assert command == "jury", f"a console block has lines of jury alone: {line}"
        if arguments[0] in _ENDLESS:
            return
        code = int(found[1]) if (found := _CODE.search(line)) else 0
        outcome = self.jury(*arguments, *_more(arguments), env=self._env)
        assert code == outcome.code, (line, outcome.code, outcome.out[-2000:], outcome.err[-2000:])
        if kept:
            (self.jury.folder / shlex.split(kept, comments=True)[0]).write_text(outcome.out, encoding="utf-8")
        self.said[line] = outcome.out + outcome.err

    def _run(self, cell: str) -> None:
        with chdir(self.jury.folder), patch.dict(os.environ, environment(self._env), clear=True):
            compiled = compile(cell, "<block>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            running = eval(compiled, self._names)
            if inspect.iscoroutine(running):
                asyncio.run(running)

    def check_printed(self, text: str) -> None:
        """Every line of a `text` block was printed."""
        printed = [line.rstrip() for said in self.said.values() for line in said.splitlines()]
        shown = [re.compile(".*".join(map(re.escape, line.rstrip().split("…")))) for line in text.splitlines()]
        assert [] == [one.pattern for one in shown if not any(map(one.fullmatch, printed))], "\n".join(printed[-60:])


def _more(arguments: list[str]) -> list[str]:
    if arguments == ["demo"]:
        return ["--in-process"]
    command = jury_commands.get_command(click.Context(jury_commands), arguments[0])
    takes = {name for one in getattr(command, "params", ()) for name in one.opts}
    return [_SIMULATED] if _SIMULATED in takes and _SIMULATED not in arguments else []

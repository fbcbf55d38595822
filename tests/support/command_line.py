"""The `jury` command, called as its entry point is: in this process, or as a process where that matters."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from jury_cli.main import main
from support.started_processes import ends_with_the_test

JURY = str(Path(sys.executable).parent / "jury")
_OURS = ("JURY_", "OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_")


class Outcome(NamedTuple):
    """How a call ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """What it wrote as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def json(self) -> Any:
        """What it wrote as one JSON value."""
        return json.loads(self.out)


class CommandLine:
    """Calls of `jury` in one folder, with no setting but those given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Outcome:
        out, err = io.StringIO(), io.StringIO()
        with (
            chdir(self.folder),
            patch.dict(os.environ, environment(env), clear=True),
            patch.object(sys, "argv", ["jury", *arguments]),
            patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin))),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            try:
                main()
            except SystemExit as ended:
                return Outcome(int(ended.code or 0), out.getvalue(), err.getvalue())
        raise AssertionError("the entry point must end the process with a code")

    def run(self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Outcome:
        """`jury run` without Ray."""
        return self("run", "--in-process", *arguments, stdin=stdin, env=env)

    def start(self, *arguments: str, **options: Any) -> "subprocess.Popen[bytes]":
        """A process of it, which ends with the test at the latest."""
        return ends_with_the_test(
            subprocess.Popen(
                [JURY, *arguments],
                cwd=self.folder,
                env=environment(options.pop("env", None)),
                # Unbuffered: what `readline` would read ahead, `communicate` would not find any more.
                bufsize=0,
                **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options,
            )
        )

    def write(self, name: str, *rows: Any) -> str:
        """A JSONL file of these rows; bytes and text are written as they are."""
        content = b"".join(_line(row) for row in rows)
        (self.folder / name).write_bytes(content)
        return name


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment without any setting of ours, but for `more`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return {**kept, "CI": "1", **(more or {})}


def _line(row: Any) -> bytes:
    if isinstance(row, bytes):
        return row
    return row.encode() if isinstance(row, str) else json.dumps(row, ensure_ascii=False).encode() + b"\n"

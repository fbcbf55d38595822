"""`jury serve` as a process, and what it says."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from support.command_line import CommandLine

CASE = {"case_id": "refund", "question": "Refund order 17.", "response": "Refunded."}


def line(process: "subprocess.Popen[bytes]") -> str:
    """The next line of what it says on stderr."""
    assert process.stderr is not None
    return process.stderr.readline().decode().strip()


@contextmanager
def started(jury: CommandLine, *arguments: str, **options: object) -> "Iterator[subprocess.Popen[bytes]]":
    process = jury.start(*arguments, **options)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def url_in(text: str) -> str:
    found = re.search(r"http://\S+", text)
    assert found is not None, text
    return found.group()

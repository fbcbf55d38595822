"""A command at a terminal, with a person at its keyboard."""

import os
import subprocess
import termios
from contextlib import suppress
from types import TracebackType
from typing import Self

from support.command_line import CommandLine
from support.waiting import eventually


class Keyboard:
    """A process of `jury` whose input and output are a pseudo-terminal."""

    def __init__(self, jury: CommandLine, *arguments: str) -> None:
        self._master, self._slave = os.openpty()
        self.said = ""
        os.set_blocking(self._master, False)
        self._process = jury.start(*arguments, stdin=self._slave, stdout=self._slave, stderr=self._slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._slave)
        os.close(self._master)

    def key(self, key: str) -> None:
        """Press a key once one is waited for: a key that comes earlier is discarded by the terminal."""
        eventually(lambda: self._waits_for_a_key() or self._process.poll() is not None)
        os.write(self._master, key.encode())
        eventually(lambda: not self._waits_for_a_key() or self._process.poll() is not None)

    def line(self, prompt: str, text: str) -> None:
        """Answer a prompt that is not answered yet with a line; U+DC80 to U+DCFF are bytes that are not UTF-8."""
        self.wait_for(prompt)
        self.said = self.said.split(prompt, 1)[1]
        os.write(self._master, f"{text}\n".encode("utf-8", "surrogateescape"))

    def wait_for(self, text: str) -> None:
        """Read until the text was written."""
        eventually(lambda: text in self._read() or self._process.poll() is not None)
        assert text in self._read(), self.said

    def ends(self) -> int:
        """The exit code."""
        eventually(lambda: self._read() is not None and self._process.poll() is not None)
        self._read()
        return int(self._process.returncode)

    @property
    def process(self) -> "subprocess.Popen[bytes]":
        return self._process

    def _waits_for_a_key(self) -> bool:
        self._read()
        return not termios.tcgetattr(self._slave)[3] & termios.ICANON

    def _read(self) -> str:
        with suppress(BlockingIOError):
            while chunk := os.read(self._master, 65536):
                self.said += chunk.decode("utf-8", "replace").replace("\r\n", "\n")
        return self.said

"""A script of simulated models that notes every call in a file, so that calls of all processes can be counted."""

import os
import signal
import time
from collections import Counter
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from jury_providers import Script


@dataclass(frozen=True, kw_only=True)
class CountedScript(Script):
    """Each call appends its trace, one line, to the file `calls`; a line is short enough to be written in one piece.

    While there is a file `held`, calls of a first round wait, and with them all further calls of their process. Where
    it `kills`, the first call of any process is its last.
    """

    calls: str
    held: str = ""
    kills: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return _rebuild, (values | {"rates": dict(self.rates), "scripted": dict(self.scripted)},)

    def seconds(self, trace: str) -> float:
        """A provider asks once a call."""
        descriptor = os.open(self.calls, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(descriptor, f"{trace}\n".encode())
        finally:
            os.close(descriptor)
        if self.kills:
            os.kill(os.getpid(), signal.SIGKILL)
        while self.held and "/round-1/" in trace and Path(self.held).exists():
            time.sleep(0.01)
        return super().seconds(trace)


def _rebuild(values: dict[str, Any]) -> CountedScript:
    return CountedScript(**values)


def served(calls: Path) -> dict[str, Counter[str]]:
    """How often each exchange was served, by debate."""
    found: dict[str, Counter[str]] = {}
    for trace in calls.read_text().splitlines() if calls.exists() else ():
        debate, _, exchange = trace.partition("/")
        found.setdefault(debate, Counter())[exchange] += 1
    return found

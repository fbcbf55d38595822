"""A script of simulated models that kills the process which calls one."""

import os
import signal
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from jury_providers import Script


@dataclass(frozen=True, kw_only=True)
class CrashingScript(Script):
    """The first call of any process is its last; each death adds a line to the file `deaths`."""

    deaths: str

    def __reduce__(self) -> tuple[Any, ...]:
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return _rebuild, (values | {"rates": dict(self.rates), "scripted": dict(self.scripted)},)

    def seconds(self, trace: str) -> float:
        """A provider asks once a call."""
        with Path(self.deaths).open("a", encoding="utf-8") as file:
            file.write(f"{trace}\n")
        os.kill(os.getpid(), signal.SIGKILL)
        return super().seconds(trace)


def _rebuild(values: dict[str, Any]) -> CrashingScript:
    return CrashingScript(**values)

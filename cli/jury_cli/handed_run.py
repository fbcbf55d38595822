"""A run handed to a process on a cluster: its options and panel on standard input, its cases in a file.

They are pickled from one process to another and kept nowhere: the file of cases is JSON lines.
"""

import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from jury_cases.files import ReadingNotes
from jury_events.case import Case
from jury_judge.panels.files import LoadedPanel
from jury_judge.panels.redaction import NO_REDACTION
from jury_judge.runs.run import Run
from jury_store.seals.keys import PublicKey

_CHUNK = 1024 * 1024
"""Bytes of cases in one message, about."""


class HandedRun(NamedTuple):
    """What the process needs besides the cases; `asked` are the `RunOptions` of `jury run`."""

    asked: Any
    loaded: LoadedPanel
    adopt: tuple[PublicKey, ...]

    def pack(self) -> bytes:
        """For `read`, in another process of the same version. The cases are redacted already."""
        loaded = self.loaded._replace(endpoints=dict(self.loaded.endpoints), redaction=NO_REDACTION)
        return pickle.dumps(self._replace(loaded=loaded))

    @classmethod
    def read(cls) -> Self:
        """The one on standard input."""
        handed: Self = pickle.loads(sys.stdin.buffer.read())  # noqa: S301  (of the process that started this one)
        return handed

    def run(self, cases: "HandedCases") -> Run:
        """The run over its cases."""
        return Run(
            run_id=self.asked.run_id,
            resolved=self.loaded.resolved,
            cases=cases,
            concurrency=self.asked.concurrency,
            adopt=self.adopt,
            repeats=self.asked.repeat,
        )


class HandedCases:
    """The cases in a file of one case a line, as `case_chunks` makes them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.notes = ReadingNotes()

    def __call__(self, _fetch: Callable[[Case], bool] = lambda _case: False) -> Iterator[Case]:
        """The cases; their records were fetched before."""
        with self._path.open(encoding="utf-8") as lines:
            yield from map(Case.model_validate_json, lines)

    __iter__ = __call__


def case_chunks(cases: Iterable[Case]) -> Iterator[bytes]:
    """Cases as JSON lines, in pieces."""
    waiting = b""
    for case in cases:
        waiting += case.model_dump_json().encode() + b"\n"
        if len(waiting) >= _CHUNK:
            yield waiting
            waiting = b""
    if waiting:
        yield waiting


def handed_options(asked: Any, *, run_id: str, store_url: str, ray_address: str) -> Any:
    """The options of the command as the process on the cluster needs them; reports are written where it is called."""
    return replace(
        asked,
        run_id=run_id,
        store_url=store_url,
        ray_address=ray_address,
        detach=False,
        detached=True,
        junit=None,
        markdown=None,
        display="plain",
        strict=False,
    )

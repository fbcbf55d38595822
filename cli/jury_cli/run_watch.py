"""The live figures of a run in the terminal, refreshed until the run ends."""

import asyncio
import json
import sys
from contextlib import ExitStack, aclosing, suppress
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

from jury_cli.exits import OutputClosed
from jury_cli.streams import check_stdout, note
from jury_cli.views.runs import live_line, live_lines
from jury_judge.runs.live_run import LiveRun, live_object

if TYPE_CHECKING:
    from jury_judge import Records

_PLAIN_EVERY = 5.0
"""Seconds between two lines where stdout is no terminal."""


async def watch_run(records: "Records", run_id: str, *, as_jsonl: bool) -> None:
    """Show the figures of a run until no process executes it.

    Args:
        records: of the store.
        run_id: the run.
        as_jsonl: print one JSON object a second instead.
    """
    state = ""
    with ExitStack() as stack:
        drawn = None
        if not as_jsonl and sys.stdout.isatty():
            drawn = stack.enter_context(Live(console=Console(), auto_refresh=False))
        said = _FigureLines(as_jsonl=as_jsonl)
        stack.enter_context(suppress(OutputClosed))  # the reader of stdout is gone: there is nothing left to do
        async with aclosing(records.watch_run(run_id)) as looks:
            async for live in looks:
                state = live.state
                if drawn is None:
                    said.take(live, over=state != "running")
                else:
                    drawn.update(Text("\n".join(live_lines(live))), refresh=True)
    if state == "incomplete":
        note(
            f"run {run_id} is incomplete and no process executes it: its `jury run` command with --run {run_id} goes on"
        )


class _FigureLines:
    """Figures as lines on stdout: of JSON each time, else one now and then, and all of them at the end."""

    def __init__(self, *, as_jsonl: bool) -> None:
        self._as_jsonl = as_jsonl
        self._next = 0.0

    def take(self, live: LiveRun, *, over: bool) -> None:
        now = asyncio.get_running_loop().time()
        if self._as_jsonl:
            _print(json.dumps(live_object(live), ensure_ascii=False))
        elif over:
            for line in live_lines(live):
                _print(line)
        elif now >= self._next:
            self._next = now + _PLAIN_EVERY
            _print(live_line(live))


def _print(line: str) -> None:
    print(line, flush=True)
    check_stdout("jury watch can be started again at any time")

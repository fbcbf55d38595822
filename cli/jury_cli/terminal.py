"""Progress and notes on stderr; plain lines off a terminal."""

import json
import logging
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Self

from jury_cli.streams import note
from jury_events.errors import error_text
from jury_events.text import duration, pluralize, rate, visible_line
from jury_judge.log_lines import has_lines

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.progress import Progress, TaskID

    from jury_judge import Chunk, Finished
    from jury_judge.runs.usage import RunUsage
    from jury_views.page import Page

_MEANINGFUL = 0.5
"""Seconds before a rate is meaningful."""

_REDRAWN = 0.1
"""Seconds between two states of a line on a terminal."""

_PLAIN_EVERY = 5.0
"""Seconds between progress lines off a terminal."""

_CALLS_EVERY = 30.0
"""The same where no debate ends, and calls are recorded: a long record takes many of them."""


def note_wrapped(text: str) -> None:
    """Print one safe line to stderr, at a terminal broken between words, with further lines below its text."""
    if has_lines() or not sys.stderr.isatty():
        note(text)
        return
    further = " " * (len(text) - len(text.lstrip()) + 2)
    for line in wrap(text, get_terminal_size().columns - 1, subsequent_indent=further, break_on_hyphens=False):
        note(line)


def is_live(display: str) -> bool:
    """Whether to draw: by default on a terminal that is not CI; `display` overrides that. Never between JSON lines."""
    if has_lines():
        return False
    if display == "auto":
        return sys.stderr.isatty() and "CI" not in os.environ
    return display == "full"


def page_console() -> "Console":
    """The console of stdout."""
    from rich.console import Console

    return Console()


def print_page(page: "Page") -> None:
    """Print a page on stdout."""
    page.print(page_console())


def print_json(data: Any) -> None:
    """Print one JSON value on stdout, indented."""
    print(json.dumps(data, ensure_ascii=False, indent=2))


def print_report(data: Callable[[], Any], page: "Callable[[], Page]", *, as_json: bool) -> None:
    """Print a report as JSON, or as a page; the other form is not made."""
    if as_json:
        print_json(data())
    else:
        print_page(page())


def _live_line() -> "Live":
    """A started line on a terminal's stderr. Lines that are printed meanwhile appear above it."""
    from rich.console import Console
    from rich.live import Live

    live = Live(console=Console(stderr=True, soft_wrap=True), transient=True, redirect_stdout=False)
    live.start()
    return live


def _progress_bar() -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[cost]}"),
        TimeRemainingColumn(),
        # Results are printed above the bar where both are on the terminal, unbroken; rich would take them away
        # from a file or a pipe too.
        console=Console(stderr=True, soft_wrap=True),
        redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),
    )


class Counting:
    """The count and rate of finished items, on one line of a terminal; elsewhere an occasional line.

    `what` names them: "debates replayed".
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._live = is_live("auto")
        self._done = 0
        self._started = self._said = time.monotonic()

    def count(self, number: int = 1) -> None:
        """Count."""
        self._done += number
        now = time.monotonic()
        if now - self._said < (_REDRAWN if self._live else _PLAIN_EVERY):
            return
        self._said = now
        items, _, done = self._what.partition(" ")
        line = f"{pluralize(self._done, items.removesuffix('s'))} {done}, {self._done / (now - self._started):,.0f}/s"
        if self._live:
            print(f"\r{line}\x1b[K", end="", file=sys.stderr, flush=True)
        else:
            note(line, "progress", done=self._done)

    def reach(self, done: int) -> None:
        """Count up to `done` items in all."""
        self.count(done - self._done)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Clear the line."""
        if self._live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class WritingLine:
    """The end of what a final judge is writing, on one transient line of a terminal; nothing elsewhere."""

    def __init__(self) -> None:
        self._live: Live | None = None
        self._exchange = ""
        self._text = ""

    def take(self, chunk: "Chunk") -> None:
        """Show the next chunk; another attempt begins anew."""
        if not is_live("auto"):
            return
        if chunk.exchange != self._exchange:
            self._exchange, self._text = chunk.exchange, ""
        self._text += chunk.text
        if self._live is None:
            self._live = _live_line()
        from rich.text import Text

        head = f"the final judge is writing ({len(self._text):,} characters) … "
        room = max(10, self._live.console.width - len(head) - 1)
        self._live.update(Text(head + visible_line(self._text[-room:], room), no_wrap=True, overflow="crop"))

    def close(self) -> None:
        """Clear the line."""
        if self._live is not None:
            self._live.stop()
            self._live = None


class ProgressDisplay:
    """Progress of a run with its rate and the time left; a bar on a terminal, now and then a line elsewhere.

    Args:
        run_id: named in plain lines.
        display: auto, full, plain or none.
    """

    def __init__(self, run_id: str, display: str) -> None:
        self._run_id = run_id
        self._quiet = display == "none"
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        """Drawn from `begin` on; usage may be known before."""
        if not self._quiet and is_live(display):
            self._bar = _progress_bar()
        self._total: int | None = None
        self._done = self._new = 0
        self._went_on: Counter[int] = Counter()
        self._cost = ""
        self._calls = 0
        self._noted: set[str] = set()
        self._started = self._said = time.monotonic()

    def begin(self, total: int | None, stored: int) -> None:
        """See `ProgressListener`."""
        self._total, self._done = total, stored
        self._started = self._said = time.monotonic()
        if self._bar is not None:
            self._task = self._bar.add_task(
                f"run {self._run_id}", total=total, completed=stored, rate="", cost=self._cost
            )
            self._bar.start()
        elif not self._quiet and stored:
            of_all = "" if total is None else f"{stored:,} of "
            said = (
                f"run {self._run_id}: {of_all}{pluralize(stored if total is None else total, 'debate')} judged before"
            )
            note(said, "progress", run=self._run_id, done=stored, total=total)

    def total_known(self, total: int) -> None:
        """See `ProgressListener`."""
        self._total = total
        self._draw(total=total)

    def spent(self, usage: "RunUsage") -> None:
        """Set the usage of this session; shown with the next progress, or soon where no debate ends."""
        more = usage.calls > self._calls
        self._calls = usage.calls
        if usage.calls:  # debates may have ended since an early look that found none
            self._cost = f"{pluralize(usage.calls, 'call')}, {usage.cost_text}"
        now = time.monotonic()
        if self._bar is not None:
            self._draw(cost=self._beside())
        elif more and not self._quiet and now - self._said >= _CALLS_EVERY:
            self._say(now)

    def ended(self, finished: "Finished") -> None:
        """See `ProgressListener`."""
        if finished.problem is not None:
            self._note_problem(finished.debate_id, finished.problem)
            return
        now = time.monotonic()
        if not self._new:
            self._started = now
        self._done += 1
        self._new += 1
        if self._bar is not None:
            self._draw(completed=self._done, rate=self._rate(now)[1])
        elif not self._quiet and (now - self._said >= _PLAIN_EVERY or self._done == self._total):
            self._say(now)

    def goes_on(self, stage: int) -> None:
        """See `ProgressListener`."""
        self._went_on[stage] += 1
        now = time.monotonic()
        self._draw(cost=self._beside())
        if self._bar is None and not self._quiet and now - self._said >= _PLAIN_EVERY:
            self._say(now)

    def _beside(self) -> str:
        """Cases that went on to later stages, and the usage."""
        stages = [f"{count:,} went on to stage {stage}" for stage, count in sorted(self._went_on.items())]
        return ", ".join(filter(None, (*stages, self._cost)))

    def _rate(self, now: float) -> tuple[float, str]:
        """Debates a second, also as text. From the first one on: setting up actors says nothing about the debates."""
        elapsed, more = now - self._started, self._new - 1
        return (more / elapsed, rate(more, elapsed)) if more > 0 and elapsed >= _MEANINGFUL else (0.0, "")

    def _say(self, now: float) -> None:
        self._said = now
        speed, fast = self._rate(now)
        of_all = "" if self._total is None else f"{self._done:,} of "
        debates = pluralize(self._done if self._total is None else self._total, "debate")
        parts = [f"{of_all}{debates}", *filter(None, (fast, self._beside()))]
        if speed and self._total is not None and self._done < self._total:
            parts.append(f"about {duration((self._total - self._done) / speed)} left")
        note(
            f"run {self._run_id}: {', '.join(parts)}", "progress", run=self._run_id, done=self._done, total=self._total
        )

    def _draw(self, **changed: Any) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, **changed)

    def _note_problem(self, debate_id: str, problem: BaseException) -> None:
        """Note each problem once, as a full disk stops every debate; always note problems that a person must mend."""
        from jury_judge import Halted, Unsettled

        halted = isinstance(problem, Halted)
        about = problem.about if isinstance(problem, Halted | Unsettled) else str(problem)
        if about in self._noted or (self._quiet and not halted):
            return
        self._noted.add(about)
        said = visible_line(str(problem), 500)
        kind = type(problem).__name__
        note(
            f"jury: {said}" if halted else f"debate {debate_id} could not go on: {said}",
            "run_halted" if halted else "debate_unfinished",
            level=logging.WARNING,
            brief=error_text(problem) if halted else f"debate {debate_id} could not go on: {error_text(problem)}",
            run=self._run_id,
            debate=None if halted else debate_id,
            problem=kind,
        )

    def close(self) -> None:
        """Stop drawing."""
        if self._bar is not None:
            self._bar.stop()

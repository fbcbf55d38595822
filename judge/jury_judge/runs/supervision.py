"""What the process that executes a run writes down for other processes, and how one is started without a terminal.

Who it is, and what its actors do now: one file a run, locked while the process lives. Beside a SQLite store it is the
run's entry in the registry too (`jury_store.run_registry`). On PostgreSQL the registry's entries are locks in the
database, which every machine sees and which hold nothing but a name; there the file is in a folder of this user, and
only this machine has the figures. A detached process has a session of its own, and writes to a log file.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import KW_ONLY, asdict, dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, Self

from jury_actors.effects import Effects
from jury_actors.errors import ActorError
from jury_actors.load import RuntimeLoad
from jury_actors.mailbox import IncarnationLost
from jury_actors.notices import Say, say_nothing
from jury_actors.private_folder import private_folder
from jury_actors.runtime import Runtime
from jury_events.text import moment
from jury_judge.runs.cancelling import RunLog, cancel_recorded, requester, unfinished_debates
from jury_store.errors import StoreError
from jury_store.event_store import EventStore
from jury_store.locked_file import LockedFile, read_locked
from jury_store.opening import database_path, parse_store_url
from jury_store.run_registry import RunHolder, RunRegistry, holder_fields, open_registry, registry_folder, run_file


@dataclass(frozen=True, kw_only=True)
class SeatFigures:
    """One seat (None: the final judge): steps without a result, messages that wait, calls in flight by provider.

    `waiting` calls wait for a permit. Both are None where the seat's jurors do not answer now.
    """

    juror_id: str | None
    steps: int
    queued: int
    calling: dict[str, int] | None
    waiting: dict[str, int] | None


@dataclass(frozen=True, kw_only=True)
class ProcessFigures:
    """What the process that executes the run did at `at`, from its memory.

    `debates` are in flight, `appends` wait to be stored.
    """

    at: str
    debates: int
    appends: int
    seats: tuple[SeatFigures, ...]

    @classmethod
    def of(cls, load: RuntimeLoad, at: int) -> Self:
        """The figures of what the actors do at `at`, in µs since 1970-01-01 UTC."""
        seats = (
            SeatFigures(
                juror_id=seat.juror_id,
                steps=seat.steps,
                queued=seat.queued,
                calling=None if seat.calls is None else _by_provider((one.provider, one.calling) for one in seat.calls),
                waiting=None if seat.calls is None else _by_provider((one.provider, one.waiting) for one in seat.calls),
            )
            for seat in load.seats
        )
        return cls(at=moment(at), debates=load.debates, appends=load.appends, seats=tuple(seats))

    @property
    def calling(self) -> int:
        """Calls in flight."""
        return sum(sum((seat.calling or {}).values()) for seat in self.seats)

    @property
    def waiting(self) -> int:
        """Calls that wait for a permit."""
        return sum(sum((seat.waiting or {}).values()) for seat in self.seats)


class RunStatus(NamedTuple):
    """What a file says: since when the process executes the run, in µs since 1970-01-01 UTC; `figures` come later."""

    began: int
    figures: ProcessFigures | None


class StatusFile(NamedTuple):
    """The file of this process, until `release`; `fields` say who it is."""

    locked: LockedFile
    fields: dict[str, Any]

    @classmethod
    def take(cls, store_url: str, run_id: str, *, began: int, detached: bool) -> Self | None:
        """Write the file; None where it cannot be written, or another process has it: the run does not need it.

        Args:
            began: when this process began to execute it, in µs since 1970-01-01 UTC.
            detached: it belongs to no terminal.
        """
        fields = {**holder_fields(since=moment(began), detached=detached), "began": began}
        with suppress(OSError, ActorError):
            locked = LockedFile.take(run_file(status_folder(store_url), run_id), json.dumps(fields).encode())
            return None if locked is None else cls(locked, fields)
        return None

    def write(self, figures: ProcessFigures) -> None:
        """Replace the figures.

        Raises:
            OSError: it cannot be written.
        """
        self.locked.write(json.dumps({**self.fields, **asdict(figures)}).encode())

    def release(self) -> None:
        """Delete the file."""
        self.locked.release()


def read_status(store_url: str, run_id: str) -> RunStatus | None:
    """What the process that executes a run wrote down; None where there is none on this machine."""
    with suppress(ActorError, ValueError, KeyError, TypeError):  # no folder, or what a later release writes
        found = json.loads(read_locked(run_file(status_folder(store_url), run_id)) or b"")
        return RunStatus(found["began"], _figures(found) if "at" in found else None)
    return None


def status_folder(store_url: str) -> Path:
    """The folder of the files of runs; for PostgreSQL one of this user, so that processes of this machine find it."""
    place = _place(store_url)
    return place if place.is_absolute() else private_folder() / place


def status_place(store_url: str, run_id: str) -> Path:
    """The file of a run, relative to the folder of a user on any machine, unless it is beside the store."""
    return run_file(_place(store_url), run_id)


def _place(store_url: str) -> Path:
    parsed = parse_store_url(store_url)
    if parsed.get_backend_name() == "sqlite":
        return registry_folder(database_path(parsed))
    place = f"{parsed.host}\0{parsed.port}\0{parsed.database}\0{sorted(parsed.query.items())}"
    return Path(f"runs-{sha256(place.encode()).hexdigest()[:16]}")


def _figures(found: dict[str, Any]) -> ProcessFigures:
    seats = tuple(SeatFigures(**seat) for seat in found["seats"])
    return ProcessFigures(at=found["at"], debates=found["debates"], appends=found["appends"], seats=seats)


def _by_provider(calls: Iterable[tuple[str, int]]) -> dict[str, int]:
    counted: Counter[str] = Counter()
    for provider, number in calls:
        counted[provider] += number
    return {provider: number for provider, number in sorted(counted.items()) if number}


_EVERY = 1.0
"""Seconds between two looks."""

_AWAY = (StoreError, ActorError, IncarnationLost, TimeoutError, OSError)
"""A store or an actor that is away for a moment."""

_ANSWERS_WITHIN = 5.0
"""Seconds that the actors have to say what they do."""


@dataclass
class RunSupervision:
    """One session of a run, as others see it.

    `cancelled_by` is set once a person cancelled the run. What counts is its stream; a request beside it is taken where
    who asks cannot write to the store, and is recorded here.

    Attributes:
        detached: this process belongs to no terminal.
        reopens: how many cancellations the person knew who asked for this session: from these the run is reopened.
        listed: the run has a stream already. Then no request is beside it on PostgreSQL, where any process may write,
            and many runs at once need no connection each.
        every: seconds between two looks.
        say: takes a line for the user when the run is cancelled.
    """

    store_url: str
    run_id: str
    _: KW_ONLY
    detached: bool = False
    reopens: int = 0
    listed: bool = False
    every: float = _EVERY
    say: Say = say_nothing
    cancelled_by: str | None = None

    @asynccontextmanager
    async def around(self, runtime: Runtime, store: EventStore, stopping: asyncio.Event) -> AsyncIterator[None]:
        """Watch over a run; if it is cancelled, what did not end in the context is cancelled on leaving it.

        Args:
            stopping: set once the run is cancelled: no new debate begins.
        """
        take = partial(StatusFile.take, began=Effects().clock(), detached=self.detached)
        taking = asyncio.create_task(asyncio.to_thread(take, self.store_url, self.run_id))
        try:
            file = await asyncio.shield(taking)
            log, registry = RunLog(store, self.run_id), open_registry(self.store_url)
            with suppress(*_AWAY):
                await self._hear(log, runtime, stopping, registry)
            task = asyncio.create_task(self._look_and_say(log, runtime, stopping, registry, file))
            try:
                yield
                await _ended(task)
                if self.cancelled_by is not None:
                    # The thread of a last look may still read into the other.
                    await RunLog(store, self.run_id).cancel(runtime.clerk.record, self.cancelled_by)
                    left = await asyncio.to_thread(unfinished_debates, store, self.run_id)
                    await cancel_recorded(runtime.clerk, left, self.cancelled_by)
            finally:
                await _ended(task)
                registry.close()
        finally:
            if taking.done():
                _release(taking)
            else:  # the thread cannot be cancelled: the file that it still takes must be released
                taking.add_done_callback(_release)

    async def _look_and_say(
        self, log: RunLog, runtime: Runtime, stopping: asyncio.Event, registry: RunRegistry, file: StatusFile | None
    ) -> None:
        while True:
            await asyncio.sleep(self.every)
            with suppress(*_AWAY):
                await self._hear(log, runtime, stopping, registry)
                if file is not None:
                    async with asyncio.timeout(_ANSWERS_WITHIN):
                        load = await runtime.coordinators.load(self.run_id)
                    file.write(ProcessFigures.of(load, Effects().clock()))

    async def _hear(self, log: RunLog, runtime: Runtime, stopping: asyncio.Event, registry: RunRegistry) -> None:
        if self.cancelled_by is None:
            facts = await asyncio.to_thread(log.look)
            by = None if facts is None else facts.cancelled_by
            if facts is not None and by is not None and facts.requests <= self.reopens:
                # The person knew of that.
                await log.reopen(runtime.clerk.record, who := requester())
                self.say(f"run {self.run_id} was cancelled by {by}; {who} goes on with it")
                by = None
            if by is None and (not self.listed or parse_store_url(self.store_url).get_backend_name() == "sqlite"):
                by = await asyncio.to_thread(registry.cancelled_by, self.run_id)
            if by is None:
                return
            self.cancelled_by = by
            stopping.set()
            self.say(f"run {self.run_id} is cancelled by {by}; answers to calls in flight are recorded")
        # At every look: a debate may have been submitted meanwhile.
        await runtime.coordinators.cancel(self.run_id, self.cancelled_by)
        await log.cancel(runtime.clerk.record, self.cancelled_by)


def _release(taking: "asyncio.Task[StatusFile | None]") -> None:
    if not taking.cancelled() and taking.exception() is None and (file := taking.result()) is not None:
        file.release()


async def _ended(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


_LOOK_EVERY = 0.05
_MOST_LOGGED = 64 * 1024
"""Bytes of a log that are read back."""

RESUME = ("resume", "--handed")
"""The command of such a process, before the run: it reads the settings from its standard input."""

_ENTRY = "from jury_cli.entry import main; main()"


class EndedEarly(NamedTuple):
    """A process that ended before it executed the run: its exit code, and the end of what it wrote."""

    code: int
    output: str


def detached_holder(url: str, run_id: str) -> RunHolder | None:
    """The detached process that executes a run; None where there is none."""
    with closing(open_registry(url)) as registry:
        holder = registry.holders([run_id]).get(run_id)
    return holder if holder is not None and holder.detached else None


def start_detached(message: bytes, url: str, run_id: str) -> tuple[int, EndedEarly | None]:
    """Have a process of this machine judge a run that is listed; returns once it does, or has ended.

    Args:
        message: see `jury_judge.runs.resumed_run`.
        run_id: the run, which names the log; that is appended to.

    Returns:
        The id of the process, and how it ended; None: it executes the run.

    Raises:
        OSError: the log cannot be written.
    """
    log = log_file(url, run_id)
    log.parent.mkdir(mode=0o700, exist_ok=True)
    with log.open("ab") as output:
        logged = log.stat().st_size
        process = subprocess.Popen(  # noqa: S603  (the command itself)
            [sys.executable, "-c", _ENTRY, *RESUME, run_id],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,  # results are in the store
            stderr=output,
            start_new_session=True,
        )
    try:
        assert process.stdin is not None
        with suppress(BrokenPipeError), process.stdin as stdin:
            stdin.write(message)
        while (code := process.poll()) is None:
            if read_status(url, run_id) is not None:
                return process.pid, None
            time.sleep(_LOOK_EVERY)
    except KeyboardInterrupt:
        process.terminate()
        raise
    with log.open("rb") as written:
        written.seek(max(logged, log.stat().st_size - _MOST_LOGGED))
        return process.pid, EndedEarly(code, written.read().decode("utf-8", "replace"))


def start_on_cluster(message: Callable[[str], bytes], url: str, run_id: str) -> EndedEarly | None:
    """The same in a process of the cluster that this one joined; one with a SQLite store stays on this node.

    Args:
        message: see `jury_judge.runs.resumed_run`; made from the address of the cluster.
    """
    from jury_actors.ray_detached import DetachedRun

    there = DetachedRun(run_id, here=url.startswith("sqlite"))
    there.start((*RESUME, run_id), message(there.address), str(status_place(url, run_id)))
    while not (state := there.state()).running:
        if state.code is not None:
            return EndedEarly(state.code, state.output)
        time.sleep(_LOOK_EVERY)
    return None


def log_file(url: str, run_id: str) -> Path:
    """The log of a detached run: beside a SQLite store, else in a folder of this user."""
    return status_folder(url) / f"{run_id}.log"

"""What `demo`, `run` and `fork` share: the store made ready, the court set up, and debates held in it."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    ExitStack,
    aclosing,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from jury_actors.effects import Effects
from jury_actors.errors import ClusterLost, Halted
from jury_actors.messages import Chunk, Finished
from jury_actors.providers.catalogue import warnings_of
from jury_actors.providers.endpoints import Endpoints
from jury_actors.providers.recipients import judge_on_a_seat, recipients
from jury_actors.providers.registry import SIMULATED, check_models, keys_sent
from jury_actors.runtime import Runtime, RuntimeConfig, in_process_runtime
from jury_judge.allowance import Allowance
from jury_judge.cli.interrupts import run_until_interrupted
from jury_judge.cli.terminal import note
from jury_judge.panels.files import LoadedPanel
from jury_judge.runs import SURVEY_SECONDS, Line, Progress, Run, Survey, carry_out, survey
from jury_judge.spending import Spending, SpendingWatch
from jury_migrations.upgrading import upgrade
from jury_store.errors import StoreError, StoreLocked, StoreMissing
from jury_store.event_store import EventStore
from jury_store.memory import MemoryEventStore
from jury_store.opening import open_store
from jury_store.run_lock import RunLock

if TYPE_CHECKING:
    from jury_judge.sealing import Sealing

_SPENDING_SECONDS = 5.0
"""How often it is read what a run has spent."""

_LOCK_SECONDS = 20
"""How long another writer of a SQLite store, or another holder of a run, is waited for."""

Court = Callable[[], AbstractAsyncContextManager[Runtime]]
"""Sets up the actors."""


class Held(NamedTuple):
    """How a run ended.

    `total` cases it has, None where they were not all read; `before` and `now` are debates that were over before and
    that ended now, in so many `seconds`. `spent` is what was spent now, `spent_before` before (None: not known).
    `short` says what is left where the budget did not cover it all.
    """

    interrupted: bool
    problems: list[Finished]
    total: int | None
    before: int = 0
    now: int = 0
    seconds: float = 0.0
    spent: Spending | None = None
    spent_before: Spending | None = None
    short: str | None = None


def seal_with(key_file: Path | None, last_file: Path | None, every: float, store: EventStore) -> "Sealing | None":
    """The sealing of a run over the log in `store`, every so many seconds; None without a key.

    Raises:
        SealError: the key cannot be read, or nothing can be kept beside it.
    """
    if key_file is None:
        return None
    from jury_judge.cli.seal_files import signer
    from jury_judge.sealing import Sealing
    from jury_store.seals.sealer import Sealer

    key, last = signer(key_file, last_file, sealed=lambda: store.latest_seal() is not None)
    return Sealing(Sealer(store, key, Effects().clock, last), every, note)


def warn_of_models(loaded: LoadedPanel, *, on_cluster: bool = False) -> None:
    """Say who may receive the cases, which keys the panel sends where, and what is to be known of its models.

    `on_cluster`: the calls are made on other machines, whose environment names base URLs.
    """
    panel = loaded.panel
    if not all(model.startswith(f"{SIMULATED}/") for model in panel.models):
        for line in recipients(panel, loaded.endpoints, None if on_cluster else os.environ):
            note(f"jury: {line}")
    for line in keys_sent(panel, loaded.endpoints, os.environ):
        note(f"jury: {line}")
    for warning in (*warnings_of(panel.models, datetime.now(UTC).date()), *filter(None, [judge_on_a_seat(panel)])):
        note(f"jury: warning: {warning}")


def open_surveyed(
    run: Run,
    store_url: str,
    endpoints: Endpoints,
    environ: Mapping[str, str] | None,
    *,
    seconds: float | None = SURVEY_SECONDS,
) -> tuple[EventStore, Survey]:
    """The store, open for reading, and the run compared with it.

    Where there is no store yet, it is created once every case could be read: a mistake leaves no empty one behind. Keys
    are looked for in `environ` where a debate is left to be held (None: they are elsewhere). `seconds` as in `survey`.
    """
    panel = run.resolved.panel
    check_models(panel, endpoints)
    try:
        store: EventStore = open_store(store_url, write=False)
    except StoreMissing:
        surveyed = survey(run, MemoryEventStore(), seconds=seconds)
        check_models(panel, endpoints, environ)
        upgrade(store_url)
        return open_store(store_url, write=False), surveyed
    try:
        surveyed = survey(run, store, seconds=seconds)
        check_models(panel, endpoints, environ if surveyed.left else None)
    except BaseException:
        store.close()
        raise
    return store, surveyed


def hold_run(
    run: Run,
    surveyed: Survey,
    store: EventStore,
    plan: RuntimeConfig,
    *,
    in_process: bool,
    ray_address: str | None,
    ray_open_cluster: bool,
    progress: Progress,
    take: Callable[[Line], None],
    beside: Callable[[], AbstractAsyncContextManager[object]] | None = None,
    goes_on: str | None = None,
    heard: Callable[[Chunk], None] | None = None,
    sealing: "Sealing | None" = None,
    spent: Callable[[Spending], None] | None = None,
) -> Held:
    """Carry a run out; `take` gets each line, `beside` runs for as long as it lasts, `heard` watches judges write.

    `spent` is told now and then what was spent since the start.
    """
    started = time.monotonic()
    problems: list[Finished] = []
    today = datetime.now(UTC).date()
    allowance = Allowance(plan, run.resolved, store, today) if plan.ceiling.bounded else None
    counting = _Counting(progress, surveyed.total)

    async def give(lines: AsyncGenerator[Line, None]) -> None:
        # Closed before the loop is: where `take` fails, the actors must still be let go in order.
        async with aclosing(lines):
            async for line in lines:
                counting.given += 1
                take(line)

    watch = SpendingWatch(store, run.run_id)

    async def work(court: Court, stopping: asyncio.Event) -> None:
        lines = carry_out(
            run,
            surveyed,
            store,
            court,
            progress=counting,
            stopping=stopping,
            problems=problems,
            heard=heard,
            store_patience=plan.store_patience,
            allowance=allowance,
        )
        async with _told_spending(watch, spent) if surveyed.left and spent is not None else nullcontext():
            if beside is None:
                await give(lines)
                return
            async with beside():
                await give(lines)

    interrupted = in_court(
        plan,
        work,
        in_process=in_process,
        ray_address=ray_address,
        ray_open_cluster=ray_open_cluster,
        idle=not surveyed.left,
        again=goes_on or f"the same command with --run {run.run_id} goes on from here",
        sealing=sealing,
    )
    seconds = time.monotonic() - started
    now, before = _spent(watch, resumed=bool(surveyed.stored))
    budget = any(isinstance(one.problem, Halted) and one.problem.about == "budget" for one in problems)
    short = None
    if allowance is not None and (allowance.short or budget):
        short = allowance.rest(None if counting.total is None else counting.total - counting.given)
    return Held(interrupted, problems, counting.total, surveyed.ended, counting.ended_now, seconds, now, before, short)


def _spent(watch: SpendingWatch, *, resumed: bool) -> tuple[Spending | None, Spending | None]:
    """Now and before; where the store cannot be read any more, that is no reason to lose what was judged."""
    try:
        return watch.look(), watch.before() if resumed else Spending()
    except StoreError:
        return None, None


@asynccontextmanager
async def _told_spending(watch: SpendingWatch, told: Callable[[Spending], None]) -> AsyncIterator[None]:
    """Tell now and then what was spent, until this is left."""
    over = asyncio.Event()

    async def tell() -> None:
        while not over.is_set():
            with suppress(StoreError):
                told(await asyncio.to_thread(watch.look))
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), _SPENDING_SECONDS)

    telling = asyncio.create_task(tell())
    try:
        yield
    finally:
        # Waited for: the thread must not be in the watch any more when it is asked a last time.
        over.set()
        await telling


class _Counting:
    """Progress that remembers how many cases there are, and how many debates ended."""

    def __init__(self, progress: Progress, total: int | None) -> None:
        self._progress = progress
        self.total = total
        self.ended_now = 0
        self.given = 0

    def begin(self, total: int | None, stored: int) -> None:
        self._progress.begin(total, stored)

    def counted(self, total: int) -> None:
        self.total = total
        self._progress.counted(total)

    def ended(self, finished: Finished) -> None:
        self.ended_now += finished.problem is None
        self._progress.ended(finished)


def in_court(
    plan: RuntimeConfig,
    work: Callable[[Court, asyncio.Event], Coroutine[Any, Any, None]],
    *,
    in_process: bool,
    ray_address: str | None,
    ray_open_cluster: bool,
    again: str,
    idle: bool = False,
    sealing: "Sealing | None" = None,
) -> bool:
    """Let `work(court, stopping)` hold debates, in this process or on Ray; gives whether it was interrupted.

    Args:
        plan: of the court, which is set up where `work` enters it.
        work: see `run_until_interrupted` for `stopping`.
        in_process: without Ray.
        ray_address: the cluster to join instead of a local one.
        ray_open_cluster: join it even where it requires no token.
        again: what to do after an interruption.
        idle: nothing is left to hold, and Ray is not started.
        sealing: the log is sealed meanwhile, and at the end.
    """
    court = _court(plan._replace(shared_cluster=ray_address is not None), in_process=in_process)
    if sealing is not None:
        court = sealing.around(court)
    says = f"jury: finishing the debates that run; press Ctrl-C again to stop at once ({again})"
    with ExitStack() as around:
        if not in_process and not idle:
            from jury_judge.cli.ray_thread import ray_started

            around.enter_context(ray_started(ray_address, open_cluster=ray_open_cluster))
        try:
            _, interrupted = run_until_interrupted(lambda stopping: work(court, stopping), says=says)
        except ClusterLost as error:
            raise type(error)(error.reason, again) from error
    if interrupted:
        note(f"jury: stopped; {again}")
    if sealing is not None and sealing.sealed is not None:
        note(f"the log is sealed over {sealing.sealed} events; keep the note elsewhere: jury seal show")
    return interrupted


def _court(plan: RuntimeConfig, *, in_process: bool) -> Court:
    if in_process:
        return lambda: in_process_runtime(plan, lambda: open_for_writing(plan), say=_say)

    def on_ray() -> AbstractAsyncContextManager[Runtime]:
        from jury_actors.ray_runtime import ray_runtime

        return ray_runtime(plan, say=_say)

    return on_ray


def _say(text: str) -> None:
    note(f"jury: {text}")


@contextmanager
def held_alone(store_url: str, run_id: str) -> Iterator[None]:
    """Hold a run while the context lasts; another holder of it on PostgreSQL is waited for, and told of.

    Raises:
        StoreLocked: it did not end in time.
    """
    try:
        lock = RunLock.acquire(store_url, run_id, wait=0)
    except StoreLocked as error:
        note(f"jury: waiting up to {_LOCK_SECONDS} s: {error}")
        lock = RunLock.acquire(store_url, run_id, wait=_LOCK_SECONDS)
    try:
        yield
    finally:
        if lock is not None:
            lock.release()


def open_for_writing(plan: RuntimeConfig) -> EventStore:
    """The plan's store; another writer of it is waited for, and told of.

    Raises:
        StoreLocked: it did not end in time.
    """
    try:
        return open_store(plan.store_url, write=True, run=plan.run_id, wait=0)
    except StoreLocked as error:
        note(f"jury: waiting up to {_LOCK_SECONDS} s: {error}")
        return open_store(plan.store_url, write=True, run=plan.run_id, wait=_LOCK_SECONDS)

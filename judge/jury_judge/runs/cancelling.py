"""Requests to cancel a run, and what they do.

Any process may write a request, whichever executes the run. It carries no epoch, and where another process wrote
meanwhile the stream is read again.

The process that executes the run does it, if there is one; else the one that cancels. `debate_cancelled` is recorded
under a writer's epoch, so that nothing decided later can follow it; a late answer goes to `calls` only. What waits
stays listed, and is not judged until a person goes on with the run.
"""

import asyncio
import getpass
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from functools import partial
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from jury_actors.batches.batch_log import BatchLog
from jury_actors.clerk import Clerk, ClerkInterface
from jury_actors.effects import Effects
from jury_actors.notices import Say
from jury_events.batch_events import BatchCancelRequested
from jury_events.codec import encode
from jury_events.debate_events import DebateCancelled
from jury_events.errors import DebateNotFound
from jury_events.ids import debate_stream, run_stream
from jury_events.run_events import CancelRequested, RunReopened
from jury_events.run_facts import RunFacts, next_run_facts, run_facts
from jury_events.text import pluralize
from jury_events.value import Label
from jury_judge.errors import RunRefused, SettingsRefused
from jury_judge.store_access.open_batches import open_batches
from jury_judge.store_access.stores import RunLocks, open_writer
from jury_store.append_requests import AppendRequest
from jury_store.appends import first_refusal
from jury_store.errors import EventConflict, StoreError, StoreLocked, StoreMissing, WrongVersion
from jury_store.event_store import Append, AppendResults, EventStore
from jury_store.opening import database_path, open_store, parse_store_url
from jury_store.run_registry import MOST_BY, RunRegistry, open_registry

Record = Callable[[Sequence[Append]], Awaitable[AppendResults]]
"""Stores appends, as `ClerkInterface.record`: here, or by the process that writes to the store."""


class RunLog:
    """The stream of a run, of which each look reads what is new. `facts`: at the last look; None: it has no events."""

    def __init__(self, store: EventStore, run_id: str) -> None:
        self._store = store
        self._stream = run_stream(run_id)
        self.facts: RunFacts | None = None

    def look(self) -> RunFacts | None:
        """The facts now."""
        version = 0 if self.facts is None else self.facts.version
        head = self._store.heads([self._stream]).get(self._stream)
        if head is not None and head.version > version:
            for stored in self._store.read_stream(self._stream, after=version):
                self.facts = next_run_facts(self.facts, stored)
        return self.facts

    async def cancel(self, record: Record, by: str) -> None:
        """Record that a person cancels the run, unless it is cancelled, or was never listed. Raises as `look`."""
        while (facts := await asyncio.to_thread(self.look)) is not None and facts.cancelled_by is None:
            await self._record(record, facts, CancelRequested(number=facts.requests + 1, by=by))

    async def reopen(self, record: Record, by: str) -> None:
        """Record that a person goes on with the run, if it is cancelled. Raises as `look`."""
        while (facts := await asyncio.to_thread(self.look)) is not None and facts.cancelled_by is not None:
            await self._record(record, facts, RunReopened(number=facts.reopenings + 1, by=by))

    async def _record(self, record: Record, facts: RunFacts, event: CancelRequested | RunReopened) -> None:
        new = encode(event, recorded_at=Effects().clock())
        refusal = first_refusal(await record([Append(self._stream, (new,), facts.version)]))
        if refusal is not None and not isinstance(refusal, EventConflict | WrongVersion):
            raise refusal


def requester() -> str:
    """Who asks for a run, or goes on with it: the login name of this user."""
    try:
        return getpass.getuser()[:100] or _NOBODY
    except (KeyError, OSError):
        return _NOBODY


_NOBODY = "unknown"


def cancellations(store: EventStore, run_id: str) -> int:
    """How often the run was cancelled so far: who goes on with it now reopens it from these, and from no later one."""
    facts = run_facts(store.read_stream(run_stream(run_id)))
    return 0 if facts is None else facts.requests


def cancellations_at(url: str, run_id: str) -> int:
    """The same, of the store at `url`; 0 where there is none. Raises as `cancellations`."""
    try:
        store = open_store(url, write=False)
    except StoreMissing:
        return 0
    with closing(store):
        return cancellations(store, run_id)


_PAGE = 1000

_ANSWERED_WITHIN = 10.0
"""Seconds for which the process that writes to a SQLite store is asked to record a request."""


class CancelWaits(NamedTuple):
    """How a cancellation waits for the process that executes the run; all in seconds.

    `look_every`: between two looks at it. `say_every`: between two lines about what is left. `patience`: how long it is
    waited for after all debates are over.
    """

    look_every: float = 0.25
    say_every: float = 15.0
    patience: float = 60.0


DEFAULT_WAITS = CancelWaits()


class Cancelled(NamedTuple):
    """`debates` of the run were cancelled now; `ahead` were not begun, None where their number is unknown.

    `by`: who cancels the run, as its stream says; None: it was over, or it was never listed.
    """

    debates: int
    ahead: int | None
    by: str | None = None


def canceller(by: str | None) -> str:
    """The name under which a cancellation is recorded: `by`, else the login name of this user."""
    if by is None:
        try:
            by = getpass.getuser()
        except (KeyError, OSError):
            raise SettingsRefused("this user has no login name: say who cancels with {by} WHO") from None
        by = by.encode()[:MOST_BY].decode(errors="ignore")
    try:
        TypeAdapter(Label).validate_python(by)
    except ValidationError:
        raise SettingsRefused("{by}: a name in one line") from None
    if len(by.encode()) > MOST_BY:
        raise SettingsRefused(f"{{by}}: at most {MOST_BY} bytes, not {len(by.encode())}")
    return by


def unfinished_debates(store: EventStore, run_id: str) -> list[str]:
    """The ids of the debates of a run that are not over; without those that cannot be read, or are in quarantine."""
    found = []
    after = 0
    while rows := store.debates(run_id=run_id, unfinished=True, limit=_PAGE, after=after):
        found += [row.debate_id for row in rows if row.status != "unreadable"]
        after = rows[-1].position
    return found


async def cancel_recorded(clerk: ClerkInterface, debate_ids: Sequence[str], by: str) -> int:
    """Cancel recorded debates that no coordinator runs; returns how many were not over."""
    epoch = await clerk.next_epoch() if debate_ids else 0
    done = 0
    for start in range(0, len(debate_ids), _PAGE):
        known = await clerk.recall(debate_ids[start : start + _PAGE])
        appends = [
            Append(
                debate_stream(debate_id),
                (encode(DebateCancelled(by=by, reason=None), recorded_at=Effects().clock()),),
                expected_version=len(history.stored_events),
                epoch=epoch,
            )
            for debate_id, history in known.items()
            if not history.finished
        ]
        for result in await clerk.record(appends):
            if isinstance(result, StoreError):
                raise result
        done += len(appends)
    return done


async def cancel_run(
    store: EventStore, url: str, run_id: str, by: str, say: Say, *, waits: CancelWaits = DEFAULT_WAITS
) -> Cancelled:
    """Cancel a run; returns once all of its debates are over.

    A process that executes the run ends after them; one that does not is named, and not waited for longer. Batches that
    are open then are said, with the command that goes on with them.

    Args:
        say: takes lines for the user when another process has to do it.
    """
    before = store.run(run_id)
    with closing(open_registry(url)) as registry:
        if before is None and run_id not in registry.holders([run_id]):
            raise DebateNotFound(f"there is no run {run_id!r} in this store; `jury runs` lists the runs")
        with registry.asking_to_cancel(run_id, by):
            if parse_store_url(url).get_backend_name() != "sqlite" and await asyncio.to_thread(_is_open, store, run_id):
                # At once: a process that begins to execute the run sees it.
                writer = await asyncio.to_thread(open_writer, url, run=run_id, wait=0.0, say=say)
                with closing(Clerk(writer)) as clerk:
                    await RunLog(writer, run_id).cancel(clerk.record, by)
            is_free = await _until_free(registry, store, run_id, say, waits)
            left = await asyncio.to_thread(unfinished_debates, store, run_id)
            batches = await asyncio.to_thread(open_batches, store, run_id)
            still_open = await asyncio.to_thread(_is_open, store, run_id)
            if is_free and (left or still_open or any(one.cancel_requested is None for one in batches)):
                try:
                    await _cancel_here(url, run_id, left, by, say)
                except StoreLocked as locked:
                    # Debates that wait need no more; those that began are ended by a process that may write.
                    if left:
                        raise
                    await RunLog(store, run_id).cancel(partial(_by_writer, url, locked), by)
    if batches:
        say(
            f"{pluralize(sum(one.prepared.items for one in batches), 'call')} may be answered still in "
            f"{pluralize(len(batches), 'batch', 'batches')}, and are billed if they are: jury run … --run {run_id} "
            "--batch --once, with the keys of their providers, ends them and records what was answered"
        )
    after = await asyncio.to_thread(store.run, run_id)
    if after is None:
        return Cancelled(0, None)
    ahead = (after.waiting or None) if after.total is None else after.total - after.debates
    return Cancelled(after.cancelled - (0 if before is None else before.cancelled), ahead, after.cancelled_by)


def _is_open(store: EventStore, run_id: str) -> bool:
    """Whether a run was listed, is not cancelled, and something of it is left."""
    facts, row = RunLog(store, run_id).look(), store.run(run_id)
    if facts is None or row is None or facts.cancelled_by is not None:
        return False
    unfinished = store.debates(run_id=run_id, unfinished=True, limit=1)
    return bool(not facts.complete or row.waiting or unfinished)


async def _until_free(registry: RunRegistry, store: EventStore, run_id: str, say: Say, waits: CancelWaits) -> bool:
    now = time.monotonic
    over_since: float | None = None
    said_at: float | None = None
    while (holder := (await asyncio.to_thread(registry.holders, [run_id])).get(run_id)) is not None:
        if said_at is None:
            said_at = now()
            say(
                f"process {holder.process} executes run {run_id}: it was asked to cancel it, and records the calls in "
                "flight first"
            )
        elif now() - said_at >= waits.say_every:
            said_at = now()
            left = len(await asyncio.to_thread(unfinished_debates, store, run_id))
            over_since = None if left else over_since or now()
            rest = f"{pluralize(left, 'debate')} of run {run_id} not over yet" if left else "its debates are over"
            say(f"process {holder.process} has not ended yet; {rest}")
        if over_since is not None and now() - over_since >= waits.patience:
            say(
                f"process {holder.process} does not end, though all debates of run {run_id} are over: nothing is lost "
                "by ending it"
            )
            return False
        await asyncio.sleep(waits.look_every)
    return True


async def _cancel_here(url: str, run_id: str, debate_ids: Sequence[str], by: str, say: Say) -> None:
    with RunLocks(url, run_id, wait=0.0, say=say) as locks:
        try:
            await asyncio.to_thread(locks.lock)
        except StoreLocked as error:
            raise RunRefused(f"{error}; cancel it again") from error
        writer = await asyncio.to_thread(locks.writer)
        clerk = locks.enter_context(closing(Clerk(writer)))
        await RunLog(writer, run_id).cancel(clerk.record, by)
        await cancel_recorded(clerk, debate_ids, by)
        await _cancel_batches(writer, clerk, run_id, by)


async def _by_writer(url: str, locked: StoreLocked, appends: Sequence[Append]) -> AppendResults:
    """Have the process that writes to a SQLite store record them; raises `locked` where it does not answer."""
    from jury_judge.reviews.review_recorder import answered

    request = AppendRequest.send(database_path(parse_store_url(url)), appends)
    try:
        results = await answered(request, _ANSWERED_WITHIN)
    finally:
        request.release()
    if results is None:
        raise locked
    return results


async def _cancel_batches(store: EventStore, clerk: ClerkInterface, run_id: str, by: str) -> None:
    """Record that open batches are to be ended; a run with batches asks their providers, whose keys are not here."""
    log = BatchLog(store, clerk, Effects())
    for one in await log.of_run(run_id):
        if one.open and one.cancel_requested is None:
            await log.add(one, BatchCancelRequested(cause="person", by=by))

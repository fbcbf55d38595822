"""What the log says of a model's calls, whichever process made them: when one was answered last, how many failed since.

It is looked at where a call failed, so that jurors of other processes, and of earlier ones, count as those of this one.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import NamedTuple

from jury_actors.failing import has_failed
from jury_events.envelope import StoredEvent
from jury_events.outcome import ANSWERS
from jury_store.event_store import EventStore

MOST_UNANSWERED = 10
"""Calls without an answer before the run stops."""

_PAGE = 5_000
_KEPT = 1_000_000
"""Microseconds for which an answer of the log is taken again, since many steps ask; a step waits longer."""

_MARGIN = 15 * 60 * 1_000_000
"""Microseconds by which what earlier processes did is read further back than one step asks, for the others."""


class CalledModel(NamedTuple):
    """A model at a host; None: no host was reached, or it is not known."""

    model: str
    host: str | None


class LoggedCalls(NamedTuple):
    """The newest part of the log.

    `answered_at`: when its last answered call was made, in microseconds since 1970; None: there is none. `failed`: how
    many calls failed since, up to `MOST_UNANSWERED`.
    """

    answered_at: int | None = None
    failed: int = 0

    def answered_after(self, moment: int) -> bool:
        """Whether a call was answered that was made after this time."""
        return self.answered_at is not None and self.answered_at > moment


def logged_calls(store: EventStore, called: CalledModel, since: int, until: int | None = None) -> LoggedCalls:
    """What the log says of a model: read from its end, until a call is found that was made after `since` and answered.

    Else back to `since` (microseconds since 1970), and as far as failed calls are to be counted; what was recorded
    after `until` is passed over.
    """
    events = (event for event in _newest_first(store) if until is None or event.recorded_at <= until)
    return _logged(events, called, since)


def _newest_first(store: EventStore) -> Iterator[StoredEvent]:
    last = store.last_position()
    while last > 0:
        page = store.read_all(after=max(0, last - _PAGE), limit=_PAGE)
        yield from (event for event in reversed(page) if event.position <= last)
        last -= _PAGE


def _logged(events: Iterable[StoredEvent], called: CalledModel, since: int) -> LoggedCalls:
    answered_at, failed, counting = None, 0, True
    name = json.dumps(called.model, ensure_ascii=False).encode()
    for event in events:
        if event.recorded_at <= since and not (counting and failed < MOST_UNANSWERED):
            break
        if event.type != "exchange_recorded" or name not in event.body:
            continue
        try:
            body = json.loads(event.body)
            if (body["model"], body.get("host")) != called:
                continue
            if body["outcome"] not in ANSWERS:
                failed += counting and failed < MOST_UNANSWERED
                continue
            took_ms = body["latency_ms"] if body.get("via") is None else body["via"]["waited_ms"]
            made_at = event.recorded_at - int(took_ms * 1000)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            continue  # jury verify reports an event that cannot be read
        counting, answered_at = False, max(made_at, made_at if answered_at is None else answered_at)
        if answered_at > since:
            break
    return LoggedCalls(answered_at, failed)


class CallLog:
    """The log as jurors ask it.

    Args:
        look: reads it, as `logged_calls`.
        clock: microseconds since 1970; now, this process begins.
    """

    def __init__(
        self, look: Callable[[CalledModel, int, int | None], Awaitable[LoggedCalls]], clock: Callable[[], int]
    ) -> None:
        self._look = look
        self._clock = clock
        self._began = clock()
        self._looked: dict[tuple[CalledModel, bool], tuple[int, int, asyncio.Future[LoggedCalls]]] = {}

    async def of(self, called: CalledModel, since: int, *, earlier: bool = False) -> LoggedCalls:
        """See `logged_calls`; `earlier`: what was recorded before this process began."""
        now = self._clock()
        at, reached, looked = self._looked.get((called, earlier), (0, 0, None))
        if looked is None or has_failed(looked) or reached > since or (now - at > _KEPT and not earlier):
            reached = max(0, since - _MARGIN) if earlier else since
            looked = asyncio.ensure_future(self._look(called, reached, self._began if earlier else None))
            self._looked[called, earlier] = now, reached, looked
        return await asyncio.shield(looked)

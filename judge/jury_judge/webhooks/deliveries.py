"""Delivers messages about debates that wait for a person: each at least once, also after a restart."""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress

from jury_events.errors import SettingError
from jury_judge.errors import JournalFailed
from jury_judge.webhooks.journal import DeliveryJournal, PendingMessage
from jury_judge.webhooks.review_needs import review_needs
from jury_judge.webhooks.sender import Sender, SendOutcome
from jury_store.errors import StoreError
from jury_store.event_store import EventStore

MAX_PENDING = 1000
"""Messages that wait; while there are as many, the log is not read on."""

DELAYS = (5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600)
"""Seconds before the second attempt and those that follow, as Standard Webhooks proposes; then it is given up."""

_POLL = 1.0
_AT_ONCE = 1000
_SECOND = 1_000_000
_AGAIN = 5.0
"""Seconds until the next step after one that failed."""

_log = logging.getLogger(__name__)


class ReviewDeliveries:
    """Follows the log and sends messages. Not for several threads.

    Args:
        store: open for reading.
        journal: the record of deliveries.
        sender: sends a message once.
        clock: microseconds since 1970-01-01 UTC.

    Raises:
        SettingError: the journal has read further than the log goes: it belongs to another store.
    """

    def __init__(
        self,
        store: EventStore,
        journal: DeliveryJournal,
        sender: Sender,
        *,
        clock: Callable[[], int] = lambda: time.time_ns() // 1000,
    ) -> None:
        if journal.read_until > store.last_position():
            raise SettingError("the journal of deliveries is of another store; name another file with --deliveries")
        self._store, self._journal, self._sender, self._clock = store, journal, sender, clock

    def step(self) -> float:
        """Read the log on, and make one attempt where one is due. Returns the seconds until the next step.

        Raises:
            StoreError: the log cannot be read now; a later step continues.
            JournalFailed: the journal cannot be written now; a later step continues.
        """
        more = self._read()
        due = min(self._journal.pending.values(), key=_turn, default=None)
        if due is None:
            return 0.0 if more else _POLL
        now = self._clock()
        if due.due > now:
            return min(_POLL, (due.due - now) / _SECOND)
        self._attempt(due, now)
        return 0.0

    def _read(self) -> bool:
        """Whether there may be more to read."""
        if len(self._journal.pending) >= MAX_PENDING:
            return False
        events = self._store.read_all(self._journal.read_until, _AT_ONCE)
        if events:
            self._journal.queue(list(review_needs(self._store, events)), events[-1].position)
        return len(events) == _AT_ONCE

    def _attempt(self, message: PendingMessage, now: int) -> None:
        need = message.need
        outcome = self._sender.send(need.message_id, now // _SECOND, need.body.encode())
        following = None
        if not outcome.accepted:
            left = message.attempts < len(DELAYS)
            following = self._clock() + DELAYS[message.attempts] * _SECOND if left else None
            _log.warning("%s", _said(need.message_id, outcome, message.attempts + 1, following is None))
        self._journal.attempted(need.message_id, outcome, now, following)


async def deliver(deliveries: ReviewDeliveries, stopping: asyncio.Event, *, again: float = _AGAIN) -> None:
    """Take steps until `stopping` is set; the attempt under way is waited for.

    A step that fails is followed by another one. Of failures in a row with the same message the first is logged.

    Args:
        deliveries: used by no one else.
        stopping: ends it.
        again: seconds until the next step after one that failed.
    """
    failure: str | None = None
    while not stopping.is_set():
        try:
            wait = await asyncio.to_thread(deliveries.step)
            failure = None
        except Exception as error:  # noqa: BLE001  (a defect must neither end the deliveries nor stay unseen)
            said = f"{type(error).__name__}: {error}"
            if said != failure:
                if isinstance(error, StoreError | JournalFailed):
                    _log.warning("webhook: %s", error)
                else:
                    _log.error("webhook: a step failed", exc_info=error)
            failure, wait = said, again
        if wait:
            with suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), wait)


def _turn(message: PendingMessage) -> tuple[int, int]:
    return message.due, message.need.position


def _said(message_id: str, outcome: SendOutcome, attempts: int, given_up: bool) -> str:
    why = outcome.problem or f"status {outcome.status}"
    return f"webhook message {message_id}: attempt {attempts}: {why}{'; given up' if given_up else ''}"

"""Delivers messages about debates that wait for a person: each at least once, also after a restart.

The journal is a file of JSON lines, appended and flushed to disk, never rewritten. `{"read": N}`: the log was read up
to position N. `{"queued": …}`: a message. `{"attempt": …}`: how an attempt ended, `next` being the time of the next one
in microseconds since 1970-01-01 UTC; null: there is none.
"""

import asyncio
import fcntl
import json
import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from jury_events.regular_files import open_regular, read_failure
from jury_judge.errors import JournalFailed, SettingsRefused, escaped
from jury_judge.webhooks.review_needs import ReviewNeed, review_needs
from jury_judge.webhooks.sender import SendOutcome
from jury_store.errors import StoreError
from jury_store.event_store import EventStore

Send = Callable[[str, int, bytes], SendOutcome]
"""Makes one attempt: the id of a message, seconds since 1970-01-01 UTC, the body."""


class PendingMessage(NamedTuple):
    """A message that was not accepted yet. `due`: when it is tried next, in microseconds."""

    need: ReviewNeed
    attempts: int = 0
    due: int = 0


class DeliveryJournal:
    """The journal of one webhook, open for appending; one process has it at a time.

    Args:
        path: of the file, which is created where it is missing.
        start: position after which the log is read where the file is new.
    """

    def __init__(self, path: Path, start: int) -> None:
        self._path = path
        self.pending: dict[str, PendingMessage] = {}
        self.read_until = start
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise SettingsRefused(
                f"{escaped(f'{path}: {read_failure(error)}')}; name another file with {{deliveries_file}}", usage=False
            ) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise SettingsRefused(
                f"{escaped(str(path))}: another server writes its deliveries there; give this one {{deliveries_file}} "
                "FILE",
                usage=False,
            ) from None
        try:
            self._replay()
        except BaseException:
            self.close()
            raise

    def queue(self, needs: list[ReviewNeed], read_until: int) -> None:
        """Record messages, and how far the log was read; after `JournalFailed` nothing has changed."""
        fresh = [one for one in needs if one.message_id not in self.pending]
        self._append(*({"queued": one._asdict()} for one in fresh), {"read": read_until})
        for one in fresh:
            self.pending[one.message_id] = PendingMessage(one)
        self.read_until = read_until

    def attempted(self, message_id: str, outcome: SendOutcome, at: int, following: int | None) -> None:
        """Record how an attempt ended. `following`: when the next one is; None: there is none.

        It counts in this process also after `JournalFailed`: the receiver gets nothing anew at every later step.
        """
        line = {"attempt": {"id": message_id, "at": at, **outcome._asdict(), "next": following}}
        self._apply(line)
        self._append(line)

    def close(self) -> None:
        """Let another process have it."""
        os.close(self._file)

    def _append(self, *lines: dict[str, Any]) -> None:
        content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
        before = os.fstat(self._file).st_size
        written = 0
        try:
            while written < len(content):
                written += os.write(self._file, content[written:])
            os.fsync(self._file)
        except OSError as error:
            with suppress(OSError):  # A part of a line would make the next line unreadable.
                os.ftruncate(self._file, before)
            raise JournalFailed(
                f"{self._path}: deliveries cannot be recorded there: {error.strerror}; mend that, no message is lost"
            ) from error

    def _replay(self) -> None:
        whole = 0
        with open_regular(self._path, follow=False) as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    # The process ended while it wrote: the line is as if it had never been begun.
                    os.ftruncate(self._file, whole)
                    break
                whole += len(line)
                try:
                    self._apply(json.loads(line))
                except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
                    raise SettingsRefused(
                        f"{escaped(str(self._path))}:{number}: not a line of a journal of deliveries; name another "
                        "file with {deliveries_file}",
                        usage=False,
                    ) from None
        for message_id, one in self.pending.items():
            # A restart is a reason to try again at once: what was wrong may have been put right.
            self.pending[message_id] = one._replace(due=0)
        if not whole:
            self._append({"read": self.read_until})

    def _apply(self, line: dict[str, Any]) -> None:
        if "read" in line:
            self.read_until = int(line["read"])
        elif "queued" in line:
            need = ReviewNeed(**line["queued"])
            self.pending[need.message_id] = PendingMessage(need)
        else:
            attempt = line["attempt"]
            before = self.pending.pop(attempt["id"], None)
            if before is not None and attempt["next"] is not None:
                self.pending[attempt["id"]] = PendingMessage(before.need, before.attempts + 1, int(attempt["next"]))


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
        send: as `WebhookSender.send`.
        clock: microseconds since 1970-01-01 UTC.
    """

    def __init__(
        self,
        store: EventStore,
        journal: DeliveryJournal,
        send: Send,
        *,
        clock: Callable[[], int] = lambda: time.time_ns() // 1000,
    ) -> None:
        if journal.read_until > store.last_position():
            raise SettingsRefused(
                "the journal of deliveries is of another store; name another file with {deliveries_file}", usage=False
            )
        self._store, self._journal, self._send, self._clock = store, journal, send, clock

    def step(self) -> float:
        """Read the log on, and make one attempt where one is due. Returns the seconds until the next step."""
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
        outcome = self._send(need.message_id, now // _SECOND, need.body.encode())
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

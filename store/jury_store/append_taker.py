"""The process that writes to a SQLite store appends what others ask for (see `append_requests`).

A thread of it looks ten times a second, so that it works whatever the process does otherwise: a run, a clerk on Ray, an
import. Each request is taken once. One that is not a regular file of an accepted owner is left where it is.
"""

import fcntl
import logging
import os
import stat
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from jury_events.codec import decode_review, decode_run
from jury_events.envelope import GENESIS, StoredEvent
from jury_events.errors import EventError, JuryError
from jury_events.ids import RUN_PREFIX
from jury_events.run_events import CancelRequested
from jury_store.append_requests import (
    MOST_BYTES,
    SUFFIX,
    encoded_failure,
    encoded_results,
    others_can_write,
    owners_of,
    requested_appends,
    requests_folder,
)
from jury_store.errors import InvalidAppend
from jury_store.event_store import Append, AppendResults

_EVERY = 0.1
"""Seconds between two looks."""

_AT_ONCE = 100
"""Requests that are taken in one look."""

_log = logging.getLogger(__name__)


class AppendTaker:
    """Takes requests in a thread from `start` to `stop`.

    Args:
        database: the SQLite file that this process writes.
        append: as `EventStore.append`.
    """

    def __init__(self, database: Path, append: Callable[[Sequence[Append]], AppendResults]) -> None:
        self._folder = requests_folder(database)
        self._owners = owners_of(database)
        self._append = append
        self._stopping = threading.Event()
        # A thread that is left alone, as by a process that ends without closing its store, does not keep it alive.
        self._thread = threading.Thread(target=self._work, name="requests to append", daemon=True)

    def start(self) -> None:
        """Take requests from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Take no more; returns when the one under way is answered. Twice is allowed."""
        self._stopping.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._stopping.wait(_EVERY):
            try:
                self.take()
            except Exception:  # noqa: BLE001  (as said below)
                # The writer's own work goes on; who asked learns that nothing took the request.
                _log.exception("a request to append could not be taken")

    def take(self) -> int:
        """Look once; returns how many requests were answered."""
        names = self._waiting()
        return sum(self._answered(self._folder / name) for name in names[:_AT_ONCE])

    def _waiting(self) -> list[str]:
        with suppress(OSError):
            if not others_can_write(self._folder, self._owners):
                with os.scandir(self._folder) as found:
                    return sorted(one.name for one in found if one.name.endswith(SUFFIX))
        return []

    def _answered(self, path: Path) -> bool:
        try:
            # A pipe does not block: it is open at both ends at once.
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            request = self._taken(path, descriptor)
            if request is None:
                return False
            os.pwrite(descriptor, self._done(request), len(request))
        finally:
            os.close(descriptor)
        return True

    def _taken(self, path: Path, descriptor: int) -> bytes | None:
        """The bytes of a request that nobody else can take or withdraw any more; None: it is none (yet)."""
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid not in self._owners:
            return None
        if _is_abandoned(descriptor):
            with suppress(OSError):
                path.unlink()
            return None
        content = os.pread(descriptor, MOST_BYTES + 1, 0)
        if not content.endswith(b"\n") and len(content) <= MOST_BYTES:
            return None  # being written
        try:
            path.unlink()
        except OSError:
            return None  # withdrawn meanwhile
        return content

    def _done(self, request: bytes) -> bytes:
        if len(request) > MOST_BYTES:
            return encoded_failure(f"a request has at most {MOST_BYTES:,} bytes")
        try:
            appends = requested_appends(request)
            for one in appends:
                _check(one)
            return encoded_results(self._append(appends))
        except (ValueError, JuryError) as error:
            return encoded_failure(str(error))


def _is_abandoned(descriptor: int) -> bool:
    """Whether the process that sent the request is gone: its lock is."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _check(append: Append) -> None:
    """Refuse what is not the next event of people's reviews of a debate, and no request to cancel a run.

    Raises:
        InvalidAppend: it is not.
    """
    (event,) = append.events
    version = (append.expected_version or 0) + 1
    stored = StoredEvent(
        0, append.stream, version, event.event_id, event.type, event.schema, event.recorded_at, event.body, GENESIS
    )
    try:
        made = decode_run(stored) if append.stream.startswith(RUN_PREFIX) else decode_review(stored)
    except EventError as error:
        raise InvalidAppend(f"a request to append is no review: {error}") from error
    if append.stream.startswith(RUN_PREFIX) and not isinstance(made, CancelRequested):
        raise InvalidAppend(f"a request to append to {append.stream} is no request to cancel it")
    reason = getattr(made, "reason", None)
    if [one.ref for one in event.parts] != ([] if reason is None else [reason]):
        raise InvalidAppend(f"a request to append to {append.stream} has other texts than its event names")

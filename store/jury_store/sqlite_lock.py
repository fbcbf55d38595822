"""One writing process for a SQLite store: a lock file beside it, locked by flock until the writer closes or dies.

Several processes that write or checkpoint one SQLite file can corrupt it (the WAL-reset bug, up to 3.51.2).
The kernel releases the lock when the process ends, so a leftover lock file has no effect.
"""

import fcntl
import json
import os
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from jury_store.errors import StoreLocked, StoreUnreachable

_POLL_SECONDS = 0.05


class LockHolder(NamedTuple):
    """The process that has a lock: its id, its run ("" for none), and the time of locking, ISO 8601."""

    pid: int
    run: str
    since: str


class SqliteLock:
    """Locked from `acquire` to `release`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    @classmethod
    def acquire(cls, database: Path, *, run: str, wait: float) -> "SqliteLock":
        """Lock a database file, waiting up to `wait` seconds for another writer to end.

        Raises:
            StoreLocked: another process has the lock; the message names process and run.
            StoreUnreachable: the lock file cannot be written.
        """
        path = lock_path(database)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreUnreachable(f"cannot lock {database}: {path.name}: {error.strerror}") from error
        until = time.monotonic() + wait
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= until:
                    message = _locked_message(database, descriptor)
                    os.close(descriptor)
                    raise StoreLocked(message) from None
                time.sleep(_POLL_SECONDS)
            except OSError as error:
                os.close(descriptor)
                raise StoreUnreachable(f"{database} cannot be locked: {error.strerror}; use a local disk") from error
            else:
                break
        holder = {"pid": os.getpid(), "run": run, "since": datetime.now(UTC).isoformat(timespec="seconds")}
        # Only informative: on a full disk the lock is valid without it.
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, json.dumps(holder).encode(), 0)
        return cls(descriptor)

    def release(self) -> None:
        """Unlock; twice is allowed. The file stays: after its removal two processes could lock two files."""
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None


def lock_path(database: Path) -> Path:
    """The lock file of a database file."""
    return database.with_name(database.name + ".lock")


def read_lock_holder(database: Path) -> LockHolder | None:
    """The running process that the lock file of a database names; does not touch the lock itself."""
    try:
        found = _parse(lock_path(database).read_bytes()[:4096])
        if found is not None:
            os.kill(found.pid, 0)
    except (ProcessLookupError, FileNotFoundError):
        return None
    except OSError:
        pass  # a process of another user
    return found


def _parse(content: bytes) -> LockHolder | None:
    try:
        holder: Any = json.loads(content)
        return LockHolder(int(holder["pid"]), str(holder["run"]), str(holder["since"]))
    except (ValueError, KeyError, TypeError):
        return None


def _locked_message(database: Path, descriptor: int) -> str:
    found = _parse(os.pread(descriptor, 4096, 0))
    if found is None:
        who = "an unnamed process"
    else:
        run = f", run {found.run}" if found.run else ""
        who = f"process {found.pid}{run}, since {found.since}"
    return (
        f"{database} is being written by {who}. A SQLite store has one writer: wait for it to end or stop it, "
        "or use PostgreSQL for several writers"
    )

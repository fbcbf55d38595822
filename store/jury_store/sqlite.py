"""A SQLite file: its engine, the check before it is opened, and the lock of its one writer.

When a process closes any descriptor of a file, the kernel drops all POSIX locks that it holds on that file, also those
of its SQLite connections. Another process may then delete or overwrite the write-ahead log under them
(https://www.sqlite.org/howtocorrupt.html, section 2.2). So only SQLite opens this file.

Several processes that write or checkpoint one SQLite file can corrupt it (the WAL-reset bug, up to 3.51.2).
The kernel releases the lock when the process ends, so a leftover lock file has no effect.
"""

import errno
import fcntl
import json
import os
import sqlite3
import stat
import time
from collections.abc import MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from sqlalchemy import Connection, Dialect, Engine, QueuePool, create_engine, event, make_url
from sqlalchemy.util import LRUCache

from jury_store.errors import StoreLocked, StoreUnreachable
from jury_store.event_rows import DriverCursor

_BUSY_SECONDS = 30
_MOST_STATEMENTS = 1000
_URL = make_url("sqlite+pysqlite://")
_WRITER_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "secure_delete=ON",
    "foreign_keys=ON",
    "recursive_triggers=ON",
    "trusted_schema=OFF",
    "cell_size_check=ON",
    "cache_size=-8192",  # KiB: with four times as many, 800 debates read and write as much
)
_READER_PRAGMAS = ("query_only=ON", "trusted_schema=OFF", "cell_size_check=ON")


def sqlite_engine(path: Path, *, write: bool) -> Engine:
    """An engine on a SQLite file, with one writing connection or a pool of read-only ones."""
    address = f"file:{quote(os.fspath(path))}?mode={'rw' if write else 'ro'}"
    if not write and not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists():
        # An archived store without a writer: SQLite may not create the files that readers and writers share.
        address += "&immutable=1"
    return engine_at(address, write=write)


def engine_at(address: str, *, write: bool) -> Engine:
    """The same on the database that a URI names."""

    def connect() -> Any:
        # Transactions are begun below: the driver's own mode begins none for reading.
        connection = sqlite3.connect(
            address, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            for pragma in _WRITER_PRAGMAS if write else _READER_PRAGMAS:
                connection.execute(f"PRAGMA {pragma}").close()
        except BaseException:
            connection.close()
            raise
        return connection

    dialect, statements = _compiled()
    pool = QueuePool(connect, pool_size=1 if write else 5, max_overflow=0 if write else 50, dialect=dialect)
    engine = Engine(pool, dialect, _URL, execution_options={"compiled_cache": statements})
    begin = "BEGIN IMMEDIATE" if write else "BEGIN"

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        DriverCursor(connection).execute(begin)

    return engine


@cache
def _compiled() -> tuple[Dialect, MutableMapping[Any, Any]]:
    """The dialect and the compiled statements, shared by all engines: compiling one takes longer than executing it."""
    engine = create_engine(_URL)
    engine.connect().close()  # the dialect takes notice of the driver
    return engine.dialect, LRUCache(_MOST_STATEMENTS)


def check_database_file(path: Path, *, write: bool) -> None:
    """Refuse what SQLite should not open: a folder, a pipe, a device, or a file without the permission.

    Raises:
        OSError: the file is missing or must not be opened; `strerror` says why.
    """
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
    if not os.access(path, os.R_OK | (os.W_OK if write else 0)):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))


def create_database_file(path: Path) -> None:
    """An empty file that only its owner can read, in a folder that exists; one that exists stays, if it can be written.

    Raises:
        OSError: it cannot be created or written; `strerror` says why.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "its folder does not exist", os.fspath(path))
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        check_database_file(path, write=True)


_POLL_SECONDS = 0.05


class LockHolder(NamedTuple):
    """The process that has a lock: its id, its run ("" for none), and the time of locking, ISO 8601."""

    pid: int
    run: str
    since: str


@dataclass
class SqliteLock:
    """Locked from `acquire` to `release`."""

    _descriptor: int | None

    @classmethod
    def acquire(cls, database: Path, *, run: str, wait: float) -> "SqliteLock":
        """Lock a database file, waiting up to `wait` seconds for another writer to end."""
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

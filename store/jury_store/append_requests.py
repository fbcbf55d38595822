"""Appends that other processes ask of the one writer of a SQLite file.

A request is a file in the folder `FILE.requests` beside the database, locked by the process that asks for as long as it
waits. The writer takes it by deleting its name, which succeeds once, appends what it says, and writes the results
behind the request into the same file, which both have open. So nothing has to be cleaned up after an answer, a request
whose process died is dropped, and one that was not taken can be withdrawn.

A request is what its process decided, under the version of the stream that it read: an append as every other. It is
accepted from the user of the writer or the owner of the database only, who may write to the file itself.

A thread of it looks ten times a second, so that it works whatever the process does otherwise: a run, a clerk on Ray, an
import. Each request is taken once. One that is not a regular file of an accepted owner is left where it is.
"""

import fcntl
import logging
import os
import stat
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jury_events.codec import decode_review, decode_run
from jury_events.envelope import END_OF_TIME, GENESIS, NewEvent, StoredEvent
from jury_events.errors import EventError, JuryError
from jury_events.ids import REVIEW_PREFIX, RUN_PREFIX
from jury_events.parts import SALT_BYTES, Part, part_digest
from jury_events.run_events import CancelRequested
from jury_store.errors import EventConflict, InvalidAppend, StoreError, StoreFailed, StoreUnreachable, WrongVersion
from jury_store.event_store import Append, Appended, AppendResults
from jury_store.locked_file import LockedFile

SUFFIX = ".request"
MOST_BYTES = 2 * 1024 * 1024
"""Of a request: the longest reason fits in base64."""
MOST_APPENDS = 500
"""Of a request."""

_REFUSALS: dict[str, type[StoreError]] = {one.__name__: one for one in (WrongVersion, EventConflict, InvalidAppend)}


class _StrictMessage(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _RequestedPart(_StrictMessage):
    salt: str
    content: str


class _RequestedEvent(_StrictMessage):
    event_id: Annotated[str, Field(max_length=200)]
    type: Annotated[str, Field(max_length=200)]
    schema_number: Annotated[int, Field(ge=1, lt=2**31)]
    recorded_at: Annotated[int, Field(ge=0, lt=END_OF_TIME)]
    body: str
    parts: Annotated[list[_RequestedPart], Field(max_length=1)]


class _RequestedAppend(_StrictMessage):
    stream: Annotated[str, Field(pattern=f"^({REVIEW_PREFIX}|{RUN_PREFIX})", max_length=500)]
    expected_version: Annotated[int, Field(ge=0, lt=2**31)]
    event: _RequestedEvent


class _AppendRequests(_StrictMessage):
    format: Literal[1]
    appends: Annotated[list[_RequestedAppend], Field(max_length=MOST_APPENDS)]


class _AppendOutcome(_StrictMessage):
    """`refused` is a name of `_REFUSALS`, with the error's text; None: the append is stored."""

    version: int
    repeated: int
    refused: str | None
    message: str


class _RequestAnswer(_StrictMessage):
    """`failed`: nothing was stored, and why; None: there is a result for each append."""

    results: list[_AppendOutcome]
    failed: str | None


def requests_folder(database: Path) -> Path:
    """The folder beside a SQLite file."""
    return database.with_name(database.name + ".requests")


def owners_of(database: Path) -> frozenset[int]:
    """The users whose requests are accepted: that of this process, and the owner of the file."""
    return frozenset({os.geteuid(), database.stat().st_uid})


def others_can_write(folder: Path, owners: Collection[int]) -> bool:
    """Whether users who are none of `owners` can put files into a folder; False where there is none.

    Another process removes the folder when it has released the last request in it.
    """
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return False
    return not stat.S_ISDIR(found.st_mode) or found.st_uid not in owners or bool(found.st_mode & 0o022)


class AppendRequest:
    """A request that this process sent; release it after use."""

    def __init__(self, file: LockedFile, appends: Sequence[Append], size: int) -> None:
        self._file = file
        self._appends = appends
        self._size = size

    @classmethod
    def send(cls, database: Path, appends: Sequence[Append]) -> "AppendRequest":
        """Ask the writer of a database to append.

        Args:
            appends: each of one event, to streams `review/{id}` or `run/{id}`, under an expected version.
        """
        content = _encoded(appends) if len(appends) <= MOST_APPENDS else b""
        if not 0 < len(content) <= MOST_BYTES:
            raise InvalidAppend(f"{len(appends)} appends of {len(content):,} bytes are too much for one request")
        folder = requests_folder(database)
        try:
            if others_can_write(folder, owners_of(database)):
                raise StoreUnreachable(f"{folder} can be written by other users: make it yours alone (chmod 700)")
            file = LockedFile.take(folder / f"{token_hex(16)}{SUFFIX}", content)
        except OSError as error:
            raise StoreUnreachable(f"{folder} cannot be written: {error.strerror}") from error
        if file is None:
            raise StoreUnreachable(f"{folder} cannot be written: a new file is locked by another process")
        return cls(file, appends, len(content))

    def answer(self) -> AppendResults | None:
        """The results, as of `EventStore.append`; None: there are none yet."""
        said = self._file.written_after(self._size)
        if not said.endswith(b"\n"):
            return None
        try:
            found = _RequestAnswer.model_validate_json(said)
        except ValidationError as error:
            raise StoreFailed("the writing process gave an answer that this version cannot read; try again") from error
        if found.failed is not None or len(found.results) != len(self._appends):
            raise StoreFailed(found.failed or "the writing process gave an incomplete answer; try again")
        return [_appended(append, one) for append, one in zip(self._appends, found.results, strict=True)]

    def withdraw(self) -> bool:
        """Take the request back; False where the writer has taken it already. Release it afterwards all the same."""
        return self._file.unlink()

    def release(self) -> None:
        """Close the file; a request that was not taken is withdrawn. Twice is allowed."""
        self._file.release()


def _encoded(appends: Sequence[Append]) -> bytes:
    made = _AppendRequests(format=1, appends=[_requested(one) for one in appends])
    return made.model_dump_json().encode() + b"\n"


def _requested(append: Append) -> _RequestedAppend:
    (event,) = append.events
    assert append.expected_version is not None
    return _RequestedAppend(
        stream=append.stream,
        expected_version=append.expected_version,
        event=_RequestedEvent(
            event_id=event.event_id,
            type=event.type,
            schema_number=event.schema,
            recorded_at=event.recorded_at,
            body=event.body.decode(),
            parts=[
                _RequestedPart(salt=b64encode(one.salt).decode(), content=b64encode(one.content).decode())
                for one in event.parts
            ],
        ),
    )


def requested_appends(content: bytes) -> list[Append]:
    """The appends of a request.

    Raises:
        ValueError: it is none.
    """
    return [
        Append(one.stream, (_event(one.event),), one.expected_version)
        for one in _AppendRequests.model_validate_json(content).appends
    ]


def _event(found: _RequestedEvent) -> NewEvent:
    return NewEvent(
        event_id=found.event_id,
        type=found.type,
        schema=found.schema_number,
        recorded_at=found.recorded_at,
        body=found.body.encode(),
        parts=tuple(_part(one) for one in found.parts),
    )


def _part(found: _RequestedPart) -> Part:
    salt, content = b64decode(found.salt, validate=True), b64decode(found.content, validate=True)
    if len(salt) != SALT_BYTES:
        raise ValueError(f"a salt has {SALT_BYTES} bytes, not {len(salt)}")
    return Part(part_digest(salt, content), salt, content)


def encoded_results(results: AppendResults) -> bytes:
    """The answer to a request whose appends were stored or refused."""
    return _line(_RequestAnswer(results=[_result(one) for one in results], failed=None))


def encoded_failure(message: str) -> bytes:
    """The answer to a request of which nothing was stored."""
    return _line(_RequestAnswer(results=[], failed=message))


def _line(answer: _RequestAnswer) -> bytes:
    return answer.model_dump_json().encode() + b"\n"


def _result(found: Appended | StoreError) -> _AppendOutcome:
    if isinstance(found, Appended):
        return _AppendOutcome(version=found.version, repeated=found.repeated, refused=None, message="")
    return _AppendOutcome(version=0, repeated=0, refused=type(found).__name__, message=str(found))


def _appended(append: Append, found: _AppendOutcome) -> Appended | StoreError:
    if found.refused is None:
        return Appended(append.stream, found.version, found.repeated)
    return _REFUSALS.get(found.refused, StoreError)(found.message)


_EVERY = 0.1
"""Seconds between two looks."""

_AT_ONCE = 100
"""Requests that are taken in one look."""

_log = logging.getLogger(__name__)


class AppendTaker:
    """Takes requests in a thread from `start` to `stop`.

    Args:
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
        paths: list[Path] = []
        with suppress(OSError):
            if not others_can_write(self._folder, self._owners):
                paths = sorted(self._folder.glob(f"*{SUFFIX}"))
        answered = 0
        for path in paths[:_AT_ONCE]:
            answered += self._answered(path)
        return answered

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
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _check(append: Append) -> None:
    """Refuse what is not the next event of people's reviews of a debate, and no request to cancel a run."""
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

"""What the process that executes a run writes down for other processes: who it is, and what its actors do now.

One file a run, locked while the process lives. Beside a SQLite store it is the run's entry in the registry too
(`jury_store.run_registry`). On PostgreSQL the registry's entries are locks in the database, which every machine sees
and which hold nothing but a name; there the file is in a folder of this user, and only this machine has the figures.
"""

import json
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, Self

from jury_actors.errors import ActorError
from jury_actors.load import RuntimeLoad
from jury_actors.private_folder import private_folder
from jury_events.text import moment
from jury_store.locked_file import LockedFile, read_locked
from jury_store.opening import database_path, parse_store_url
from jury_store.run_registry import holder_fields, registry_folder, run_file


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


class StatusFile:
    """The file of this process, until `release`."""

    def __init__(self, locked: LockedFile, fields: dict[str, Any]) -> None:
        self._locked = locked
        self._fields = fields

    @classmethod
    def take(cls, store_url: str, run_id: str, *, began: int, detached: bool) -> Self | None:
        """Write the file; None where it cannot be written, or another process has it: the run does not need it.

        Args:
            began: when this process began to execute it, in µs since 1970-01-01 UTC.
            detached: it belongs to no terminal.
        """
        fields = {**holder_fields(since=moment(began), detached=detached), "began": began}
        with suppress(OSError, ActorError):
            locked = LockedFile.take(_path(store_url, run_id), json.dumps(fields).encode())
            return None if locked is None else cls(locked, fields)
        return None

    def write(self, figures: ProcessFigures) -> None:
        """Replace the figures.

        Raises:
            OSError: it cannot be written.
        """
        self._locked.write(json.dumps({**self._fields, **asdict(figures)}).encode())

    def release(self) -> None:
        """Delete the file."""
        self._locked.release()


def read_status(store_url: str, run_id: str) -> RunStatus | None:
    """What the process that executes a run wrote down; None where there is none on this machine."""
    with suppress(ActorError, ValueError, KeyError, TypeError):  # no folder, or what a later release writes
        found = json.loads(read_locked(_path(store_url, run_id)) or b"")
        return RunStatus(found["began"], _figures(found) if "at" in found else None)
    return None


def status_folder(store_url: str) -> Path:
    """The folder of the files of runs; for PostgreSQL one of this user, so that processes of this machine find it."""
    return private_folder() / _place(store_url)


def status_place(store_url: str, run_id: str) -> Path:
    """The file of a run, relative to the folder of a user on any machine, unless it is beside the store."""
    return run_file(_place(store_url), run_id)


def _path(store_url: str, run_id: str) -> Path:
    return run_file(status_folder(store_url), run_id)


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

"""Errors of this component."""

from typing import Self

from jury_events.errors import Failure, JuryError


class StoreError(JuryError):
    """Reading from or writing to a store failed."""

    failure = Failure.UNAVAILABLE


class AppendRefused(StoreError):
    """An append was refused; nothing of it was stored, and the other requests of its group are unaffected."""


class WrongVersion(AppendRefused):
    """The stream is not at the version that the writer expected: read it again and decide again."""


class Fenced(AppendRefused):
    """A newer writer took over the debate; the older one must stop."""


class EventConflict(AppendRefused):
    """The log contains a different event with this id: two writers disagree about what happened."""


class InvalidAppend(AppendRefused):
    """The request cannot be stored, whatever the log contains."""


class StoreFailed(StoreError):
    """The database failed (disk full, connection lost): the whole group is stored, or nothing of it; send it again."""

    failure = Failure.STOPPED


class StoreDamaged(StoreError):
    """The database lacks a row or table that every store has, or contains what no program stored: it was altered.

    Its text names `jury verify --all`; what that command itself finds is `finding`.
    """

    failure = Failure.ALTERED

    def __init__(self, what: str, remedy: str = "restore a backup") -> None:
        super().__init__(what, remedy)
        self.finding = f"{what}; {remedy}"

    def __str__(self) -> str:
        what, remedy = self.args
        return f"{what}. Run jury verify --all; {remedy}"


class ReadOnlyStore(StoreError):
    """The store was opened for reading."""


class StoreClosed(StoreError):
    """The store, or the writer in front of it, was closed."""


class OpeningFailed(StoreError):
    """The store cannot be opened as it is."""


class UnsupportedStore(OpeningFailed):
    """The URL names a database that Jury Judge does not support."""


class StoreMissing(OpeningFailed):
    """There is no store at a place.

    Args:
        place: what contains none, as a clause.
        name: the store's URL without a password.
    """

    def __init__(self, place: str, name: str) -> None:
        from shlex import quote  # noqa: PLC0415  (stores are seldom missing)

        super().__init__(
            f"{place}; name yours with --store or JURY_STORE_URL, or make an empty one with: "
            f"jury db upgrade --store {quote(name)}"
        )

    @classmethod
    def at(cls, path: object, name: str) -> Self:
        """The error for a SQLite file that does not exist; `name` as of the class."""
        return cls(f"there is no store at {path}", name)


class StoreOutdated(OpeningFailed):
    """The store has the schema of an older Jury Judge."""


class StoreTooNew(OpeningFailed):
    """The store has the schema of a newer Jury Judge."""


class StoreBeforeRelease(OpeningFailed):
    """The store was made before version 1.0.0, and no version reads it.

    Args:
        name: the store's URL without a password.
    """

    def __init__(self, name: str, revision: str) -> None:
        super().__init__(
            f"{name} was made before version 1.0.0 of Jury Judge (its schema is {revision}), and no version reads it: "
            "judge its cases again, in another store"
        )


class StoreUnreachable(OpeningFailed):
    """The database server, or the file, cannot be reached."""


class DamagedFile(OpeningFailed, StoreDamaged):
    """The database is damaged, so that it cannot be opened as a store: no command says more about it."""

    def __str__(self) -> str:
        return self.finding


class MayNotWrite(OpeningFailed):
    """The PostgreSQL user may only read the store."""


class NotAStore(OpeningFailed):
    """The file is not a database, or the database is not a store."""


class StoreLocked(OpeningFailed):
    """Another process writes to this SQLite store, or executes this run."""


class ErasureNotRecorded(StoreError):
    """Texts are deleted only after an event records it: append `texts_erased` first."""

    @classmethod
    def of(cls, debate_id: str) -> "ErasureNotRecorded":
        """The error for one debate."""
        return cls(f"debate {debate_id}: no erasure is recorded, so its texts stay. Append texts_erased first")


class MayNotErase(StoreError):
    """The PostgreSQL user may not delete texts; nothing was recorded."""


class SealError(StoreError):
    """A seal, or a key that signs or verifies seals, is not usable."""


class BadSealKey(SealError):
    """A line or a file is not the expected key."""


class SealKeyFileError(SealError):
    """A key file cannot be read or created."""


class BadNote(SealError):
    """Bytes are not the signed note of a checkpoint."""


class BadTimestamp(SealError):
    """Bytes are not a granted time-stamp."""


class SealRefused(SealError):
    """The log or its latest seal differs from what was sealed before, so it is not sealed again: verify it."""

    failure = Failure.ALTERED


class TextsRemain(StoreError):
    """Texts are deleted, but a reader keeps their bytes in the database's files."""

    failure = Failure.STOPPED


class ScrubRefused(StoreError):
    """Texts are deleted, but the user may not rewrite the table whose free space contains their bytes."""

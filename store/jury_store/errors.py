"""Errors of this component."""

from typing import Self

from jury_events.errors import JuryError

_SHOWN = 240
"""Characters of an id that a message quotes."""


class StoreError(JuryError):
    """Something about keeping or finding events went wrong."""


class DebateNotFound(JuryError):
    """The store contains no debate of that id, or none that fits. The store works, so this is no `StoreError`."""

    @classmethod
    def named(cls, debate_id: str) -> Self:
        """The error for one id."""
        return cls(f"there is no debate {debate_id[:_SHOWN]!r} in this store; `jury list` lists its debates")


class AppendRefused(StoreError):
    """An append was refused as a whole; nothing of it was stored, and the rest of its group is untouched."""


class WrongVersion(AppendRefused):
    """The stream is not at the version that the writer expected: read it again and decide again."""


class Fenced(AppendRefused):
    """A newer writer took over the debate; whoever held it must stop."""


class EventConflict(AppendRefused):
    """The log holds another event under this id: two writers disagree about what happened."""


class InvalidAppend(AppendRefused):
    """The request itself cannot be stored, whatever the log holds."""


class StoreFailed(StoreError):
    """The database failed (disk full, connection lost): the whole group is stored, or nothing of it; send it again."""


class StoreDamaged(StoreError):
    """The database lacks a row that a store always has: somebody altered it."""


class ReadOnlyStore(StoreError):
    """The store was opened for reading."""


class StoreClosed(StoreError):
    """The store, or the writer in front of it, was closed."""


class OpeningFailed(StoreError):
    """The store cannot be opened as it is."""


class UnsupportedStore(OpeningFailed):
    """The URL names a database that Jury Judge does not run on."""


class StoreMissing(OpeningFailed):
    """There is no store yet."""


class StoreOutdated(OpeningFailed):
    """The store has the schema of an older Jury Judge."""


class StoreTooNew(OpeningFailed):
    """The store has the schema of a newer Jury Judge."""


class StoreUnreachable(OpeningFailed):
    """The database server, or the file, cannot be reached."""


class MayNotWrite(OpeningFailed):
    """The user of this PostgreSQL database may only read the store."""


class NotAStore(OpeningFailed):
    """The file is not a database, or not one of ours."""


class StoreLocked(OpeningFailed):
    """Another process writes to this SQLite store."""


class ErasureNotRecorded(StoreError):
    """Texts are deleted only after an event says so: append `texts_erased` first."""


class MayNotErase(StoreError):
    """The user of this PostgreSQL database may not delete texts; nothing was recorded."""


class LoginsRefused(StoreError):
    """The logins of a store cannot be set up like this; nothing was changed."""


class SealError(StoreError):
    """Something about the seals of a log is wrong."""


class BadSealKey(SealError):
    """A line or a file is not the key that is needed."""


class SealKeyFileError(SealError):
    """A key file cannot be read or made."""


class BadNote(SealError):
    """Bytes are not the signed note of a checkpoint."""


class BadTimestamp(SealError):
    """Bytes are not a time-stamp that was granted."""


class SealRefused(SealError):
    """The log or its latest seal is not what was sealed before, so it is not sealed again: verify it."""


class TextsRemain(StoreError):
    """Texts are deleted, but a reader keeps their bytes in the database's files."""


class ScrubRefused(StoreError):
    """Texts are deleted, but the user may not rewrite the table whose free space holds their bytes."""

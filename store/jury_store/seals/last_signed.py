"""The last note that a key signed, in a file beside the key: a record that the database cannot change.

The file KEY.last contains the signed note itself. A seal is signed only over a log that begins with the noted events,
and is written here before it is returned: wherever the process is killed, the key never signs contradicting notes.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from jury_events.regular_files import open_regular, read_failure
from jury_store.errors import BadNote, SealKeyFileError
from jury_store.seals.keys import PublicKey
from jury_store.seals.note import MAX_BYTES, Checkpoint, read_checkpoint, signature_fault


class LastSigned:
    """The file of the last signed note.

    Args:
        path: of the file; see `last_signed_path`. Processes that seal with one key lock the file `path` + `.lock`.
        key: that must have signed the note.
    """

    def __init__(self, path: Path, key: PublicKey) -> None:
        self.path = path
        self._key = key

    @contextmanager
    def locked(self) -> Iterator[Checkpoint | None]:
        """Lock the file and read it (None: the key signed nothing yet); `write` replaces it meanwhile."""
        descriptor = self._open_lock()
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield self.read()
        finally:
            os.close(descriptor)

    def check(self) -> None:
        """Check that `locked` would succeed."""
        os.close(self._open_lock())
        self.read()

    def read(self) -> Checkpoint | None:
        """Read the file without locking it; None: it does not exist."""
        try:
            with open_regular(self.path) as file:
                content = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise SealKeyFileError(
                f"{self.path} cannot be read: {read_failure(error)}; check the path and its permissions"
            ) from None
        try:
            checkpoint = read_checkpoint(content)
            fault = signature_fault(checkpoint, [self._key])
        except BadNote as error:
            fault = str(error)
        if fault is not None:
            raise BadNote(
                f"{self.path} must contain the last note that the key {self._key.name} signed, and does not: {fault}. "
                "Restore the file; without it the last signed note is unknown"
            )
        return checkpoint

    def write(self, note: bytes) -> None:
        """Replace the file atomically and durably."""
        new = self.path.with_name(self.path.name + ".new")
        try:
            with new.open("wb") as file:
                file.write(note)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.path)
            folder = os.open(self.path.parent, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            with suppress(OSError):
                new.unlink()
            raise self._unwritable(error) from None

    def _open_lock(self) -> int:
        try:
            lock = self.path.with_name(self.path.name + ".lock")
            return os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> SealKeyFileError:
        return SealKeyFileError(
            f"{self.path}, which records what the key signed last, cannot be written: {error.strerror}; nothing is "
            "signed without it. Make its folder writable, or name another file (--seal-last FILE)"
        )

"""What a key signed last, kept beside the key: the one thing about a log that its database cannot take back.

It is the signed note itself, in the file KEY.last. A seal is signed only over a log that begins with it, and is
written here before anybody else gets it: whatever is killed in between, the key never contradicts itself.
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
    """The file that says what a key signed last.

    Args:
        path: of the file; see `last_signed_path` of its key. The file `path` + `.lock` is made
            beside it: processes that seal with one key take turns.
        key: whose signature the note in it must carry.
    """

    def __init__(self, path: Path, key: PublicKey) -> None:
        self.path = path
        self._key = key

    @contextmanager
    def held(self) -> Iterator[Checkpoint | None]:
        """What the key signed last, None: nothing yet; other processes wait meanwhile, and `write` replaces it.

        Raises:
            SealKeyFileError: the file cannot be read, or nothing can be written beside it.
            BadNote: the file holds something else than a note by this key.
        """
        descriptor = self._open_lock()
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield self.read()
        finally:
            os.close(descriptor)

    def check(self) -> None:
        """See now whether `held` would work.

        Raises:
            SealKeyFileError, BadNote: as `held`.
        """
        os.close(self._open_lock())
        self.read()

    def read(self) -> Checkpoint | None:
        """What the key signed last, without a look at who is about to sign; None: there is no such file.

        Raises:
            SealKeyFileError, BadNote: as `held`.
        """
        try:
            with open_regular(self.path) as file:
                content = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise SealKeyFileError(
                f"{self.path} cannot be read: {read_failure(error)}; check the path and its rights"
            ) from None
        try:
            checkpoint = read_checkpoint(content)
            fault = signature_fault(checkpoint, [self._key])
        except BadNote as error:
            fault = str(error)
        if fault is not None:
            raise BadNote(
                f"{self.path} should hold what the key {self._key.name} signed last, and does not: {fault}. "
                "Bring back the file as it was; without it nobody knows what the key has signed"
            )
        return checkpoint

    def write(self, note: bytes) -> None:
        """Replace the file at once and for good.

        Raises:
            SealKeyFileError: it cannot be written; the old one stays.
        """
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
            f"{self.path}, which keeps what the key signed last, cannot be written: {error.strerror}; nothing is "
            "signed without it. Let its folder be written, or name another place for it (--seal-last FILE)"
        )

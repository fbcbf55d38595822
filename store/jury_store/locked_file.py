"""A small file with content that counts while the process that wrote it lives: locked by flock, deleted at the end.

The kernel releases the lock when the process ends, so the file of a process that was killed has no effect.
"""

import fcntl
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_MOST = 64 * 1024
_MOST_WRITTEN = 2 * 1024 * 1024
_TRIES = 10
_PAUSE = 0.01
"""Seconds between tries: a reader has the lock for a moment."""


@dataclass
class LockedFile:
    """Locked from `take` to `release`."""

    _path: Path
    _descriptor: int | None
    _longest: int = 0

    @classmethod
    def take(cls, path: Path, content: bytes) -> "LockedFile | None":
        """Write the file; None where another holds it. Its folder is made where there is none.

        Raises:
            OSError: it cannot be written.
        """
        for _ in range(_TRIES):
            # A process that left the folder empty may remove it at any time: between the two looks of `mkdir` too.
            with suppress(FileExistsError):
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                if _is_ours(descriptor, path):
                    locked = cls(path, descriptor)
                    try:
                        locked.write(content)
                    except OSError:
                        locked.release()
                        raise
                    return locked
                os.close(descriptor)
            time.sleep(_PAUSE)
        return None

    def write(self, content: bytes) -> None:
        """Replace the content.

        Raises:
            OSError: it cannot be written.
        """
        if self._descriptor is not None:
            # In one write, and never shorter than before: a reader finds the old content or the new one.
            self._longest = max(self._longest, len(content))
            os.pwrite(self._descriptor, content.ljust(self._longest), 0)

    def written_after(self, size: int) -> bytes:
        """What another process wrote behind the first `size` bytes, also after the file was deleted.

        Raises:
            OSError: it cannot be read.
        """
        return b"" if self._descriptor is None else os.pread(self._descriptor, _MOST_WRITTEN, size)

    def unlink(self) -> bool:
        """Delete the file and keep it open; False where another process has deleted it."""
        try:
            self._path.unlink()
        except FileNotFoundError:
            return False
        return True

    def release(self) -> None:
        """Delete the file, and its folder if that is empty; twice is allowed."""
        if self._descriptor is not None:
            with suppress(OSError):
                self._path.unlink()
            os.close(self._descriptor)
            self._descriptor = None
            with suppress(OSError):
                self._path.parent.rmdir()


def read_locked(path: Path) -> bytes | None:
    """The content of a file that is locked now; None where it is not locked, or cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # it may be a pipe
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.pread(descriptor, _MOST, 0)
    except OSError:
        return None
    else:
        return None
    finally:
        os.close(descriptor)


def _is_ours(descriptor: int, path: Path) -> bool:
    """Whether the open file is locked now, and still that of the path: who had it may just have deleted it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        there = path.stat()
    except (BlockingIOError, FileNotFoundError):
        return False
    ours = os.fstat(descriptor)
    return (ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino)

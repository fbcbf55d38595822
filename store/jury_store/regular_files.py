"""Files that users name in options and settings: opened only if they are regular, read only up to a size limit.

Opening a pipe blocks until another process writes into it, and a device may have no end.
"""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


class FileTooLarge(OSError):
    """The file exceeds the size limit; `strerror` contains the limit."""


def open_regular(path: str | os.PathLike[str], *, follow: bool = True) -> BinaryIO:
    """A regular file, open for reading.

    Args:
        path: of the file.
        follow: whether a symbolic link at the end of the path is followed.

    Raises:
        OSError: it cannot be opened, or is a folder, a pipe, a socket or a device; never blocks.
        ValueError: the path contains a NUL.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    descriptor = os.open(path, flags)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))


def read_regular(path: str | os.PathLike[str], most: int, *, follow: bool = True) -> bytes:
    """The content of a regular file of at most `most` bytes.

    Raises:
        FileTooLarge: it is larger.
        OSError, ValueError: as `open_regular`.
    """
    with open_regular(path, follow=follow) as file:
        content = file.read(most + 1)
    if len(content) > most:
        size = f"{most >> 20} MiB" if most >> 20 else f"{most >> 10} KiB" if most >> 10 else f"{most} bytes"
        raise FileTooLarge(errno.EFBIG, f"larger than {size}", os.fspath(path))
    return content


def read_text(path: Path, most: int) -> str:
    """A regular file of at most `most` bytes, decoded from UTF-8 with or without a byte order mark.

    Raises:
        UnicodeDecodeError: it is not UTF-8.
        FileTooLarge, OSError, ValueError: as `read_regular`.
    """
    return read_regular(path, most).decode("utf-8-sig")


def line_of(error: UnicodeDecodeError) -> int:
    """The line of the first byte that is not UTF-8, from 1."""
    return error.object.count(b"\n", 0, error.start) + 1


def read_failure(error: OSError | ValueError) -> str:
    """The reason why a file cannot be read, for an error message."""
    return error.strerror if isinstance(error, OSError) and error.strerror else "not a path"

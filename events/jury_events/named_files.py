"""Files that people name in options and settings: opened only where they are regular, read only to a limit.

Opening a pipe waits for somebody to write into it, and a device may give bytes for ever.
"""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


class FileTooLarge(OSError):
    """The file is larger than what it may be; `strerror` says so."""


def open_regular(path: str | os.PathLike[str], *, follow: bool = True) -> BinaryIO:
    """A regular file, open for reading.

    Args:
        path: where it is.
        follow: whether a symbolic link at the end of the path is followed.

    Raises:
        OSError: it cannot be opened, or is a folder, a pipe, a socket or a device; nothing is waited for.
        ValueError: the path holds a NUL.
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
        FileTooLarge: it has more.
        OSError, ValueError: as `open_regular`.
    """
    with open_regular(path, follow=follow) as file:
        content = file.read(most + 1)
    if len(content) > most:
        size = f"{most >> 20} MiB" if most >> 20 else f"{most >> 10} KiB" if most >> 10 else f"{most} bytes"
        raise FileTooLarge(errno.EFBIG, f"larger than {size}", os.fspath(path))
    return content


def read_text(path: Path, most: int) -> str:
    """A regular file of at most `most` bytes as text in UTF-8, with or without a byte order mark.

    Raises:
        UnicodeDecodeError: it is not UTF-8.
        FileTooLarge, OSError, ValueError: as `read_regular`.
    """
    return read_regular(path, most).decode("utf-8-sig")


def line_of(error: UnicodeDecodeError) -> int:
    """The line of the first byte that is not UTF-8, from 1."""
    return error.object.count(b"\n", 0, error.start) + 1


def cause_of(error: OSError | ValueError) -> str:
    """Why a file cannot be read, in a few words."""
    return error.strerror if isinstance(error, OSError) and error.strerror else "not a path"

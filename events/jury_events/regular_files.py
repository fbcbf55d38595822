"""Files that users name in options and settings: opened only if they are regular, read only up to a size limit.

Opening a pipe blocks until another process writes into it, and a device may have no end. What the kernel shows as files
is refused too: `/proc/self/environ` is regular, and has the keys.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from io import BufferedReader
from pathlib import Path, PurePath

_KERNELS = tuple(map(PurePath, ("/proc", "/sys", "/dev")))
"""Where a system shows processes and devices."""

_SHARED = PurePath("/dev/shm")  # noqa: S108  (it is refused or read, never written)
"""Files of users in memory, though below /dev: some systems keep keys there, or temporary files."""

_KERNELS_TYPES = (
    *("binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devfs", "devpts", "devtmpfs", "efivarfs"),
    *("fusectl", "mqueue", "nsfs", "proc", "pstore", "securityfs", "selinuxfs", "sysfs", "tracefs"),
)
"""File systems that have no file of a user, wherever they are mounted."""

_MOUNTS = Path("/proc/self/mountinfo")


class FileTooLarge(OSError):
    """The file exceeds the size limit; `strerror` contains the limit."""


class KernelFile(OSError):
    """The file is one of the kernel's; `strerror` contains where."""


def open_regular(path: str | os.PathLike[str], *, follow: bool = True, shared: bool = True) -> BufferedReader:
    """A regular file, open for reading.

    Args:
        follow: whether a symbolic link at the end of the path is followed.
        shared: whether it may be in /dev/shm.

    Raises:
        OSError: it cannot be opened, or is a folder, a pipe, a socket or a device; never blocks.
        ValueError: the path contains a NUL.
    """
    _check_kind(Path(os.fsdecode(path)).stat(follow_symlinks=follow), path)  # to open some devices does something
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY | (0 if follow else os.O_NOFOLLOW)
    descriptor = os.open(path, flags)
    try:
        opened = os.fstat(descriptor)
        _check_kind(opened, path)  # another file may have the name by now
        if (found := _kernels(path, descriptor, opened.st_dev, shared=shared)) is not None:
            said = f"a file of {found}, where the system shows processes and devices: name a file of your own"
            raise KernelFile(errno.EACCES, said, os.fspath(path))  # noqa: TRY301  (as the others it closes the file)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _check_kind(found: os.stat_result, path: str | os.PathLike[str]) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISLNK(found.st_mode):  # a link is refused when it is opened
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))


def _kernels(path: str | os.PathLike[str], descriptor: int, device: int, *, shared: bool) -> str | None:
    """Where the kernel shows an opened file; None: it is none of its own.

    By the name that was given (`/dev/fd/3` is any file that this process has open), by that of the file itself, and by
    its file system, which a bind mount shows under another name.
    """
    names = [os.path.abspath(path), os.path.realpath(path)]  # noqa: PTH100  (of bytes too)
    with suppress(OSError):  # a system without
        names.append(os.readlink(f"/proc/self/fd/{descriptor}"))  # noqa: PTH115  (what is opened, no path)
    for name in map(PurePath, map(os.fsdecode, names)):
        if not (shared and name.is_relative_to(_SHARED)):
            for kernels in _KERNELS:
                if name.is_relative_to(kernels):
                    return str(kernels)
    for kind, number in _kernels_devices():
        if number == device:
            return kind
    return None


def _kernels_devices() -> Iterator[tuple[str, int]]:
    ordinary = Path("/").stat().st_dev
    for root in _KERNELS:
        try:
            device = Path(root).stat().st_dev
        except OSError:
            continue
        if device != ordinary:
            yield str(root), device
    try:
        with _MOUNTS.open("rb") as mounts:
            for line in mounts:
                # 36 35 98:0 /root /mounted options - type source options
                before, _, after = line.partition(b" - ")
                kind = os.fsdecode(after.split(b" ", 1)[0])
                if kind in _KERNELS_TYPES:
                    major, minor = before.split(b" ")[2].split(b":")
                    yield kind, os.makedev(int(major), int(minor))
    except OSError:
        return


def read_regular(path: str | os.PathLike[str], most: int, *, follow: bool = True, shared: bool = True) -> bytes:
    """The content of a regular file of at most `most` bytes.

    Raises:
        OSError, ValueError: as `open_regular`.
    """
    with open_regular(path, follow=follow, shared=shared) as file:
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

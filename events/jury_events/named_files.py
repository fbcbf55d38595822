"""Files that another file or a judged text names: what is in them goes to jurors, and into the store.

A panel file names prompts, a ladder its panels and certificate, settings a policy and prices, a case its records.
Who wrote the one file chose the other, so it must be a plain file of bounded size without a secret.
"""

import errno
import os
from pathlib import Path

from jury_events.regular_files import read_regular
from jury_events.scrubbing import known_scrubber, secret_files


class SecretInFile(OSError):
    """The file has a secret of this process; `strerror` says so, without it."""


def read_named(path: str | os.PathLike[str], most: int, *, follow: bool = True) -> bytes:
    """The content of a file that a file names.

    Args:
        most: bytes.
        follow: whether a symbolic link at the end of the path is followed.

    Raises:
        FileTooLarge, KernelFile, OSError, ValueError: as `read_regular`.
    """
    content = read_regular(path, most, follow=follow, shared=False)
    if any(_is_same(path, one) for one in secret_files()):
        raise SecretInFile(
            errno.EACCES, "it is the file of a key, which a variable of the environment names", os.fspath(path)
        )
    refuse_secrets(content, path)
    return content


def read_named_text(path: Path, most: int) -> str:
    """As `read_named`, decoded from UTF-8 with or without a byte order mark, without NUL.

    Raises:
        UnicodeDecodeError: it is not UTF-8.
        OSError, ValueError: as `read_named`; also for a NUL.
    """
    content = read_named(path, most)
    if b"\0" in content:
        raise OSError(errno.EILSEQ, "it has a NUL, and is no text", os.fspath(path))
    return content.decode("utf-8-sig")


def refuse_secrets(content: bytes, place: str | os.PathLike[str]) -> None:
    """Refuse what is to be shown to jurors and has a secret of this process."""
    if known_scrubber().knows(content):
        raise SecretInFile(
            errno.EACCES,
            "it has the value of a key, token or password of this environment; take that out",
            os.fspath(place),
        )


def _is_same(path: str | os.PathLike[str], other: Path) -> bool:
    try:
        return os.path.samefile(path, other)  # noqa: PTH121
    except (OSError, ValueError):
        return False

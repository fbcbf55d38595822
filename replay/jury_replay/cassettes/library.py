"""Cassettes as files of a folder: found there, and put there whole or not at all."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from jury_replay.cassettes.lines import SUFFIX
from jury_replay.errors import CassetteError


def cassettes_in(paths: Iterable[Path]) -> Iterator[Path]:
    """Files as they are named, and of folders the cassettes at any depth, by path.

    Raises:
        CassetteError: a folder holds none, or there is nothing of that name.
    """
    for path in paths:
        if not path.exists():
            raise CassetteError(f"{path}: there is no such file or folder; make cassettes with: jury export")
        if not path.is_dir():
            yield path
            continue
        # A pipe of that name would be waited for; one that is named on purpose is read.
        found = sorted(one for one in path.rglob("*" + SUFFIX) if one.is_file())
        if not found:
            raise CassetteError(f"{path}: there is no cassette in this folder (files *{SUFFIX}); name another")
        yield from found


def put(path: Path, content: bytes) -> bool:
    """Write a file so that whoever looks sees the old one or the new one; gives whether there was a change.

    Raises:
        CassetteError: it cannot be written; nothing of it is left.
    """
    try:
        with suppress(FileNotFoundError):
            if path.stat().st_size == len(content) and path.read_bytes() == content:
                return False
        path.parent.mkdir(parents=True, exist_ok=True)
        # Texts of cases are in it: for its owner, until somebody decides otherwise.
        descriptor, name = tempfile.mkstemp(prefix=".jury-", suffix=".part", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise CassetteError(f"{path}: cannot be written: {error.strerror}; name another place, or make room") from None
    return True

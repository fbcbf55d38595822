"""Cassettes as files in folders: finding them, and writing files atomically."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from jury_replay.cassettes.lines import BATCH_SUFFIX, DRIFT_SUFFIX, RUN_SUFFIX, SUFFIX
from jury_replay.errors import CassetteError


def cassettes_in(paths: Iterable[Path], *, batches: bool = False) -> Iterator[Path]:
    """Files as named, and for folders the cassettes at any depth, by path; `batches`: then the files of other streams.

    Raises:
        CassetteError: a folder contains none, or the path does not exist.
    """
    for path in paths:
        if not path.exists():
            raise CassetteError(f"{path}: there is no such file or folder; make cassettes with: jury export")
        if not path.is_dir():
            yield path
            continue
        # Reading a pipe of that name would block; a pipe named on purpose is read.
        found = _files(path, SUFFIX)
        suffixes = (BATCH_SUFFIX, RUN_SUFFIX, DRIFT_SUFFIX) if batches else ()
        others = [file for suffix in suffixes for file in _files(path, suffix)]
        if not found and not others:
            raise CassetteError(f"{path}: there is no cassette in this folder (files *{SUFFIX}); name another")
        yield from found
        yield from others


def _files(folder: Path, suffix: str) -> list[Path]:
    return sorted(one for one in folder.rglob("*" + suffix) if one.is_file())


def put(path: Path, content: bytes) -> bool:
    """Write a file atomically; returns whether the content changed.

    Raises:
        CassetteError: it cannot be written; nothing of it is left.
    """
    try:
        with suppress(FileNotFoundError):
            if path.stat().st_size == len(content) and path.read_bytes() == content:
                return False
        path.parent.mkdir(parents=True, exist_ok=True)
        # It contains texts of cases: readable by its owner only, as `mkstemp` makes it.
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
        raise CassetteError(f"{path}: cannot be written: {error.strerror}; name another path, or free space") from None
    return True

"""Passwords in a file that PostgreSQL's own clients read: one line each, HOST:PORT:DATABASE:USER:PASSWORD.

See https://www.postgresql.org/docs/current/libpq-pgpass.html. It is read where the variable PGPASSFILE names it, and
only if no one but its owner may read it.
"""

import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from jury_events.errors import SettingError
from jury_events.regular_files import read_text

_MOST_BYTES = 1 << 20


class Entry(NamedTuple):
    """The password of one user for one database."""

    host: str
    port: int
    database: str
    user: str
    password: str

    @property
    def line(self) -> str:
        """The line of the file."""
        return f"{self.key}{_escaped(self.password)}"

    @property
    def key(self) -> str:
        """The start of the line, without the password."""
        return "".join(f"{_escaped(str(field))}:" for field in self[:4])


def keep_passwords(path: Path, entries: Iterable[Entry]) -> None:
    """Put the entries in place of those for the same users, and leave all other lines.

    The file is written beside and moved, so that it is never half there, and for its owner's eyes from the beginning.

    Raises:
        SettingError: the file cannot be read or written.
    """
    fresh = list(entries)
    keys = tuple(entry.key for entry in fresh)
    beside = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        old = read_text(path, _MOST_BYTES).splitlines() if path.exists() else []
        lines = [line for line in old if not line.startswith(keys)] + [entry.line for entry in fresh]
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write("".join(f"{line}\n" for line in lines))
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except (OSError, UnicodeDecodeError) as error:
        with suppress(OSError):
            beside.unlink()
        raise SettingError(
            f"--passwords {path} cannot be written: {getattr(error, 'strerror', None) or 'it is no text'}; name another"
        ) from None


def _escaped(field: str) -> str:
    return field.replace("\\", "\\\\").replace(":", "\\:")

"""Files of a simulation server: uploaded by clients, or written by batches. They are kept on disk, and by account."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory

_DISPOSITION = re.compile(rb'name="([^"]*)"')


@dataclass(frozen=True)
class SimulatedFile:
    """A file of an account; `end`: seconds since 1970, after which it is kept no more."""

    identity: str
    account: str
    path: Path
    name: str
    created: float
    end: float


class FileStore:
    """Files in a temporary folder, which is made when it is needed."""

    def __init__(self) -> None:
        self._folder: TemporaryDirectory[str] | None = None
        self._files: dict[str, SimulatedFile] = {}

    def new_path(self) -> Path:
        """Where a file may be written."""
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="jury-simulate-")
        return Path(self._folder.name) / token_hex(8)

    def keep(self, file: SimulatedFile) -> SimulatedFile:
        """Keep a file."""
        self._files[file.identity] = file
        return file

    def find(self, identity: str, account: str, now: float) -> SimulatedFile | None:
        """A file of an account; None: it has none of that id, or has it no more."""
        found = self._files.get(identity)
        return found if found is not None and found.account == account and now < found.end else None

    def forget(self, identity: str) -> None:
        """Delete a file."""
        self._files.pop(identity).path.unlink(missing_ok=True)

    def close(self) -> None:
        """Delete everything."""
        if self._folder is not None:
            self._folder.cleanup()


async def write_stream(stream: AsyncIterator[bytes], path: Path) -> int:
    """Write a request's body to a file; its bytes."""
    size = 0
    with path.open("ab") as file:
        async for piece in stream:
            size += file.write(piece)
    return size


class FormPart(dict[str, bytes]):
    """The small fields of a form, by name."""


def split_form(path: Path, content_type: str, file_path: Path) -> FormPart:
    """Split a multipart form on disk: the part with a file name is written to `file_path`, the others are returned.

    Raises:
        ValueError: it is no such form.
    """
    found = re.search(r'boundary="?([^";]+)"?', content_type)
    if found is None:
        raise ValueError("the form has no boundary")
    boundary = b"\r\n--" + found[1].encode()
    data = b"\r\n" + path.read_bytes()
    fields = FormPart()
    for part in data.split(boundary)[1:-1]:
        head, separator, content = part.partition(b"\r\n\r\n")
        name = _DISPOSITION.search(head)
        if not separator or name is None:
            raise ValueError("a part of the form has no name")
        if b'filename="' in head:
            file_path.write_bytes(content)
        else:
            fields[name[1].decode("utf-8", "replace")] = content
    return fields

"""Files of a simulation server: uploaded by clients, or written by batches. They are kept on disk, and by account."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory


@dataclass(frozen=True)
class SimulatedFile:
    """A file of an account; `created`: seconds since 1970."""

    identity: str
    account: str
    path: Path
    name: str
    created: float


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
        self._files[file.identity] = file
        return file

    def find(self, identity: str, account: str) -> SimulatedFile | None:
        """A file of an account; None: it has none of that id."""
        found = self._files.get(identity)
        return found if found is not None and found.account == account else None

    def close(self) -> None:
        """Delete everything."""
        if self._folder is not None:
            self._folder.cleanup()


async def write_stream(stream: AsyncIterator[bytes], path: Path) -> None:
    """Write a request's body to the end of a file."""
    with path.open("ab") as file:
        async for piece in stream:
            file.write(piece)


def file_of_form(path: Path, content_type: str, file_path: Path) -> bool:
    """Write the file in a multipart form on disk to `file_path`; False: the form has none."""
    found = re.search(r'boundary="?([^";]+)"?', content_type)
    if found is None:
        return False
    data = b"\r\n" + path.read_bytes()
    for part in data.split(b"\r\n--" + found[1].encode())[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        if b'filename="' in head:
            file_path.write_bytes(content)
            return True
    return False

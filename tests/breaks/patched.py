"""A seeded break: a small patch of the product, and a copy of the room with the patch.

A file `ROOM/NAME.patch` has three lines before its diff: `Law:` what must hold, `Break:` what the patch does, and
`Tests:` files or ids of tests that must fail, the cheapest first.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
_HEADER = re.compile(
    r"Law: (?P<law>[^\n]+)\nBreak: (?P<change>[^\n]+)\nTests: (?P<tests>[^\n]+)\n+(?P<diff>.+)", re.DOTALL
)
_FILE = re.compile(r"^\+\+\+ b/(\S+)$", re.MULTILINE)
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@", re.MULTILINE)


class NotApplied(Exception):
    """The product has changed where the patch changes it: the break is to be made anew."""


@dataclass(frozen=True)
class Break:
    """A patch by its name, `ROOM/NAME`."""

    name: str
    law: str
    change: str
    tests: tuple[str, ...]
    diff: str

    @classmethod
    def read(cls, path: Path) -> "Break":
        """The break of a file.

        Raises:
            ValueError: it has no such header.
        """
        name = path.relative_to(FOLDER).with_suffix("").as_posix()
        found = _HEADER.fullmatch(path.read_text(encoding="utf-8"))
        if found is None:
            raise ValueError(f"{name}: a break begins with the lines Law:, Break: and Tests:, then has its diff")
        return cls(name, found["law"], found["change"], tuple(found["tests"].split()), found["diff"])

    @property
    def file(self) -> str:
        """The patched file, from the root of the project."""
        (one,) = set(_FILE.findall(self.diff))
        return str(one)

    @property
    def lines(self) -> Iterator[int]:
        """The numbers of the lines that the patch shows, as the file has them now."""
        for first, count in _HUNK.findall(self.diff):
            yield from range(int(first), int(first) + int(count or 1))

    def applies(self) -> bool:
        """Whether the product still has the lines that the patch changes."""
        return _git_apply(self.diff, ROOT, "--check").returncode == 0


@contextmanager
def patched(*some: Break) -> Iterator[list[Path]]:
    """Copies of the rooms that these breaks patch; first on PYTHONPATH, they are the ones that are imported.

    Raises:
        NotApplied: a patch does not apply.
    """
    rooms = sorted({one.file.partition("/")[0] for one in some})
    with TemporaryDirectory(prefix="break-") as folder:
        for room in rooms:
            shutil.copytree(ROOT / room, Path(folder, room))  # with its bytecode, whose times are those of its sources
        for one in some:
            if (done := _git_apply(one.diff, Path(folder))).returncode:
                raise NotApplied(f"{one.name} does not apply; make it anew: {done.stderr.strip()}")
        yield [Path(folder, room) for room in rooms]


def breaks() -> list[Break]:
    """All breaks, by name."""
    return [Break.read(path) for path in sorted(FOLDER.rglob("*.patch"))]


def _git_apply(diff: str, folder: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    environ = os.environ | {"GIT_CEILING_DIRECTORIES": str(folder.parent)}
    environ.pop("GIT_DIR", None)
    return subprocess.run(
        ["git", "apply", *options],
        input=diff,
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )

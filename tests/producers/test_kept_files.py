"""The kept files are small, come from a script, and name neither a machine nor a registry."""

import json
import re
from pathlib import Path

import pytest

from producers.law import HERE

FOLDERS = sorted(
    {path.parent for path in HERE.glob("*/produce.py")} | {path.parent for path in HERE.glob("*/produced.json")}
)
PRIVATE = re.compile(
    rb"(?<!<)/root\b|/home/(?!user\b)\w|/Users/(?!user\b)\w|/tmp/wt|registry\.npmjs|pypi\.org|index-url"
)
LARGEST = 100_000


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]


def test_a_producer_is_whole(subtests: pytest.Subtests) -> None:
    for folder in FOLDERS:
        with subtests.test(folder.name):
            record = json.loads((folder / "produced.json").read_text(encoding="utf-8"))
            python = [(folder / name).exists() for name in ("requirements.in", "requirements.txt")]
            node = [(folder / name).exists() for name in ("package.json", "package-lock.json")]

            assert {"tool", "versions", "date", "source", "files"} == record.keys()
            assert record["files"]
            assert record["versions"] or record["source"] == "sample file"
            assert [] == [one["file"] for one in record["files"] if not (folder / one["file"]).exists()]
            assert (folder / "produce.py").exists()
            assert python in ([True, True], [False, False])
            assert node in ([True, True], [False, False])


def test_its_files_are_small_and_name_no_machine() -> None:
    kept = [path for folder in FOLDERS for path in files(folder)]
    # Locks of npm name every package's integrity.
    sized = [path for path in kept if path.name != "package-lock.json"]

    assert [] == [path for path in kept if PRIVATE.search(path.read_bytes())]
    assert [] == [path for path in sized if path.stat().st_size > LARGEST]

"""Reads a case file for a test: its rows, or the message it is refused with."""

from pathlib import Path

import pytest

from jury_cases import CaseFileError, FileRow, read_rows


def read(path: Path) -> list[FileRow]:
    return list(read_rows([path]))


def refusal(path: Path) -> str:
    """The message, one line, without the path that it begins with."""
    with pytest.raises(CaseFileError) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(str(path))

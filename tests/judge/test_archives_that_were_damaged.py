"""An archive of which any byte was changed: its rows are read as they were, or it is refused; never as other rows."""

from collections.abc import Callable
from pathlib import Path

import pytest

from judge.test_containers_of_inspect_logs import HEADER, archive, deflated, read, sample, stored, zstandard
from jury_cases import CaseFileError


@pytest.mark.parametrize("pack", [stored, deflated, zstandard])
def test_no_damage_gives_other_rows(tmp_path: Path, pack: Callable[..., bytes]) -> None:
    path = archive(tmp_path / "log.eval", {"header.json": HEADER, "samples/1.json": sample(1)}, pack)
    whole, rows = path.read_bytes(), read(path)
    refused = 0
    for position in range(len(whole)):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        try:
            found = read(path)
        except CaseFileError:
            refused += 1
        else:
            assert rows == found, position

    assert refused > len(whole) / 4

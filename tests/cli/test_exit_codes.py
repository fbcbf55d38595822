"""Exit codes are what `docs/reference/exit-codes.md` says, row by row."""

import shutil
from pathlib import Path

import pytest

from jury_cli import COMMANDS
from support.command_line import CommandLine
from support.exit_codes import ROWS, Row


def place(judged: CommandLine, folder: Path) -> CommandLine:
    """A new folder with run r1."""
    return CommandLine(Path(shutil.copytree(judged.folder, folder)))


@pytest.mark.parametrize("command", dict.fromkeys(row.command for row in ROWS))
def test_a_command_ends_with_the_codes_of_the_table(judged: CommandLine, tmp_path: Path, command: str) -> None:
    rows = [row for row in ROWS if row.command == command and not row.starts_a_process]
    found = [row.call(place(judged, tmp_path / str(number))) for number, row in enumerate(rows)]
    unknown = judged(command, "--nonsense").code if command in COMMANDS else 2

    assert [(row.code, row.when) for row in rows] == [(code, row.when) for code, row in zip(found, rows, strict=True)]
    assert 2 == unknown


@pytest.mark.full
@pytest.mark.parametrize(
    "row", [pytest.param(row, id=f"{row.command}-{row.code}") for row in ROWS if row.starts_a_process]
)
def test_a_process_ends_with_the_code_of_the_table(judged: CommandLine, tmp_path: Path, row: Row) -> None:
    if "disk is full" in row.when and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")

    assert row.code == row.call(place(judged, tmp_path / "place"))


def test_every_command_is_in_the_table() -> None:
    assert {"every command", *COMMANDS} == {row.command for row in ROWS}

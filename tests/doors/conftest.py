"""The command in a new folder."""

from pathlib import Path

import pytest

from support.command_line import CommandLine


@pytest.fixture
def jury(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)

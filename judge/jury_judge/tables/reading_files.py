"""How a table of votes is read, from the file beside it: `votes.yaml` beside `votes.csv`."""

from pathlib import Path

from jury_cases.containers.sources import bare_name
from jury_judge.settings.settings_file import settings_in
from jury_judge.settings.votes import VoteReading

ENDING = ".yaml"


def reading_beside(table: Path) -> Path | None:
    """The file beside a table that says how it is read: the table's name without endings, with `.yaml`; None: none."""
    if not table.name:
        return None
    found = table.with_name(bare_name(table) + ENDING)
    return found if found != table and found.is_file() else None


def read_reading(path: Path) -> VoteReading:
    """How a table is read. The fields are the options of `jury votes`."""
    return settings_in(path, VoteReading)

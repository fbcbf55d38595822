"""The law of reading holds for every file that a tool wrote."""

from producers.law import ProducedFile, broken, produced_files
from support.each_row import each_row

FILES = produced_files()


@each_row("produced", FILES, ids=[one.name for one in FILES])
def test_what_happened_is_shown_once_and_in_order(produced: ProducedFile) -> None:
    assert [] == broken(produced)

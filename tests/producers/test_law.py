"""The law of reading holds for every file that a tool wrote."""

import pytest

from producers.law import ProducedFile, broken, produced_files


@pytest.mark.parametrize("produced", produced_files(), ids=lambda one: one.name)
def test_what_happened_is_shown_once_and_in_order(produced: ProducedFile) -> None:
    assert [] == broken(produced)

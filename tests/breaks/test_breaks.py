"""Every seeded break applies and is found by a test; ten are looked for here, the others by `tests/breaks/run.py`."""

import time
from threading import Event

import pytest

from breaks.patched import Break, breaks, patched
from breaks.run import SECONDS, failing, kills

TEN: list[str] = []
"""One of a room, found by tests that take little time."""


def test_every_break_applies_and_the_table_says_which_test_finds_it(subtests: pytest.Subtests) -> None:
    for one in breaks():
        with subtests.test(one.name):
            assert one.applies(), "the product has changed here: make the patch anew"

    assert {one.name for one in breaks()} == kills().keys()


def test_ten_breaks_are_found() -> None:
    """All at once, each by the test that finds it alone."""
    some: list[Break] = [one for one in breaks() if one.name in TEN]
    tests = [kills()[one.name].test for one in some]
    with patched(*some) as rooms:
        found, _ = failing(rooms, tests, time.monotonic() + SECONDS, Event())

    assert 10 == len(some)
    assert sorted(tests) == sorted(test for test, _ in found)

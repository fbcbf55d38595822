"""Every seeded break applies and is found by a test; ten are looked for here, the others by `tests/breaks/run.py`."""

import time
from threading import Event

import pytest

from breaks.patched import breaks, patched
from breaks.run import SECONDS, failing, kills

TEN = (
    "actors/concurrency-limit-of-debates",
    "analysis/effective-votes-of-one-more",
    "cases/ground-truth-in-the-case",
    "cli/ignored-signal-taken",
    "debate/nearly-all-are-all",
    "events/result-of-an-earlier-turn",
    "judge/redaction-inside-json-skipped",
    "judge/sample-follows-the-order-of-the-log",
    "providers/price-file-after-the-list",
    "views/first-check-streamed",
)
"""Found by tests that take little time."""


def test_every_break_applies_and_the_table_says_which_test_finds_it(subtests: pytest.Subtests) -> None:
    for one in breaks():
        with subtests.test(one.name):
            assert one.applies(), "the product has changed here: make the patch anew"

    assert {one.name for one in breaks()} == kills().keys()


def test_ten_breaks_are_found() -> None:
    """All at once, each by the test that finds it alone."""
    table = kills()
    with patched(*(one for one in breaks() if one.name in TEN)) as rooms:
        tests = {name: table[name].test for name in TEN}
        found, _ = failing(rooms, [*tests.values()], time.monotonic() + SECONDS, Event())

    failed = [test.partition("[")[0] for test, _ in found]
    assert [] == [name for name, test in tests.items() if test.partition("[")[0] not in failed]

"""Ids and times that providers name: none is longer or later than a log can have."""

from datetime import UTC, datetime, timedelta

import pytest

from jury_providers import BatchUnavailable
from jury_providers.batches.documents import identity_in, time_of
from support.each_row import each_row


@each_row("name", ["i" * 5_000_000, "a\nb", "", None, 7, {"id": "x"}])
def test_an_id_that_is_none_is_refused_in_one_short_line(name: object) -> None:
    with pytest.raises(BatchUnavailable, match="id of the batch") as refused:
        identity_in({"id": name}, "id", "batch")

    assert len(str(refused.value)) < 200
    assert 1 == len(str(refused.value).splitlines())


def test_an_id_is_kept_as_it_is() -> None:
    assert "batch_1" == identity_in({"id": "batch_1"}, "id", "batch")


@each_row(
    "value",
    [
        *(2**62, -(2**62), 10**400, float("nan"), float("inf"), 1e300, -1, True, None, [], "soon", "9" * 5000),
        *("9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", "1969-12-31T23:59:59Z", 253_402_300_799),
    ],
)
def test_a_time_that_is_none_is_not_known(value: object) -> None:
    assert time_of(value) is None


@each_row(
    ("value", "expected"),
    [
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        ("2026-11-28T01:00:00+02:00", datetime(2026, 11, 27, 23, tzinfo=UTC)),
        ("2026-11-28T01:00:00", datetime(2026, 11, 28, 1, tzinfo=UTC)),
        ("9999-11-30T00:00:00Z", datetime(9999, 11, 30, tzinfo=UTC)),
    ],
)
def test_one_may_reckon_with_a_time(value: object, expected: datetime) -> None:
    found = time_of(value)

    assert expected == found
    assert expected + timedelta(days=1) > expected

"""Times of the log in words."""

import pytest

from jury_events.text.timestamps import moment


@pytest.mark.parametrize(
    ("microseconds", "said"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_764_460_800_999_999, "2025-11-30T00:00:00Z"),
        (2**63 - 1, "9223372036854775807 µs after 1970"),
    ],
)
def test_a_moment_is_written_in_utc_whatever_the_log_contains(microseconds: int, said: str) -> None:
    assert said == moment(microseconds)


def test_a_moment_is_written_as_finely_as_asked() -> None:
    assert "1970-01-01T00:00:01.500Z" == moment(1_500_000, "milliseconds")

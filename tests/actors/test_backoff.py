"""How long a failed call waits before it is tried again."""

from jury_actors import Backoff
from support.each_row import each_row


def test_the_window_doubles_with_every_try() -> None:
    backoff = Backoff(base=1.0, cap=60.0)

    assert [1.0, 2.0, 4.0, 8.0] == [backoff.delay(n, jitter=1.0, retry_after=None) for n in (2, 3, 4, 5)]


def test_the_wait_is_drawn_from_the_whole_window() -> None:
    backoff = Backoff(base=8.0)

    assert [0.0, 4.0] == [backoff.delay(2, jitter=jitter, retry_after=None) for jitter in (0.0, 0.5)]


def test_the_window_never_exceeds_the_cap() -> None:
    assert Backoff(base=1.0, cap=5.0).delay(50, jitter=1.0, retry_after=None) == 5.0


def test_a_very_late_try_still_has_a_finite_wait() -> None:
    assert Backoff().delay(1000, jitter=1.0, retry_after=None) == 60.0


@each_row(("asked", "waits"), [(7.0, 7.0), (3600.0, 60.0), (0.0, 1.0), (-1.0, 1.0)])
def test_retry_after_is_waited_up_to_the_cap(asked: float, waits: float) -> None:
    assert waits == Backoff(base=1.0, cap=60.0).delay(2, jitter=1.0, retry_after=asked)

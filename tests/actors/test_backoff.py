"""How long a failed call waits before it is tried again, and an answer for others."""

from jury_actors import Backoff, batch_window, window_end
from support.each_row import each_row


@each_row(
    ("backoff", "attempt", "jitter", "asked", "waits"),
    [
        # The window doubles with every try, up to the cap, and the wait is drawn from all of it.
        *(({"base": 1.0, "cap": 60.0}, attempt, 1.0, None, 2.0 ** (attempt - 2)) for attempt in (2, 3, 4, 5)),
        ({"base": 8.0}, 2, 0.0, None, 0.0),
        ({"base": 8.0}, 2, 0.5, None, 4.0),
        ({"base": 1.0, "cap": 5.0}, 50, 1.0, None, 5.0),
        ({}, 1000, 1.0, None, 60.0),
        # What the provider asked for is waited, up to the cap.
        *(({"base": 1.0, "cap": 60.0}, 2, 1.0, *row) for row in ((7.0, 7.0), (3600.0, 60.0), (0.0, 1.0), (-1.0, 1.0))),
    ],
)
def test_the_wait_before_a_further_try(
    backoff: dict[str, float], attempt: int, jitter: float, asked: float | None, waits: float
) -> None:
    assert waits == Backoff(**backoff).delay(attempt, jitter=jitter, retry_after=asked)


@each_row(
    ("seconds", "working", "window"),
    [
        (0.0, 1, 0.0),
        (0.001, 1, 0.0),
        (0.02, 1, 1 / 512),
        (1.0, 1, 1 / 8),
        (0.9, 16, 1 / 16),
        (1.0, 256, 1 / 16),
        (1.0, 1250, 1 / 128),
        (60.0, 1, 1 / 4),
        (60.0, 20_000, 1 / 32),
    ],
)
def test_an_answer_waits_for_a_share_of_its_call_and_less_where_many_are_in_progress(
    seconds: float, working: int, window: float
) -> None:
    assert window == batch_window(seconds, working)


@each_row(("window", "now", "end"), [(1 / 8, 100.01, 100.125), (1 / 8, 100.12, 100.125), (1 / 4, 100.25, 100.5)])
def test_answers_of_one_window_are_passed_on_at_the_same_moment(window: float, now: float, end: float) -> None:
    assert end == window_end(window, now)


def test_a_long_window_ends_where_a_short_one_does() -> None:
    ends = [window_end(window, 1234.5678) for window in (1 / 4, 1 / 16)]

    assert 0.0 == (ends[0] - ends[1]) % (1 / 16)

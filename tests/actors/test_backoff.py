"""How long a failed call waits before it is tried again."""

from jury_actors import Backoff
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

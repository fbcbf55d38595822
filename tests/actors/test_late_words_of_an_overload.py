"""Answers that come after an overload was reported: they shorten nothing that a provider asked for."""

from jury_events import CallOutcome
from support.permit_requests import a_limiter, a_permit_request


def test_the_longest_wait_that_a_provider_asked_for_counts() -> None:
    it = a_limiter()
    first, second = it.wants(2, a_permit_request())
    it.back(first, CallOutcome.RATE_LIMITED, retry_after=50.0)
    it.back(second, CallOutcome.RATE_LIMITED, retry_after=1.0)
    next_one = it.want(a_permit_request())
    it.wait_until(49.9)

    assert next_one not in it.began
    it.wait_until(50.0)
    assert next_one in it.began

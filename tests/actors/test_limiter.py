"""The limiter: a provider's limits are never exceeded, never left unused, and shared fairly."""

from hypothesis import given
from hypothesis import strategies as st

from jury_actors import FIRST_IN_FLIGHT, Backoff, Limiter, ModelClass, batch_window, window_end
from jury_events import CallOutcome
from jury_providers import Limits
from support.each_row import each_row
from support.permit_requests import MODEL, Counter, a_limiter, a_permit_request

OTHER = ModelClass("anthropic", "key", "claude")


def in_flight(it: Counter) -> tuple[int, int]:
    assert isinstance(it.rule, Limiter)
    return it.rule.in_flight(MODEL)


def finish_all(it: Counter, outcome: CallOutcome = CallOutcome.ANSWERED, **fields: float) -> None:
    """End every call that has begun and not ended."""
    for number in list(it.began):
        it.began.remove(number)
        it.back(number, outcome, **fields)


class Provider:
    """Counts the calls of two runs and two jurors, and ends those that are under way."""

    def __init__(self, limits: Limits) -> None:
        self.it = a_limiter()
        self.limits = limits
        self.runs: dict[int, str] = {}
        self.clients: dict[int, str] = {}
        self.over: set[int] = set()
        self.most = 0

    def act(self, event: str, number: int) -> None:
        running = self.running
        match event:
            case "asks":
                run, client = f"run {number % 2}", f"juror {number // 2 % 2}"
                asked = self.it.want(a_permit_request(run=run, limits=self.limits, tokens=10), client=client)
                self.runs[asked], self.clients[asked] = run, client
            case "answers" if running:
                self._end(running[number % len(running)], CallOutcome.ANSWERED)
            case "is overloaded" if running:
                self._end(running[number % len(running)], CallOutcome.OVERLOADED)
            case "gives up":
                waiting = sorted(self.runs.keys() - self.over - set(running))
                for one in waiting[:1]:
                    self._end(one, None)
            case "is lost":
                client = f"juror {number % 2}"
                self.over |= {one for one, of in self.clients.items() if of == client}
                self.it.lose(client)
            case "waits":
                self.it.wait_until(self.it.now + number / 20)  # no permit comes to the end of its term
        self.most = max(self.most, len(self.running))

    def _end(self, one: int, outcome: CallOutcome | None) -> None:
        self.over.add(one)
        self.it.back(one, outcome, client=self.clients[one])
        self.most = max(self.most, len(self.running))

    @property
    def running(self) -> list[int]:
        return [one for one in self.it.began if one not in self.over]


EVENTS = ("asks", "asks", "asks", "answers", "is overloaded", "gives up", "is lost", "waits")


@given(
    st.lists(st.tuples(st.sampled_from(EVENTS), st.integers(0, 30)), max_size=60),
    st.integers(1, 9),
    st.integers(1, 5),
)
def test_no_limit_is_exceeded_and_every_call_that_waits_begins(
    events: list[tuple[str, int]], per_minute: int, at_once: int
) -> None:
    provider = Provider(Limits(requests_per_minute=per_minute, in_flight=at_once))
    for event, number in events:
        provider.act(event, number)
    for _ in events:
        for _ in provider.running:
            provider.act("answers", 0)
        provider.act("waits", 61 * 20)
    it = provider.it

    assert provider.over == provider.runs.keys(), "nothing waits any more"
    assert provider.most <= at_once
    assert per_minute >= max((sum(at <= one < at + 60 for one in it.times) for at in it.times), default=0)
    assert len(it.began) == len(set(it.began))
    for run in ("run 0", "run 1"):
        began = [one for one in it.began if provider.runs[one] == run]
        assert sorted(began) == began, "a run is served in the order in which it asked"


@each_row("limits", [Limits(requests_per_minute=2), Limits(tokens_per_minute=1200)])
def test_a_minute_begins_when_a_call_is_sent_and_not_when_it_may_be(limits):
    it = a_limiter()
    it.sends_at_once = False
    it.wants(4, a_permit_request(limits=limits, tokens=100))
    it.wait_until(30.0)
    it.sent(1)
    it.sent(1)
    it.wait_until(50.0)
    it.sent(2)
    it.back(1, input_tokens=100, output_tokens=500)
    it.back(2, input_tokens=100, output_tokens=500)

    assert [1, 2] == it.began
    it.wait_until(91.9)
    assert [1, 2] == it.began
    it.wait_until(92.0)
    assert [1, 2, 3] == it.began
    it.wait_until(111.9)
    assert [1, 2, 3] == it.began, "the third is granted, and may be sent at any time"
    it.wait_until(112.0)
    assert [1, 2, 3, 4] == it.began


def test_a_call_whose_client_is_lost_counts_from_then_on():
    it = a_limiter()
    it.sends_at_once = False
    it.want(a_permit_request(limits=Limits(requests_per_minute=1)), client="dead")
    it.want(a_permit_request(limits=Limits(requests_per_minute=1)))
    it.wait_until(20.0)
    it.lose("dead")
    it.wait_until(81.9)

    assert [1] == it.began
    it.wait_until(82.0)
    assert [1, 2] == it.began


def test_tokens_are_settled_by_the_usage_that_the_provider_reports():
    it = a_limiter()
    limits = Limits(tokens_per_minute=1000, in_flight=1000)
    first = it.want(a_permit_request(limits=limits, tokens=100))
    it.want(a_permit_request(limits=limits, tokens=100))
    it.back(first, input_tokens=900, output_tokens=100)

    assert [first] == it.began
    it.wait_until(61.9)
    assert [first] == it.began
    it.wait_until(62.0)
    assert 2 == len(it.began)


def test_a_large_request_is_not_overtaken_by_small_ones():
    it = a_limiter()
    limits = Limits(tokens_per_minute=2000, in_flight=1000)
    it.wants(2, a_permit_request(limits=limits, tokens=200))
    large = it.want(a_permit_request(limits=limits, tokens=1500))
    small = it.wants(5, a_permit_request(limits=limits, tokens=1))
    before = list(it.began)
    it.wait_until(62.0)

    assert [1, 2] == before
    assert large == it.began[2]
    assert not set(small) & set(before)


def test_a_request_larger_than_the_limit_itself_goes_when_the_minute_is_empty():
    it = a_limiter()
    limits = Limits(tokens_per_minute=1000, in_flight=1000)
    it.want(a_permit_request(limits=limits, tokens=100))
    huge = it.want(a_permit_request(limits=limits, tokens=50_000))
    before = list(it.began)
    it.wait_until(62.0)

    assert [1] == before
    assert [1, huge] == it.began


def test_calls_in_flight_begin_moderately_and_double_each_round_that_went_well():
    it = a_limiter()
    it.wants(100, a_permit_request())

    assert FIRST_IN_FLIGHT == len(it.began)
    for number in range(1, FIRST_IN_FLIGHT + 1):
        it.back(number)

    assert (2 * FIRST_IN_FLIGHT, 2 * FIRST_IN_FLIGHT) == in_flight(it)


def test_once_the_provider_was_overloaded_they_grow_by_one_a_round():
    it = a_limiter()
    it.wants(100, a_permit_request())
    finish_all(it, CallOutcome.OVERLOADED)
    it.wait_until(it.now + 61)
    half = FIRST_IN_FLIGHT // 2
    before = in_flight(it)
    finish_all(it)

    assert (half, half) == before
    assert (half + 1, half + 1) == in_flight(it)


@each_row("outcome", [CallOutcome.RATE_LIMITED, CallOutcome.OVERLOADED])
def test_an_overload_halves_once_however_many_calls_report_it(outcome: CallOutcome):
    it = a_limiter(jitter=1.0)
    it.wants(8, a_permit_request())
    for number in range(1, 9):
        it.back(number, outcome)

    assert (0, 4) == in_flight(it)


def test_after_an_overload_every_call_waits_for_retry_after():
    it = a_limiter()
    it.back(it.want(a_permit_request(run="one")), CallOutcome.RATE_LIMITED, retry_after=7.0)
    it.began.clear()
    it.wants(2, a_permit_request(run="two"), client="another")
    it.wait_until(6.9)
    before = list(it.began)
    it.wait_until(7.0)

    assert not before
    assert 2 == len(it.began)


def test_the_longest_wait_that_a_provider_asked_for_counts_up_to_a_minute() -> None:
    it = a_limiter()
    first, second = it.wants(2, a_permit_request())
    it.back(first, CallOutcome.RATE_LIMITED, retry_after=50.0)
    it.back(second, CallOutcome.RATE_LIMITED, retry_after=1.0)
    next_one = it.want(a_permit_request())
    it.wait_until(49.9)

    assert next_one not in it.began
    it.wait_until(50.0)
    assert next_one in it.began
    it.back(next_one, CallOutcome.RATE_LIMITED, retry_after=86_400.0)
    last = it.want(a_permit_request())
    it.wait_until(110.0)
    assert last in it.began


def test_without_a_word_from_the_provider_the_wait_is_drawn_and_grows():
    it = a_limiter(jitter=0.5)
    waits = []
    for _ in range(3):
        it.back(it.want(a_permit_request()), CallOutcome.OVERLOADED)
        it.want(a_permit_request())
        at = it.rule.next_decision()
        assert at is not None
        waits.append(at - it.now)
        it.wait_until(at)
        it.now += 1
        it.back(it.began[-1], None)

    assert [5.0, 10.0, 20.0] == waits


def test_another_class_of_models_does_not_wait():
    it = a_limiter()
    it.back(it.want(a_permit_request()), CallOutcome.RATE_LIMITED, retry_after=60.0)
    number = it.want(a_permit_request(model=OTHER))

    assert number in it.began


def test_runs_take_turns_so_that_a_small_one_does_not_wait_behind_a_large_one():
    it = a_limiter()
    limits = Limits(in_flight=1)
    first = it.want(a_permit_request(run="large", limits=limits))
    large = it.wants(50, a_permit_request(run="large", limits=limits))
    small = it.wants(3, a_permit_request(run="small", limits=limits))
    for _ in range(7):
        it.back(it.began[-1])

    assert [first, large[0], small[0], large[1], small[1], large[2], small[2], large[3]] == it.began


def test_free_slots_go_to_the_run_with_the_fewest_calls_under_way():
    it = a_limiter()
    limits = Limits(in_flight=12)
    large = it.wants(100, a_permit_request(run="large", limits=limits))
    for number in large[:30]:  # the limit grows with answered calls
        it.back(number)
    held = [number for number in it.began if number not in large[:30]]
    small = it.wants(8, a_permit_request(run="small", limits=limits))
    for number in held[:6]:
        it.back(number)

    assert 12 == len(held)
    assert small[:6] == it.began[-6:], "every slot, not every other one, until both have as many"
    it.back(held[6])
    it.back(small[0])
    assert [large[42], small[6]] == it.began[-2:], "then each fills the slots that it leaves"


def test_the_strictest_limits_of_any_run_apply_to_the_key():
    it = a_limiter()
    it.want(a_permit_request(run="one", limits=Limits(in_flight=50)))
    it.wants(10, a_permit_request(run="two", limits=Limits(in_flight=2)))

    assert 2 == len(it.began)


def test_a_permit_that_is_never_released_ends_with_its_term():
    it = a_limiter()
    limits = Limits(in_flight=1)
    it.want(a_permit_request(limits=limits))
    late = it.want(a_permit_request(limits=limits))
    it.wait_until(99.0)
    before = list(it.began)
    it.wait_until(100.0)

    assert [1] == before
    assert [1, late] == it.began


def test_calls_under_way_are_registered_again_with_a_successor():
    it = a_limiter()
    limits = Limits(in_flight=3)
    unreturned = [it.want(a_permit_request(limits=limits), granted=True) for _ in range(3)]
    waits = it.want(a_permit_request(limits=limits))
    before = list(it.began)
    it.back(unreturned[0])

    assert not before
    assert [waits] == it.began


def test_an_answer_is_expected_to_be_as_long_as_earlier_answers():
    it = a_limiter()
    limits = Limits(tokens_per_minute=10_000, in_flight=64)
    for _ in range(60):
        it.wait_until(it.now + 100)
        it.back(it.want(a_permit_request(limits=limits, tokens=100)), input_tokens=100, output_tokens=1900)
    it.wait_until(it.now + 100)
    it.began.clear()
    it.wants(8, a_permit_request(limits=limits, tokens=100))

    assert 5 == len(it.began)


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

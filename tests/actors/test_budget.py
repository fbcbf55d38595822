"""The budget: reserved before a call, settled after it, never exceeded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_actors import BudgetRule, Ceiling, Spent
from jury_events import CallOutcome, RunBudget, dollars
from support.each_row import each_row
from support.permit_requests import Counter, a_permit_request


def a_budget(calls: int | None = None, cost: float | None = None, spent: Spent = Spent()) -> Counter:
    return Counter(BudgetRule(Ceiling(RunBudget(max_calls=calls, max_cost=cost), spent)))


def spent(it: Counter) -> Spent:
    assert isinstance(it.rule, BudgetRule)
    return it.rule.spent


def test_so_many_calls_and_no_more_may_be_made_however_many_ask_at_once():
    it = a_budget(calls=5)
    it.wants(20, a_permit_request())

    assert [1, 2, 3, 4, 5] == it.began
    assert 15 == len(it.halted)
    assert "the budget of 5 calls is used up; call again with a higher --max-calls" == it.halted[0]


@given(
    st.lists(st.tuples(st.sampled_from(["asks", "asks", "costs", "is not made"]), st.integers(0, 30))),
    st.none() | st.integers(0, 8),
    st.integers(0, 30),
)
def test_what_was_spent_and_is_reserved_never_exceeds_the_budget_and_all_of_it_can_be_used(
    events: list[tuple[str, int]], calls: int | None, cents: int
) -> None:
    it = a_budget(calls=calls, cost=cents / 10, spent=Spent(calls=1, cost=0.0))
    running: dict[int, float] = {}
    made, cost = 1, 0.0
    for event, tenths in events:
        began = len(it.began)
        if event == "asks":
            number = it.want(a_permit_request(cost=tenths / 10))
            running |= {number: tenths / 10} if number in it.began[began:] else {}
        elif running:
            number, most = running.popitem()
            paid = min(most, tenths / 10)
            it.back(number, None if event == "is not made" else CallOutcome.ANSWERED, cost=paid)
            made, cost = (made, cost) if event == "is not made" else (made + 1, cost + paid)

        assert calls is None or made + len(running) <= max(calls, 1)
        assert cost + sum(running.values()) <= cents / 10 + 1e-9
        assert (made, pytest.approx(cost)) == (spent(it).calls, spent(it).cost)
    it.wants(2, a_permit_request(cost=100.0))
    assert it.halted or running, "a call that can never be paid for is told so"


def test_a_call_waits_while_calls_in_flight_may_leave_enough():
    it = a_budget(cost=1.0)
    first, second = it.wants(2, a_permit_request(cost=0.6))
    waited = list(it.began)
    it.back(first, cost=0.1)

    assert [first] == waited
    assert ([first, second], []) == (it.began, it.halted)


def test_a_call_is_halted_when_nothing_in_flight_can_leave_enough():
    it = a_budget(cost=1.0)
    first, _ = it.wants(2, a_permit_request(cost=0.6))
    it.back(first, cost=0.5)

    (said,) = it.halted
    assert said.startswith("the budget of $1.00 is used up: $0.5000 spent, and the next call may cost up to $0.6000;")
    assert said.endswith("call again with a higher --max-cost")


def test_a_call_of_unknown_cost_counts_with_its_highest_cost():
    it = a_budget(cost=1.0)
    it.back(it.want(a_permit_request(cost=0.4)), CallOutcome.TIMEOUT)

    assert Spent(1, 0.4) == spent(it)


def test_calls_of_a_juror_that_died_count_as_made():
    it = a_budget(calls=3)
    it.wants(2, a_permit_request(cost=0.1), client="dead")
    it.lose("dead")
    it.wants(2, a_permit_request(), client="alive")

    assert (3, 1) == (len(it.began), len(it.halted))
    assert Spent(2, 0.2) == spent(it)


def test_a_call_that_was_counted_when_its_juror_was_taken_for_dead_is_not_counted_again():
    it = a_budget(calls=2)
    it.want(a_permit_request())
    it.lose("c")
    it.want(a_permit_request(), granted=True)
    it.want(a_permit_request())

    assert [1, 3] == it.began


def test_a_successor_halts_every_call():
    it = Counter(BudgetRule(Ceiling(RunBudget(max_calls=100)), lost=True))
    it.want(a_permit_request())

    assert (1, []) == (len(it.halted), it.began)
    assert "the same command goes on with the same bound" in it.halted[0]


@each_row(("amount", "text"), [(0.0, "$0.00"), (0.0123, "$0.0123"), (5.0, "$5.00"), (1234.5, "$1,234.50")])
def test_dollars_are_written_as_people_write_them(amount: float, text: str):
    assert text == dollars(amount)

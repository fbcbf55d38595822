"""The budget: reserved before a call, settled after it, never exceeded."""

import pytest

from jury_actors import Acquire, BudgetRule, Ceiling, Spent
from jury_events import CallOutcome, dollars
from support.each_row import each_row
from support.permit_requests import Counter, a_permit_request


def a_budget(calls: int | None = None, cost: float | None = None, spent: Spent = Spent()) -> Counter:
    return Counter(BudgetRule(Ceiling(calls, cost, spent)))


def spent(it: Counter) -> Spent:
    assert isinstance(it.rule, BudgetRule)
    return it.rule.spent


def test_so_many_calls_and_no_more_may_be_made_however_many_ask_at_once():
    it = a_budget(calls=5)
    it.wants(20, a_permit_request())

    assert [1, 2, 3, 4, 5] == it.began
    assert 15 == len(it.halted)
    assert "the budget of 5 calls is used up; call again with a higher --max-calls" == it.halted[0]


def test_spending_of_earlier_sessions_counts():
    it = a_budget(calls=5, spent=Spent(calls=3))
    it.wants(3, a_permit_request())

    assert 2 == len(it.began)


def test_a_call_that_was_not_made_is_given_back():
    it = a_budget(calls=1)
    it.back(it.want(a_permit_request()), None)
    it.want(a_permit_request())

    assert 2 == len(it.began)


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


def test_the_settled_cost_counts_and_the_whole_budget_can_be_used():
    it = a_budget(cost=1.0)
    for _ in range(10):
        it.back(it.want(a_permit_request(cost=0.1)), cost=0.1)

    assert (10, []) == (len(it.began), it.halted)
    assert pytest.approx(1.0) == spent(it).cost


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


def test_those_in_flight_never_reserve_more_than_there_is():
    it = a_budget(cost=1.0)
    it.wants(100, a_permit_request(cost=0.3))

    assert 3 == len(it.began)
    assert not it.halted


def test_those_that_ask_in_one_message_never_reserve_more_than_there_is():
    it = a_budget(cost=1.0)
    for number in range(1, 101):
        it.rule.acquire("c", Acquire(number, a_permit_request(cost=0.3)), it.now)
    it.decide()

    assert [1, 2, 3] == it.began


def test_a_call_that_was_counted_when_its_juror_was_taken_for_dead_is_not_counted_again():
    it = a_budget(calls=2)
    it.want(a_permit_request())
    it.lose("c")
    it.want(a_permit_request(), granted=True)
    it.want(a_permit_request())

    assert [1, 3] == it.began


def test_a_successor_halts_every_call():
    it = Counter(BudgetRule(Ceiling(max_calls=100), lost=True))
    it.want(a_permit_request())

    assert (1, []) == (len(it.halted), it.began)
    assert "the same command goes on with the same bound" in it.halted[0]


@each_row(("amount", "text"), [(0.0, "$0.00"), (0.0123, "$0.0123"), (5.0, "$5.00"), (1234.5, "$1,234.50")])
def test_dollars_are_written_as_people_write_them(amount: float, text: str):
    assert text == dollars(amount)

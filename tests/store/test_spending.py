"""The spending of a run while it lasts, separate from earlier spending, on every database."""

from jury_judge.runs.spending import Spending, SpendingWatch
from jury_store.event_store import Append, EventStore
from support.debates import DebateScript


def begin(store: EventStore, script: DebateScript) -> None:
    store.append([Append(script.stream, (script.opened(),), 0, 1)])


def call(store: EventStore, script: DebateScript, attempt: int, cost: float | None = 0.25) -> None:
    store.append([Append(script.calls, (script.exchange(attempt, cost=cost),))])


def end(store: EventStore, script: DebateScript) -> None:
    store.append([Append(script.stream, script.whole()[1:], 1, 1)])


def calls(number: int, cost: float, unknown: int = 0) -> Spending:
    return Spending(calls=number, input_tokens=10 * number, output_tokens=3 * number, cost=cost, unknown=unknown)


def test_new_and_earlier_spending_are_separate(store: EventStore) -> None:
    over, half, new, other = (DebateScript(f"d{n}", seed=n, run_id="other" if n == 3 else "run") for n in range(4))
    for script in (over, half):
        begin(store, script)
        call(store, script, 1)
    end(store, over)

    watch = SpendingWatch(store, "run")
    nothing = watch.look()
    call(store, half, 2)
    begin(store, new)
    begin(store, other)
    call(store, new, 1)
    call(store, other, 1)
    meanwhile = watch.look()
    for script in (half, new):
        call(store, script, 3)
        end(store, script)

    assert Spending() == nothing
    assert calls(2, 0.5) == meanwhile
    assert calls(4, 1.0) == watch.look() == watch.look()
    assert calls(2, 0.5) == watch.before()


def test_a_debate_with_a_call_of_unknown_cost_counts_without_its_cost(store: EventStore) -> None:
    half, new = DebateScript("half", seed=1), DebateScript("new", seed=2)
    begin(store, half)
    call(store, half, 1)
    watch = SpendingWatch(store, "run")
    begin(store, new)
    call(store, new, 1)
    call(store, half, 2, cost=None)

    found = watch.look()

    assert calls(2, 0.25, unknown=1) == found
    assert "at least $0.2500" == found.cost_text
    assert "2 calls, at least 20 tokens in and 6 out, at least $0.2500 (the cost of 1 debate is not known)" == str(
        found
    )


def test_a_debate_that_begins_and_ends_between_two_polls_is_counted_once(store: EventStore) -> None:
    watch = SpendingWatch(store, "run")
    script = DebateScript("d")
    begin(store, script)
    call(store, script, 1)
    end(store, script)

    assert calls(1, 0.25) == watch.look() == watch.look()
    assert Spending() == watch.before()

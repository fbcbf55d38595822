"""Which call a result belongs to, where ids are missing, used again or shared."""

from collections.abc import Sequence

from jury_events import CallResult, TurnEnd, joined_calls
from jury_events.transcript import Called, Join, Step
from support.each_row import each_row

UNCLEAR = Join(unclear=True)
READ, SEND = Called("read", "t"), Called("send", "t")


def result(name: str | None = None, call_id: str | None = "t", **more: bool) -> CallResult:
    return CallResult(name, call_id, **more)


JOINS: dict[str, tuple[Sequence[Step], Sequence[Join]]] = {
    "by the name": ([READ, SEND, result("send"), result("read")], [Join(1), Join(0)]),
    "by the order, where names are missing": ([READ, SEND, result(), result()], [Join(0), Join(1)]),
    "by the order, where names are equal": ([READ, READ, result("read"), result("read")], [Join(0), Join(1)]),
    "by the order, where names are of another kind": ([READ, SEND, result("f"), result("f")], [Join(0), Join(1)]),
    "what a name leaves": ([READ, SEND, result("send"), result()], [Join(1), Join(0)]),
    "a result less is unclear": ([READ, SEND, result()], [UNCLEAR]),
    "a result more is unclear": ([READ, SEND, *[result()] * 3], [UNCLEAR] * 3),
    "of one tool a result less is unclear": ([READ, READ, result("read")], [UNCLEAR]),
    "several results of one call": ([READ, result(), result()], [Join(0), Join(0)]),
    "of the calls with one id, several results of one": ([READ, SEND, result("read"), result("read")], [Join(0)] * 2),
    "the latest turn with the id": ([READ, result(), SEND, result()], [Join(0), Join(2)]),
    "an open call of an earlier turn is not meant": ([READ, TurnEnd(), SEND, result()], [Join(2)]),
    "a result before its call": ([result(), READ], [Join(1)]),
    "a result before one of several turns with its id": ([result(), READ, result(), SEND], [Join(), Join(1)]),
    "no call has the id": ([READ, result(call_id="u")], [Join()]),
    "what the record says to be unclear": ([READ, result(unclear=True)], [UNCLEAR]),
    "files belong to the call of the result before": (
        [READ, SEND, result("send"), result(is_part=True), result("read"), result(is_part=True)],
        [Join(1), Join(1), Join(0), Join(0)],
    ),
    "a file of calls with one id, without a result": ([READ, SEND, result(is_part=True)], [UNCLEAR]),
    "without an id, the first of the name": (
        [Called("f", None), Called("f", None), result("f", None), result("f", None)],
        [Join(0), Join(1)],
    ),
    "without an id, where no order is promised": (
        [Called("f", None), Called("f", None), result("f", None, in_order=False)],
        [UNCLEAR],
    ),
}


@each_row("name", JOINS)
def test_results_are_joined(name: str) -> None:
    steps, expected = JOINS[name]

    joins = joined_calls(steps)

    assert list(expected) == [join for step, join in zip(steps, joins, strict=True) if isinstance(step, CallResult)]


def test_thousands_of_calls_and_results_of_one_id_are_joined_in_order() -> None:
    calls: list[Step] = [Called(f"t{number}", "t") for number in range(20_000)]
    results: list[Step] = [result(f"t{number}", is_part=bool(number % 2)) for number in range(20_000)]

    joins = joined_calls([*calls, *results])

    assert [Join(number - number % 2) for number in range(20_000)] == joins[20_000:]

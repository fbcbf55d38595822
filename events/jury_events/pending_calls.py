"""Which tool call of a transcript a result belongs to: the one place that joins them.

By the id of the call. Ids are unique in most records, but some programs number the calls of each turn anew, or give all
calls of a turn one id: then an id means the calls of the latest turn that has it, and of several calls with one id the
tool's name decides, else the order, where there are as many results as calls. What neither decides is unclear.

Without an id it is the first open call of the tool's name, where the format promises that order; else the only open
call that can be meant.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple


class Called(NamedTuple):
    """A call."""

    name: str
    call_id: str | None


class CallResult(NamedTuple):
    """A result, or (`is_part`) a file of one.

    `in_order`: without an id it belongs to the first open call of its name. `unclear`: which it is, is not recorded.
    """

    name: str | None
    call_id: str | None
    in_order: bool = True
    unclear: bool = False
    is_part: bool = False


class TurnEnd(NamedTuple):
    """Something that the agent did not do: calls after it belong to another turn."""


Step = Called | CallResult | TurnEnd | None
"""What an item of a transcript is to calls; None: nothing."""


class Join(NamedTuple):
    """The index of the call that an item belongs to; None: there is none, or it is `unclear` which it is."""

    call: int | None = None
    unclear: bool = False


_UNCLEAR = Join(unclear=True)


def joined_calls(steps: Sequence[Step]) -> list[Join]:
    """For each item of a transcript its call; of calls and other items there is none."""
    by_id, waiting = _joined_by_id(steps), _WaitingCalls()
    found: list[Join] = []
    for index, step in enumerate(steps):
        join = Join()
        if isinstance(step, Called):
            waiting.called(index, step.name)
        elif isinstance(step, CallResult):
            join = _UNCLEAR if step.unclear else by_id.get(index, join)
            if step.call_id is None and not step.unclear:
                join = waiting.without_id(step)
            if not step.is_part and join.unclear:
                waiting.answered_by_unknown(step.name)
            elif join.call is not None:
                waiting.close(join.call)
        found.append(join)
    return found


class _SharedId:
    """The calls of one turn that have one id, in order, by name; and the results with this id, likewise."""

    def __init__(self) -> None:
        self.calls: defaultdict[str, list[int]] = defaultdict(list)
        self.results: defaultdict[str | None, list[int]] = defaultdict(list)
        self.last_result: int | None = None

    def add_result(self, index: int, name: str | None) -> None:
        self.results[name].append(index)
        self.last_result = index

    @property
    def only(self) -> int | None:
        """The call, where the id is that of one alone."""
        first = next(iter(self.calls.values()))
        return first[0] if len(self.calls) == len(first) == 1 else None

    def joins(self) -> Iterator[tuple[int, Join]]:
        if (only := self.only) is not None:
            yield from ((result, Join(only)) for results in self.results.values() for result in results)
            return
        for name in self.calls.keys() & self.results.keys():
            yield from _in_order(self.calls[name], self.results[name])
        calls = (one for name, calls in self.calls.items() if name not in self.results for one in calls)
        results = (one for name, results in self.results.items() if name not in self.calls for one in results)
        yield from _in_order(sorted(calls), sorted(results))


def _in_order(calls: Sequence[int], results: Sequence[int]) -> Iterator[tuple[int, Join]]:
    """As many results as calls belong to them in order; several of a single call are parts of its result."""
    if len(calls) == 1:
        yield from ((result, Join(calls[0])) for result in results)
    elif len(calls) == len(results):
        yield from ((result, Join(call)) for call, result in zip(calls, results, strict=True))
    else:
        yield from ((result, _UNCLEAR) for result in results)


def _joined_by_id(steps: Iterable[Step]) -> dict[int, Join]:
    """The joins of results with the id of a call; those with an id that no call has are left out."""
    of_id: defaultdict[str, list[_SharedId]] = defaultdict(list)
    early: dict[int, CallResult] = {}
    parts: dict[int, tuple[_SharedId, int | None]] = {}
    turn, turns = 0, dict[str, int]()
    for index, step in enumerate(steps):
        if isinstance(step, Called) and step.call_id is not None:
            if turns.get(step.call_id) != turn:
                turns[step.call_id] = turn
                of_id[step.call_id].append(_SharedId())
            of_id[step.call_id][-1].calls[step.name].append(index)
        elif isinstance(step, CallResult) and step.call_id is not None:
            if not (latest := of_id[step.call_id][-1:]):
                early[index] = step
            elif step.is_part:
                parts[index] = latest[0], latest[0].last_result
            else:
                latest[0].add_result(index, step.name)
        turn += isinstance(step, CallResult | TurnEnd)
    for index, step in early.items():  # what stands before its call
        if len(shared := of_id[step.call_id or ""]) == 1:
            shared[0].add_result(index, step.name)
    joins = {index: join for shared in of_id.values() for one in shared for index, join in one.joins()}
    for index, (shared_id, result) in parts.items():
        only = shared_id.only
        joins[index] = joins[result] if result is not None else _UNCLEAR if only is None else Join(only)
    return joins


class _WaitingCalls:
    def __init__(self) -> None:
        self._waiting: dict[int, str] = {}
        self._by_name: dict[str, dict[int, None]] = {}
        self._unknown: Counter[str | None] = Counter()

    def called(self, index: int, name: str) -> None:
        self._waiting[index] = name
        self._by_name.setdefault(name, {})[index] = None

    def without_id(self, result: CallResult) -> Join:
        """The first open call of its name, else the only open one."""
        candidates = self._candidates(result.name)
        if len(candidates) > 1 and not result.in_order:
            return _UNCLEAR
        if result.name is None and len(candidates) > 1:
            return Join()
        return Join(next(iter(candidates), None))

    def answered_by_unknown(self, name: str | None) -> None:
        """Take a result whose call the record does not say.

        Once there are as many of them as open calls that they may belong to, these calls are answered.
        """
        self._unknown[name] += 1
        if self._unknown[name] >= len(self._candidates(name)):
            del self._unknown[name]
            for call in list(self._candidates(name)):
                self.close(call)

    def close(self, call: int) -> None:
        name = self._waiting.pop(call, None)
        if name is not None:
            del self._by_name[name][call]

    def _candidates(self, name: str | None) -> dict[int, str] | dict[int, None]:
        """The open calls that a result without an id may belong to: those of its name, else all."""
        return self._waiting if name is None else self._by_name.get(name, {})

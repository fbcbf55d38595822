"""Calls, tokens and cost: summed over debates, and followed during a run."""

from dataclasses import dataclass
from typing import Self

from jury_events.text.dollars import dollars
from jury_events.text.pluralize import pluralize
from jury_store.debate_rows import DebateFilter, DebateRow
from jury_store.event_store import EventStore

_PAGE = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Spending:
    """Calls, tokens and US dollars; `unknown` counts debates with a call whose cost is not known.

    The cost is without those debates. A provider that does not say what a call cost may not have counted its tokens
    either: with `unknown`, tokens and cost are at least these.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unknown: int = 0

    @classmethod
    def total(cls, store: EventStore, run_id: str) -> Self:
        """The spending of a run, summed by the database."""
        sums = store.totals(DebateFilter(run_id))
        return cls(
            calls=sums.calls,
            input_tokens=sums.input_tokens,
            output_tokens=sums.output_tokens,
            cost=sums.cost,
            unknown=sums.unknown_cost,
        )

    @classmethod
    def of(cls, row: DebateRow) -> Self:
        """The spending of a debate."""
        return cls(
            calls=row.calls,
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
            cost=row.cost or 0.0,
            unknown=row.cost is None,
        )

    def plus(self, other: "Spending") -> "Spending":
        """The sum."""
        return Spending(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=self.cost + other.cost,
            unknown=self.unknown + other.unknown,
        )

    def since(self, start: "Spending") -> "Spending":
        """The spending of one debate after `start`. If the cost at `start` is unknown, this cost is too."""
        return Spending(
            calls=self.calls - start.calls,
            input_tokens=self.input_tokens - start.input_tokens,
            output_tokens=self.output_tokens - start.output_tokens,
            cost=0.0 if self.unknown else self.cost - start.cost,
            unknown=self.unknown,
        )

    @property
    def at_least(self) -> str:
        """`at least ` where more may have been spent."""
        return "at least " if self.unknown else ""

    @property
    def cost_text(self) -> str:
        """The cost as text."""
        return f"{self.at_least}{dollars(self.cost)}"

    def __str__(self) -> str:
        tokens = f"{self.at_least}{self.input_tokens:,} tokens in and {self.output_tokens:,} out"
        said = f"{self.calls:,} {'call' if self.calls == 1 else 'calls'}, {tokens}, {self.cost_text}"
        return said + (f" (the cost of {pluralize(self.unknown, 'debate')} is not known)" if self.unknown else "")


class SpendingWatch:
    """Follows the spending of a run from now on; reads only debates that are new or not over.

    Args:
        store: open for reading.
        run_id: the run.
    """

    def __init__(self, store: EventStore, run_id: str) -> None:
        self._store = store
        self._run_id = run_id
        self._after = store.last_position()
        self._start = {one: Spending.of(row) for one, row in self._unfinished().items()}
        self._unknown_before = sum(one.unknown for one in self._start.values())
        self._open = dict.fromkeys(self._start, Spending())
        self._ended = self._last = Spending()

    def look(self) -> Spending:
        """The spending since the watch began."""
        unfinished = self._unfinished()
        for debate_id in [one for one in self._open if one not in unfinished]:
            row = self._store.debate(debate_id)
            del self._open[debate_id]
            if row is not None:
                self._ended = self._ended.plus(self._now(row))
                self._start.pop(debate_id, None)
        for debate_id in self._open:
            self._open[debate_id] = self._now(unfinished[debate_id])
        while page := self._store.debates(run_id=self._run_id, limit=_PAGE, after=self._after):
            for row in page:
                if row.ended_at is None:
                    self._open[row.debate_id] = Spending.of(row)
                else:
                    self._ended = self._ended.plus(Spending.of(row))
            self._after = page[-1].position
        total = self._ended
        for one in self._open.values():
            total = total.plus(one)
        self._last = total
        return total

    def before(self) -> Spending:
        """The spending before the watch began: what the whole run took, without what `look` returned last.

        The cost of a debate counts in neither if it was known when the watch began, and is not any more.
        """
        now, every = self._last, Spending.total(self._store, self._run_id)
        return Spending(
            calls=every.calls - now.calls,
            input_tokens=every.input_tokens - now.input_tokens,
            output_tokens=every.output_tokens - now.output_tokens,
            cost=max(0.0, every.cost - now.cost),
            unknown=every.unknown - now.unknown + self._unknown_before,
        )

    def _now(self, row: DebateRow) -> Spending:
        return Spending.of(row).since(self._start.get(row.debate_id, Spending()))

    def _unfinished(self) -> dict[str, DebateRow]:
        found: dict[str, DebateRow] = {}
        after = 0
        while page := self._store.debates(run_id=self._run_id, unfinished=True, limit=_PAGE, after=after):
            found.update((row.debate_id, row) for row in page)
            after = page[-1].position
        return found

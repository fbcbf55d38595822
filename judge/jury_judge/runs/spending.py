"""Calls, tokens and cost: summed over debates, and followed during a run."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Self

from jury_events.text.dollars import dollars
from jury_events.text.pluralize import pluralize
from jury_judge.runs.uncached_cost import uncached_sums
from jury_providers.prices import Prices
from jury_store.debate_rows import NOTHING_UNRECORDED, DebateFilter, DebateRow, RunRow, Totals, Unrecorded
from jury_store.event_store import EventStore

_PAGE = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Spending:
    """Recorded calls, tokens and US dollars; `unknown` counts debates with a call whose cost is not known.

    `unrecorded` calls were sent and are not recorded: they are in none of the other figures.

    The cost is without those debates. A provider that does not say what a call cost may not have counted its tokens
    either: with `unknown`, tokens and cost are at least these.

    Of the input tokens, `read` were read from prompt caches and `written` written to them. `uncached` is what the same
    debates would have cost without caches; None: that is unknown, or was not asked for.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    read: int = 0
    written: int = 0
    cost: float = 0.0
    uncached: float | None = None
    unknown: int = 0
    unrecorded: Unrecorded = NOTHING_UNRECORDED

    @classmethod
    def total(cls, store: EventStore, run_id: str, prices: Prices | None = None) -> Self:
        """The spending of a run, summed by the database; `prices`, today's, are needed for `uncached`."""
        row = store.run(run_id)
        if row is None:
            return cls()
        debates = DebateFilter(run_id, counted=None)
        found = cls.of_run(row, store.totals(debates))
        if prices is None or not (found.read or found.written):
            return found
        today = datetime.now(UTC).date()
        return replace(found, uncached=uncached_sums(store.cached_calls(debates), found.cost, prices, today))

    @classmethod
    def of_run(cls, row: RunRow, totals: Totals) -> Self:
        """The spending of a run: the calls that its debates made, not those of their forks."""
        return cls(
            calls=totals.calls,
            input_tokens=totals.input_tokens,
            output_tokens=totals.output_tokens,
            read=totals.cached_input_tokens,
            written=totals.cache_write_tokens,
            cost=totals.cost,
            unknown=totals.unknown_cost,
            unrecorded=row.unrecorded(totals),
        )

    @classmethod
    def of(cls, row: DebateRow) -> Self:
        """The spending of a debate."""
        return cls(
            calls=row.calls,
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
            read=row.cached_input_tokens,
            written=row.cache_write_tokens,
            cost=row.cost or 0.0,
            unknown=row.cost is None,
        )

    def plus(self, other: "Spending") -> "Spending":
        """The sum."""
        return Spending(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            read=self.read + other.read,
            written=self.written + other.written,
            cost=self.cost + other.cost,
            unknown=self.unknown + other.unknown,
        )

    def since(self, start: "Spending") -> "Spending":
        """The spending of one debate after `start`. If the cost at `start` is unknown, this cost is too."""
        return Spending(
            calls=self.calls - start.calls,
            input_tokens=self.input_tokens - start.input_tokens,
            output_tokens=self.output_tokens - start.output_tokens,
            read=self.read - start.read,
            written=self.written - start.written,
            cost=0.0 if self.unknown else self.cost - start.cost,
            unknown=self.unknown,
        )

    @property
    def at_least(self) -> str:
        """`at least ` where more may have been spent."""
        return "at least " if self.unknown else ""

    @property
    def cost_text(self) -> str:
        """The cost as text, with what is certain of it."""
        cost, unrecorded = f"{self.at_least}{dollars(self.cost)}", self.unrecorded
        if not unrecorded.calls:
            return cost
        calls = f"{pluralize(unrecorded.calls, 'call')} that {'was' if unrecorded.calls == 1 else 'were'}"
        most = f"at most {dollars(unrecorded.cost)} for " if unrecorded.cost else "at most "
        return f"{cost} recorded, and {most}{calls} sent and not recorded"

    def __str__(self) -> str:
        caches = caches_said(self.read, self.written, self.input_tokens)
        tokens = f"{self.at_least}{self.input_tokens:,} tokens in{caches} and {self.output_tokens:,} out"
        said = f"{self.calls:,} {'call' if self.calls == 1 else 'calls'}, {tokens}, {self.cost_text}"
        if self.uncached:  # of what cost nothing, nothing is said
            said += f" ({self.at_least}{dollars(self.uncached)} without caches)"
        return said + (f" (the cost of {pluralize(self.unknown, 'debate')} is not known)" if self.unknown else "")


def caches_said(read: int, written: int, sent: int) -> str:
    """What of the tokens sent was read from prompt caches, as a remark in brackets; "" where none were used."""
    if read:
        return f" ({read / max(1, sent):.0%} read from prompt caches)"
    return f" ({written:,} written to prompt caches, none read)" if written else ""


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
        self._open = dict.fromkeys(self._start, Spending())
        self._ended = Spending()

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
        return total

    def _now(self, row: DebateRow) -> Spending:
        return Spending.of(row).since(self._start.get(row.debate_id, Spending()))

    def _unfinished(self) -> dict[str, DebateRow]:
        found: dict[str, DebateRow] = {}
        after = 0
        while page := self._store.debates(run_id=self._run_id, unfinished=True, limit=_PAGE, after=after):
            found.update((row.debate_id, row) for row in page)
            after = page[-1].position
        return found

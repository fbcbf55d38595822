"""Lists of debates and runs, and what they add up to."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, NamedTuple

from jury_events.errors import DebateNotFound
from jury_judge.records.open_store import OpenStore
from jury_store.debate_rows import EVERY_DEBATE, DebateFilter, DebateRow, RunRow, Totals
from jury_store.event_store import EventStore
from jury_store.list_order import NEWEST, PageCursor, SortOrder

if TYPE_CHECKING:
    from jury_judge.comparisons.excerpts import Excerpt
    from jury_judge.comparisons.groups import Group

_PAGE = 1000
_EXCERPTS = 50
"""Debates whose texts are read together: the first lines of a search should not wait for those of a whole page."""


class ListedDebate(NamedTuple):
    """A row of a list; `excerpt` is the text in which a search found its words, None without one."""

    row: DebateRow
    excerpt: "Excerpt | None" = None


class ListRecords(OpenStore):
    """Lists."""

    async def listed(
        self,
        chosen: DebateFilter = EVERY_DEBATE,
        sorted_by: SortOrder = NEWEST,
        *,
        limit: int | None = None,
        after: PageCursor | None = None,
    ) -> AsyncGenerator[ListedDebate, None]:
        """The chosen debates in order, the newest first by default; read page by page.

        Args:
            chosen: which debates; those in quarantine are left out unless asked for.
            sorted_by: the column, and the direction.
            limit: at most so many.
            after: where an earlier list ended: `sorted_by.cursor` of its last row.
        """
        left = limit if limit is not None else 2**62
        while left and (rows := await self._read(_page, chosen, sorted_by, limit=min(_PAGE, left), after=after)):
            for some in _batches(rows, _EXCERPTS if chosen.search else _PAGE):
                for one in await self._read(_with_excerpts, some, chosen.search):
                    yield one
            left -= len(rows)
            after = sorted_by.cursor(asdict(rows[-1]))

    async def has_debates(self, chosen: DebateFilter = EVERY_DEBATE) -> bool:
        """Whether there is any such debate."""
        return bool(await self._read(_page, chosen, NEWEST, limit=1))

    async def check_run(self, run_id: str) -> None:
        """Check that a run has a debate, in quarantine or not.

        Raises:
            DebateNotFound: it has none.
        """
        chosen = DebateFilter(run_id=run_id)
        if not await self.has_debates(chosen) and not await self.has_debates(chosen._replace(quarantined=True)):
            raise DebateNotFound(f"there is no run {run_id!r} in this store; `jury list --runs` lists the runs")

    async def groups(self, by: str, chosen: DebateFilter = EVERY_DEBATE) -> "list[Group]":
        """The chosen debates counted by a field of their cases: numbers by size, then texts, then those without it.

        Args:
            by: the field, as `tags` or `metadata.level` (docs/filtering.md).
            chosen: which debates.
        """
        return await self._read(_groups, by, chosen)

    async def totals(self, chosen: DebateFilter = EVERY_DEBATE) -> Totals:
        """What the chosen debates add up to."""
        return await self._read(_totals, chosen)

    async def run_rows(self) -> list[RunRow]:
        """The counts of each run, the newest first."""
        return await self._read(_run_rows)

    async def search_lag(self) -> int:
        """How many of the newest events are not searched yet; 0: all are."""
        return await self._read(_search_lag)


def _batches(rows: Sequence[DebateRow], size: int) -> Iterable[Sequence[DebateRow]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def _page(
    store: EventStore, chosen: DebateFilter, sorted_by: SortOrder, *, limit: int, after: PageCursor | None = None
) -> list[DebateRow]:
    return store.list_debates(chosen, sorted_by, limit=limit, after=after)


def _with_excerpts(store: EventStore, rows: Sequence[DebateRow], search: str | None) -> list[ListedDebate]:
    from jury_judge.comparisons.excerpts import excerpts

    said = excerpts(store, [row.debate_id for row in rows], search) if search else {}
    return [ListedDebate(row, said.get(row.debate_id)) for row in rows]


def _groups(store: EventStore, by: str, chosen: DebateFilter) -> "list[Group]":
    from jury_judge.comparisons.groups import grouped

    return grouped(_rows(store, chosen), by)


def _rows(store: EventStore, chosen: DebateFilter) -> Iterable[DebateRow]:
    after: PageCursor | None = None
    while rows := store.list_debates(chosen, NEWEST, limit=_PAGE, after=after):
        yield from rows
        after = NEWEST.cursor(asdict(rows[-1]))


def _totals(store: EventStore, chosen: DebateFilter) -> Totals:
    return store.totals(chosen)


def _run_rows(store: EventStore) -> list[RunRow]:
    return store.runs()[::-1]


def _search_lag(store: EventStore) -> int:
    return store.search_lag()

"""Lists of debates and runs, and what they add up to."""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from jury_events.errors import DebateNotFound
from jury_judge.records.open_store import OpenStore
from jury_store.debate_rows import EVERY_DEBATE, DebateFilter, DebateRow, RunRow, Totals
from jury_store.event_store import EventStore
from jury_store.list_order import NEWEST, PageCursor, SortOrder

if TYPE_CHECKING:
    from jury_judge.comparisons.comparison import Excerpt
    from jury_judge.comparisons.run_comparison import Group

_PAGE = 1000
_TEXTS = 50
"""Debates whose texts are read together: the first lines should not wait for those of a whole page."""


class ListedDebate(NamedTuple):
    """A row of a list.

    Attributes:
        row: the columns.
        excerpt: the text in which a search found its words; None without one.
        result: the result line of the debate, which says why; None where it was not asked for, or the debate has no
            verdict, or was altered.
    """

    row: DebateRow
    excerpt: "Excerpt | None" = None
    result: dict[str, Any] | None = None


class ListRecords(OpenStore):
    """Lists."""

    async def listed(
        self,
        chosen: DebateFilter = EVERY_DEBATE,
        sorted_by: SortOrder = NEWEST,
        *,
        limit: int | None = None,
        after: PageCursor | None = None,
        with_reasons: bool = False,
    ) -> AsyncGenerator[ListedDebate, None]:
        """The chosen debates in order, the newest first by default; read page by page.

        Args:
            chosen: which debates; those in quarantine are left out unless asked for.
            after: where an earlier list ended: `sorted_by.cursor` of its last row.
        """
        some_at_once = _TEXTS if chosen.search or with_reasons else _PAGE
        left = limit if limit is not None else 2**62
        while left and (rows := await self._read(_page, chosen, sorted_by, limit=min(_PAGE, left), after=after)):
            for some in _batches(rows, some_at_once):
                for one in await self._read(_with_texts, some, chosen.search, with_reasons=with_reasons):
                    yield one
            left -= len(rows)
            after = sorted_by.cursor(asdict(rows[-1]))

    async def has_debates(self, chosen: DebateFilter = EVERY_DEBATE) -> bool:
        """Whether there is any such debate."""
        return bool(await self._read(_page, chosen, NEWEST, limit=1))

    async def check_run(self, run_id: str) -> None:
        """Check that a run has a debate, in quarantine or not."""
        chosen = DebateFilter(run_id=run_id, waiting=None)
        if not await self.has_debates(chosen) and not await self.has_debates(chosen._replace(quarantined=True)):
            raise DebateNotFound(f"there is no run {run_id!r} in this store; `jury list --runs` lists the runs")

    async def groups(self, by: str, chosen: DebateFilter = EVERY_DEBATE) -> "list[Group]":
        """The chosen debates counted by a field of their cases: numbers by size, then texts, then those without it.

        Args:
            by: the field, as `tags` or `metadata.level` (docs/filtering.md).
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


def _with_texts(
    store: EventStore, rows: Sequence[DebateRow], search: str | None, *, with_reasons: bool
) -> list[ListedDebate]:
    said: Mapping[str, Excerpt] = {}
    if search:
        from jury_judge.comparisons.comparison import excerpts

        said = excerpts(store, [row.debate_id for row in rows], search)
    results = _results(store, rows) if with_reasons else {}
    return [ListedDebate(row, said.get(row.debate_id), results.get(row.debate_id)) for row in rows]


def _results(store: EventStore, rows: Sequence[DebateRow]) -> dict[str, dict[str, Any]]:
    """The result lines of those that have a verdict; what was altered shows no reason."""
    from jury_replay.intact import altered
    from jury_views.result_lines import line_of

    ended = [row.debate_id for row in rows if row.status == "completed"]
    histories = store.histories(ended)
    damaged = altered(store, histories)
    return {one.debate_id: line_of(one) for one in histories if one.debate_id not in damaged}


def _groups(store: EventStore, by: str, chosen: DebateFilter) -> "list[Group]":
    from jury_judge.comparisons.run_comparison import grouped

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

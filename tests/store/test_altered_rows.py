"""A row of the lists that no program of this project stored does not keep the other rows from being shown."""

from collections.abc import Callable

import pytest

from jury_store.debate_rows import DebateFilter
from jury_store.errors import StoreDamaged
from jury_store.list_order import SORT_COLUMNS, PageCursor, SortOrder
from jury_store.opening import open_store
from support.evidence_lists import SAID, a_debate
from support.stored_debates import store_debate

pytestmark = pytest.mark.full_for("postgresql")

CHANGES = (
    "opened_at = -1",
    "updated_at = -5",
    "status = 'banana'",
    "final_verdict = 'maybe'",
    "final_score = 900",
    "calls = -7",
    "cost = -1.0",
    "tags = '{'",
    "evidence = '[1]'",
)
TEXTS = ("opened_at = 'x'", "calls = 'many'", "cost = 'dear'", "rounds = x'00'")
"""Which SQLite stores in columns of numbers."""


@pytest.mark.parametrize("projected", ["everything", "some"])
def test_an_altered_row_is_shown_as_such_among_the_others(
    url: str, sql: Callable[[str, str], None], projected: str
) -> None:
    for change in (*CHANGES, *(TEXTS if url.startswith("sqlite") else ())):
        store = open_store(url, write=True)
        if not store.list_debates(with_altered=True):
            for name in "abc":
                store_debate(store, a_debate(*SAID["split"]), name)
        store.rebuild()
        sql(url, f"UPDATE debates SET {change} WHERE debate_id = 'b'")
        if projected == "some":
            sql(url, "UPDATE projections SET position = position - 1 WHERE name = 'lists'")

        rows = store.list_debates(with_altered=True)
        sums = store.totals(DebateFilter())

        assert ["c", "b", "a"] == [row.debate_id for row in rows], change
        assert [False, True, False] == [row.is_altered for row in rows], change
        assert "unreadable" == rows[1].status
        assert "table debates, row b: " in str(rows[1].problem)
        assert "jury db rebuild" in str(rows[1].problem)
        if not change.startswith(("tags", "evidence", "rounds")):  # counted and summed values
            assert (2, 2 * rows[0].calls) == (sums.debates, sums.calls), change
        with pytest.raises(StoreDamaged, match=r"table debates, row b: .* jury db rebuild"):
            store.debates()
        for by in SORT_COLUMNS:
            for descending in (True, False):
                order, found, after = SortOrder(by, descending), set[str](), None
                while page := store.list_debates(order=order, limit=2, after=after, with_altered=True):
                    found |= {row.debate_id for row in page}
                    after = PageCursor(page[-1].position, None if by == "opened" else getattr(page[-1], order.column))
                    if len(page) < 2:
                        break
                assert {"a", "b", "c"} == found, (change, order)
        store.close()

"""Rescoring reads every kind of store equally, in one process or several, and writes to none."""

import json
from multiprocessing import active_children
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jury_events import NewEvent, debate_stream
from jury_replay import (
    EVERYTHING,
    DebateSelection,
    Grid,
    Mode,
    RescoreRow,
    RescoreStatus,
    RowFile,
    Setting,
    rescore,
    spread,
)
from jury_replay.rescoring import row_file
from jury_replay.rescoring.row_file import SCHEMA
from jury_store import Append, EventStore, StoreError, open_store
from support.debates import DebateScript
from support.interrupted import Interrupts, endless_from_the_third, interrupts
from support.runtime_harness import KeptStore
from support.varied import run_varied

pytestmark = pytest.mark.full_for("postgresql")

GRID = Grid.of({"max_rounds": (0, 2), "method": ("median", "majority_vote")})
DEBATES = 16


@pytest.fixture(scope="module")
def recorded() -> KeptStore:
    store = KeptStore()
    run_varied(store, DEBATES, discussion={"max_rounds": 1}, final={"method": "majority_vote"})
    return store


def copied(source: KeptStore, url: str) -> None:
    """Every event and text, debate by debate."""
    store = open_store(url, write=True)
    for record in source.histories(source.debate_ids()):
        parts = tuple(record.parts.values())
        for stream, events in record.streams.items():
            new = tuple(
                NewEvent(one.event_id, one.type, one.schema, one.recorded_at, one.body, parts if not number else ())
                for number, one in enumerate(events)
            )
            of_debate = stream == debate_stream(record.debate_id)
            (answer,) = store.append([Append(stream, new, 0 if of_debate else None, 1 if of_debate else None)])
            assert not isinstance(answer, StoreError), answer
    store.close()


def rows_of(store: EventStore, mode: Mode, selection: DebateSelection = EVERYTHING, **how: object) -> list[RescoreRow]:
    rows: list[RescoreRow] = []
    for found in rescore(store, selection, GRID, mode=mode, **how):  # type: ignore[arg-type]
        assert isinstance(found, list), found
        rows += found
    return rows


@pytest.mark.parametrize("mode", ["strict", "recount"])
def test_every_database_yields_the_same_rows(recorded, url, mode):
    copied(recorded, url)
    store = open_store(url, write=False)
    before = store.last_position()
    rows = rows_of(store, mode)
    of_run = rows_of(store, mode, DebateSelection(None, "run"))
    named = rows_of(store, mode, DebateSelection(("d7", "d3")))
    after = store.last_position()
    store.close()

    assert rows_of(recorded, mode) == rows
    assert sorted(rows) == sorted(of_run)
    assert ["d7"] * 4 + ["d3"] * 4 == [row.debate_id for row in named]
    assert {RescoreStatus.DETERMINED} < {row.status for row in rows} or mode == "recount"
    assert before == after


@pytest.mark.full
def test_several_processes_yield_the_same_rows_in_the_same_order(recorded, sqlite_url):
    copied(recorded, sqlite_url)
    store = open_store(sqlite_url, write=False)
    rows = rows_of(store, "recount", url=sqlite_url, processes=2)
    store.close()

    assert rows_of(recorded, "recount") == rows


@pytest.mark.full
def test_workers_leave_ctrl_c_to_their_parent_from_their_first_moment(recorded, sqlite_url):
    copied(recorded, sqlite_url)
    store = open_store(sqlite_url, write=False)
    found = list(spread(store, [["d0"], ["d1"]], interrupts, url=sqlite_url, processes=2))
    store.close()

    assert [Interrupts(ignored=True, blocked=True)] * 2 == found
    assert not interrupts(store, []).blocked


@pytest.mark.full
def test_workers_drop_abandoned_work(recorded, sqlite_url):
    copied(recorded, sqlite_url)
    store = open_store(sqlite_url, write=False)
    found = spread(store, [[f"d{number}"] for number in range(8)], endless_from_the_third, url=sqlite_url, processes=2)
    first = next(found)
    found.close()
    store.close()

    assert "d0" == first
    assert [] == active_children()


def test_an_erased_text_leaves_strict_without_an_answer_and_a_recount_with_one(store):
    script = DebateScript("d", seed=1)
    epoch = store.next_epoch()
    store.append([Append(script.calls, (script.exchange(),))])
    store.append([Append(script.stream, (*script.whole(), script.erased("the case", b"\x00secret\xff")), 0, epoch)])
    store.delete_parts("d", [script.pen.make(text).digest for text in ("the case", b"\x00secret\xff")])
    grid = Grid((Setting(max_rounds=0),))
    (strict,) = rescore(store, EVERYTHING, grid)
    (recount,) = rescore(store, EVERYTHING, grid, mode="recount")

    assert [(RescoreStatus.ERASED, None)] == [(row.status, row.new_verdict) for row in strict]  # type: ignore[union-attr]
    assert [(RescoreStatus.DETERMINED, "safe_pass")] == [(row.status, row.new_verdict) for row in recount]  # type: ignore[union-attr]


@pytest.fixture
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_file, "GROUP", 50)


def test_a_row_file_contains_typed_rows_in_groups(recorded, tmp_path, small_groups):
    rows = rows_of(recorded, "strict")
    with RowFile(tmp_path / "rows.parquet") as file:
        for start in range(0, len(rows), 4):
            file.take(rows[start : start + 4])
    table = pq.read_table(tmp_path / "rows.parquet")

    plain = [{**row._asdict(), "tags": list(row.tags), "metadata": json.dumps(row.metadata)} for row in rows]
    assert plain == table.to_pylist()
    assert SCHEMA == table.schema
    assert (pa.int8(), pa.bool_()) == (table.schema.field("new_score").type, table.schema.field("flipped").type)
    assert pq.ParquetFile(tmp_path / "rows.parquet").num_row_groups >= len(rows) // 60
    assert ["rows.parquet"] == [path.name for path in tmp_path.iterdir()]


def test_a_row_file_that_is_not_finished_leaves_the_old_one(recorded, tmp_path, small_groups):
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1 old")
    file = RowFile(path)
    file.__enter__()
    file.take(rows_of(recorded, "recount"))
    file.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)

    assert ([path], b"PAR1 old") == (list(tmp_path.iterdir()), path.read_bytes())


def test_an_empty_row_file_is_a_table_without_rows(tmp_path: Path):
    with RowFile(tmp_path / "rows.parquet"):
        pass

    assert (0, SCHEMA) == ((table := pq.read_table(tmp_path / "rows.parquet")).num_rows, table.schema)

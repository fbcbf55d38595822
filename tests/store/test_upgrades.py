"""Upgrading a store of an older version with its content."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from jury_debate import PanelSpec, resolve
from jury_events import Usage, Verdict, parse_conditions
from jury_judge import NewReview, record_review, stored_ballots
from jury_judge.tables.counted_words import counted_words
from jury_migrations import check, upgrade
from jury_replay import import_cassette, read_cassette, verify, write_cassette
from jury_store import (
    REVISION,
    Append,
    DebateFilter,
    EventStore,
    MemoryEventStore,
    Seal,
    StoreOutdated,
    open_store,
    parse_store_url,
)
from support.debates import DebateScript
from support.evidence_lists import SAID, a_debate
from support.old_stores import at_revision
from support.postgres import PostgresServer
from support.reviewed import judged_debate
from support.runtime_harness import Run
from support.scales import ANSWERS
from support.stored_debates import store_debate

pytestmark = pytest.mark.full_for("postgresql")


def _write(url: str, log: MemoryEventStore, debate_id: str) -> None:
    """Insert the rows of a debate in `log`: a store of an older schema cannot be opened."""
    (record,) = log.histories([debate_id])
    engine = create_engine(parse_store_url(url))
    mark = "?" if engine.dialect.name == "sqlite" else "%s"
    with engine.begin() as connection:

        def insert(table: str, *values: object) -> None:
            connection.exec_driver_sql(f"INSERT INTO {table} VALUES ({', '.join([mark] * len(values))})", values)

        for event in log.read_all():
            insert("events", *event)
        for stream, head in record.heads.items():
            insert("streams", stream, *head)
        for part in record.parts.values():
            insert("parts", debate_id, *part)
        connection.exec_driver_sql(f"UPDATE counters SET value = {log.last_position()} WHERE name = 'position'")
        connection.exec_driver_sql("UPDATE counters SET value = 1 WHERE name = 'epoch'")
    engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of each kind, without a store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'old.db'}"
    postgres: PostgresServer = request.getfixturevalue("postgres")
    return postgres.url(postgres.create_database())


def test_a_store_of_the_first_schema_keeps_its_events_and_can_be_sealed(empty_url: str) -> None:
    script, log = DebateScript("d"), MemoryEventStore()
    log.append([Append(script.stream, script.whole(), 0, log.next_epoch()), Append(script.calls, (script.exchange(),))])
    at_revision(empty_url, "0001")
    _write(empty_url, log, "d")
    with pytest.raises(StoreOutdated, match="jury db upgrade"):
        open_store(empty_url, write=False)

    reached = upgrade(empty_url)

    assert REVISION == reached
    assert check(empty_url) == []
    store = open_store(empty_url, write=True)
    assert log.read_all() == store.read_all()
    assert log.histories(["d"]) == store.histories(["d"])
    assert verify(store).ok
    assert store.store_seal(Seal(1, bytes(32), bytes(32), b"note", 1))
    store.append([Append(script.stream, (), 0, store.next_epoch())], atomic=True, origin=b"seal")
    assert store.origin("d") == b"seal"
    store.close()


def test_a_store_of_the_second_schema_has_its_lists_rebuilt(empty_url: str, sql: Callable[[str, str], None]) -> None:
    script, log = DebateScript("d"), MemoryEventStore()
    first, *rest = script.whole()
    opened = script.opened(tags=("a",), cluster="c", metadata={"level": 3})
    log.append([Append(script.stream, (opened._replace(recorded_at=first.recorded_at), *rest), 0, log.next_epoch())])
    at_revision(empty_url, "0002")
    _write(empty_url, log, "d")
    sql(empty_url, f"UPDATE projections SET position = {log.last_position()}")
    where = parse_conditions(["tags=a", "cluster=c", "metadata.level=3"])

    upgrade(empty_url)

    store = open_store(empty_url, write=True)
    assert store.project() == 0
    assert log.debates() == store.debates(where=where)
    assert log.runs() == store.runs()
    store.close()


@pytest.mark.full
def test_a_store_of_the_seventh_schema_gets_its_ballots(empty_url: str) -> None:
    script, log = DebateScript("d"), MemoryEventStore()
    log.append([Append(script.stream, script.whole(), 0, log.next_epoch()), Append(script.calls, (script.exchange(),))])
    at_revision(empty_url, "0007")
    _write(empty_url, log, "d")

    upgrade(empty_url)

    assert check(empty_url) == []
    store = open_store(empty_url, write=False)
    assert list(log.ballots()) == list(store.ballots())
    assert verify(store).ok
    store.close()


@pytest.mark.full
def test_a_store_of_the_eleventh_schema_gets_its_sums_over_calls_with_caches(empty_url: str) -> None:
    script, log = DebateScript("d"), MemoryEventStore()
    call = script.exchange(usage=Usage(input_tokens=3000, output_tokens=100, cached_input_tokens=2000))
    log.append([Append(script.stream, script.whole(), 0, log.next_epoch()), Append(script.calls, (call,))])
    at_revision(empty_url, "0011")
    _write(empty_url, log, "d")

    upgrade(empty_url)

    assert check(empty_url) == []
    store = open_store(empty_url, write=False)
    assert log.cached_calls() == store.cached_calls() != ()
    assert log.debates() == store.debates()
    store.close()


@pytest.mark.full
def test_a_store_of_the_twelfth_schema_gets_the_evidence_of_its_debates(
    empty_url: str, sql: Callable[[str, str], None]
) -> None:
    log = MemoryEventStore()
    store_debate(log, a_debate(*SAID["split"]), "split")
    at_revision(empty_url, "0012")
    _write(empty_url, log, "split")
    sql(empty_url, f"UPDATE projections SET position = {log.last_position()}")

    upgrade(empty_url)

    assert check(empty_url) == []
    store = open_store(empty_url, write=True)
    assert store.project() == 0
    assert log.debates(where=parse_conditions(["decisive=disagree"], recorded=True)) == store.debates()
    store.close()


def test_a_store_of_the_eighth_schema_keeps_its_lists_and_takes_reviews(
    empty_url: str, sql: Callable[[str, str], None]
) -> None:
    upgrade(empty_url)
    store = open_store(empty_url, write=True)
    judged_debate(store)
    assert store.project()
    before = store.list_debates()
    store.close()
    caches = ("cached_input_tokens", "cache_write_tokens", "cached_calls")
    evidence = ("evidence", "evidence_values", "final_label")
    stages = ("stage", "stages", "aside", "partly_read")
    older = ("accepted", "human_verdict", "reviews", "assignments", "inherited_steps")
    for column in (*older, *caches, *evidence, *stages):
        sql(empty_url, f"ALTER TABLE debates DROP COLUMN {column}")
    for column in ("calls_at_most", "cost_at_most"):
        sql(empty_url, f"ALTER TABLE run_sizes DROP COLUMN {column}")
    for rows in ("unfinished", "imported", "unreadable"):  # of later schemas
        sql(empty_url, f"DROP INDEX debates_run_{rows}")
    sql(empty_url, "UPDATE alembic_version SET version_num = '0008'")

    upgrade(empty_url)

    assert check(empty_url) == []
    store = open_store(empty_url, write=True)
    assert before == store.list_debates()
    assert store.project() == 0
    record_review(store, "d", NewReview("ann", Verdict.UNSAFE_FAIL))
    assert ["unsafe_fail"] == [row.disposition for row in store.list_debates()]
    assert verify(store).ok
    store.close()


async def test_a_store_from_before_labels_holds_debates_of_own_scales_and_sends_them_on(
    empty_url: str, tmp_path: Path
) -> None:
    log, elsewhere = MemoryEventStore(), MemoryEventStore()
    judged_debate(log, "old")
    at_revision(empty_url, "0012")
    _write(empty_url, log, "old")
    upgrade(empty_url)

    run = Run(open_store(empty_url, write=True))
    run.prompts, run.resolved = 2, resolve(PanelSpec.model_validate(ANSWERS))
    await run.execute()
    store = open_store(empty_url, write=True)
    old, own = store.debate("old"), store.debate("d0")
    assert old is not None
    assert own is not None
    label = own.final_label
    path = tmp_path / "d0.cassette.jsonl"
    path.write_bytes(write_cassette(*store.histories(["d0"])))
    import_cassette(elsewhere, read_cassette(path))

    assert label in {"wrong", "partial", "right"}
    assert check(empty_url) == []
    assert path.read_bytes() == write_cassette(*elsewhere.histories(["d0"]))
    assert old.final_label is None
    votes = [_votes_in_words(one, str(label)) for one in (store, elsewhere)]
    assert votes[0] == votes[1]
    assert {"wrong", "partial", "right"} >= set(votes[0])
    for one in (store, elsewhere):
        chosen = one.list_debates(DebateFilter(where=parse_conditions([f"final_label={label}"], recorded=True)))
        assert ["d0"] == [row.debate_id for row in chosen]
        assert verify(one).ok
    store.close()


def _votes_in_words(store: EventStore, label: str) -> list[str]:
    where = parse_conditions([f"final_label={label}"], recorded=True)
    ballots = stored_ballots(store, DebateFilter(where=where))
    assert counted_words(store, ballots, None).chosen.counted.startswith("labels of the scale answers (")
    votes: list[str] = ballots["vote_label"].cast("string").to_pylist()
    return votes

"""Changes made with SQL are detected when verifying and when reading, on both databases."""

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from jury_events import AlteredPart
from jury_replay import verify
from jury_store import SQLITE_TRIGGERS, Append, DebateFilter, EventStore, StoreDamaged, open_store
from support.debates import DebateScript

pytestmark = pytest.mark.full_for("postgresql")

Sql = Callable[[str, str], None]


@pytest.fixture
def filled(url: str) -> str:
    """A store of two debates of one run, with tags and metadata, its lists projected."""
    store = open_store(url, write=True)
    for seed, name in enumerate(("d", "e"), 1):
        script = DebateScript(name, seed=seed)
        _, *rest = script.whole()
        events = (script.opened(tags=("a",), cluster="c", metadata={"level": 3}), *rest)
        store.append([Append(script.stream, events, 0, store.next_epoch()), Append(script.calls, (script.exchange(),))])
    store.project()
    store.close()
    return url


@pytest.fixture
def reader(filled: str) -> Iterator[EventStore]:
    store = open_store(filled, write=False)
    yield store
    store.close()


def without_triggers(sql: Sql, url: str, statement: str) -> None:
    """As the owner of the database, with the triggers of the table off."""
    table = next(word for word in ("parts", "counters", "streams") if f" {word} " in f"{statement} ")
    if url.startswith("sqlite"):
        for name in SQLITE_TRIGGERS:
            if name.startswith(f"{table}_"):
                sql(url, f"DROP TRIGGER IF EXISTS {name}")
        sql(url, statement)
    else:
        sql(url, f"ALTER TABLE {table} DISABLE TRIGGER USER")
        sql(url, statement)


LIES = {
    "another verdict": "UPDATE debates SET final_verdict = 'unsafe_fail', final_score = 1 WHERE debate_id = 'd'",
    "a debate less": "DELETE FROM debates WHERE debate_id = 'd'",
    "another tag": "UPDATE debate_fields SET value = 'b' WHERE name = 'tags' AND position = 1",
    "a field less": "DELETE FROM debate_fields WHERE name = 'cluster' AND position = 1",
}


WHOLE_LIES = {
    "a run counted otherwise": "UPDATE runs SET safe_pass = safe_pass + 1",
    "a run less": "DELETE FROM runs",
    "a run without a debate": "UPDATE runs SET run_id = 'other'",
    "fields without a debate": "UPDATE debate_fields SET position = 99 WHERE position = 1",
    "lists ahead of the log": "UPDATE projections SET position = position + 5",
}


def test_lists_that_differ_from_the_log_are_reported_and_rebuilt(filled: str, reader: EventStore, sql: Sql) -> None:
    """Each lie alone, and all of them at once."""
    with closing(open_store(filled, write=True)) as writer:
        every = [*LIES.values(), *WHOLE_LIES.values()]
        for lies in (*([lie] for lie in every), every):
            assert [] == reader.list_faults() == reader.list_faults(reader.histories(["d", "e"]))
            for lie in lies:
                sql(filled, lie)
            of_debates, of_the_whole = reader.list_faults(reader.histories(["d", "e"])), reader.list_faults()
            writer.rebuild()

            if lies[0] in LIES.values():
                assert {"d"} == {fault.debate_id for fault in of_debates if "the list of debates " in fault.what}, lies
            if lies[-1] in WHOLE_LIES.values():
                assert of_the_whole, lies
    assert [] == reader.list_faults() == reader.list_faults(reader.histories(["d", "e"]))


ALTERED = {
    "no facts": "evidence = '{'",
    "no calls": "cached_calls = '[1]'",
    "no review": "reviews = '[[1]]'",
    "a verdict of no kind": "final_verdict = 'good'",
    "a state of no kind": "status = 'done'",
    "completed without a verdict": "final_verdict = NULL",
}
TYPES = {"text": "calls = 'many'", "blob": "status = x'00ff'", "a word for a number": "final_score = 'high'"}
"""PostgreSQL refuses these by the types of columns."""


def test_an_altered_row_stops_no_list(filled: str, reader: EventStore, sql: Sql) -> None:
    """Its events say what it is; verification names it."""
    rows, totals = reader.debates(), reader.totals()
    changes = {**ALTERED, **(TYPES if filled.startswith("sqlite") else {})}
    for name, change in changes.items():
        sql(filled, f"UPDATE debates SET {change} WHERE debate_id = 'd'")

        assert rows == reader.debates(), name
        assert rows == [*reader.debates(limit=1), *reader.debates(limit=1, after=rows[0].position)]
        assert {row.debate_id: row for row in rows}["d"] == reader.debate("d"), name
        assert reader.list_faults(reader.histories(["d"])), name
        if name == "blob":  # a group of the totals
            assert totals == reader.totals(), name
        with closing(open_store(filled, write=True)) as writer:
            writer.rebuild()


def test_an_altered_row_is_selected_by_what_its_events_say(filled: str, reader: EventStore, sql: Sql) -> None:
    sql(filled, "UPDATE debates SET final_verdict = 'unsafe_fail', evidence = '{' WHERE debate_id = 'd'")
    (verdict,) = {row.final_verdict for row in reader.debates()}

    assert "safe_pass" == verdict
    assert [] == reader.list_debates(DebateFilter(verdict="unsafe_fail"))


def test_an_altered_row_stops_no_further_event_of_its_debate(filled: str, reader: EventStore, sql: Sql) -> None:
    with closing(open_store(filled, write=True)) as writer:
        for number, project in enumerate((False, True), 1):
            sql(filled, "UPDATE debates SET evidence = '{' WHERE debate_id = 'd'")
            script = DebateScript("d", seed=9 + number)
            erased = script.erased("because", number=number)
            writer.append([Append(script.stream, (erased,), 4 + number, writer.next_epoch())])
            if project:
                writer.project()

            assert {"d", "e"} == {row.debate_id for row in reader.debates()}
    assert [] == reader.list_faults(reader.histories(["d"]))


def test_an_altered_row_of_a_run_stops_no_list_of_runs(filled: str, reader: EventStore, sql: Sql) -> None:
    if filled.startswith("postgresql"):
        pytest.skip("its columns take numbers alone")
    runs = reader.runs()
    sql(filled, "UPDATE runs SET completed = 'all', last_at = x'00'")

    assert runs == reader.runs() == [reader.run("run")]


def test_a_row_whose_place_was_altered_stops_its_list(url: str, filled: str, reader: EventStore, sql: Sql) -> None:
    if url.startswith("postgresql"):
        pytest.skip("its column takes numbers alone")
    sql(filled, "UPDATE debates SET position = 'last' WHERE debate_id = 'd'")

    with pytest.raises(StoreDamaged, match=r"row d: position.* jury db rebuild"):
        reader.debates()


def test_events_appended_after_a_record_was_read_are_no_list_fault(filled: str, reader: EventStore) -> None:
    records = reader.histories(["d"])
    writer = open_store(filled, write=True)
    script = DebateScript("d")
    writer.append([Append(script.calls, (script.exchange(2),))])
    writer.project()
    writer.close()

    assert reader.list_faults(records) == []


def test_an_altered_text_is_refused(filled: str, reader: EventStore, sql: Sql) -> None:
    parts = reader.parts("d")
    content = "'f'::bytea" if filled.startswith("postgresql") else "x'66'"
    without_triggers(sql, filled, f"UPDATE parts SET content = {content} WHERE debate_id = 'd'")

    with pytest.raises(AlteredPart, match="is not the one that was recorded"):
        reader.parts("d")
    with pytest.raises(AlteredPart, match="is not the one that was recorded"):
        reader.parts("d", list(parts))
    (record,) = reader.histories(["d"])
    assert record.texts == {}
    assert reader.parts("e")


def test_a_restored_erased_text_is_not_read(store: EventStore) -> None:
    script = DebateScript("d")
    back = script.pen.make("because").digest
    store.append([Append(script.stream, script.whole(), 0, store.next_epoch())])
    digests = store.parts("d").keys()
    store.append([Append(script.stream, (script.erased("because"),), 6, store.next_epoch())])

    left, asked = store.parts("d"), store.parts("d", list(digests))

    (record,) = store.histories(["d"])
    assert back in record.parts
    assert digests - {back} == left.keys() == asked.keys()
    assert {part.content for part in left.values()} == set(record.texts.values())


def test_a_store_without_its_counter_refuses_appends(filled: str, reader: EventStore, sql: Sql) -> None:
    without_triggers(sql, filled, "DELETE FROM counters WHERE name = 'position'")

    writer = open_store(filled, write=True)
    script = DebateScript("f")
    try:
        with pytest.raises(StoreDamaged, match="the counter 'position' is missing"):
            writer.append([Append(script.calls, (script.exchange(),))])
        with pytest.raises(StoreDamaged, match="the counter 'position' is missing"):
            reader.last_position()
    finally:
        writer.close()
    assert reader.inventory().counter is None


ADDED = {
    "a head without events": (
        "INSERT INTO streams (stream, version, epoch, hash) VALUES ('debate/x', 0, 1, {zeros})",
        "there is a head, and no event",
    ),
    "a head of a third kind": (
        "INSERT INTO streams (stream, version, epoch, hash) VALUES ('other/x', 0, 1, {zeros})",
        "no stream of a log",
    ),
    "a counter": ("INSERT INTO counters (name, value) VALUES ('more', 7)", "row more: there is no such counter"),
    "a raised epoch": ("UPDATE streams SET epoch = 99 WHERE stream = 'debate/d'", "the counter of epochs says"),
    "a checkpoint": ("INSERT INTO projections VALUES ('more', 7)", "row more: there is no such projection"),
}


def test_a_row_that_no_program_stores_is_found(filled: str, reader: EventStore, sql: Sql) -> None:
    zeros = "x'" + "00" * 32 + "'" if filled.startswith("sqlite") else f"decode('{'00' * 32}', 'hex')"
    for name, (statement, message) in ADDED.items():
        assert not any(message in str(failure) for failure in verify(reader).failures), name

        if "projections" in statement:
            sql(filled, statement)
        else:
            without_triggers(sql, filled, statement.format(zeros=zeros))

        assert any(message in str(failure) for failure in verify(reader).failures), name

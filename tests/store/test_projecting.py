"""What bringing lists and search index forward reads and decodes: nothing twice."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, event

from jury_replay import ErasureOrder, erase
from jury_store import (
    Append,
    DriverCursor,
    EventStore,
    JsonColumn,
    open_store,
    projection,
    search_terms,
    terms_of,
)
from support.debates import DebateScript

pytestmark = pytest.mark.full_for("postgresql")


@pytest.fixture
def bodies(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The bodies that are decoded."""
    found: list[bytes] = []
    plainly = projection.decoded

    def decoded(body: bytes) -> Any:
        found.append(body)
        return plainly(body)

    monkeypatch.setattr(projection, "decoded", decoded)
    monkeypatch.setattr(search_terms, "decoded", decoded)
    return found


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The statements that SQLAlchemy executes, and the queries of the driver."""
    found: list[str] = []
    executed = DriverCursor.rows

    def note(*details: Any) -> None:
        found.append(details[2])

    def rows(cursor: DriverCursor, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        found.append(statement)
        return executed(cursor, statement, parameters)

    event.listen(Engine, "before_cursor_execute", note)
    monkeypatch.setattr(DriverCursor, "rows", rows)
    yield found
    event.remove(Engine, "before_cursor_execute", note)


def test_the_lists_decode_every_body_once(
    url: str, open_writer: Callable[[str], EventStore], bodies: list[bytes]
) -> None:
    store, script = open_writer(url), DebateScript("d")
    events = script.whole()
    store.append([Append(script.stream, events[:1], 0, 1)])
    store.project()
    store.append([Append(script.stream, events[1:], 1, 1)])
    store.project()

    assert sorted(bodies) == sorted(one.body for one in events)


def test_the_search_index_decodes_every_body_with_texts_once(
    url: str, open_writer: Callable[[str], EventStore], bodies: list[bytes]
) -> None:
    store, script = open_writer(url), DebateScript("d")
    events = script.whole()
    store.append([Append(script.stream, events, 0, 1)])
    store.index_texts()

    assert sorted(bodies) == sorted(
        one.body for one in events if one.type in {"juror_evaluated", "statement_made", "judgment_rendered"}
    )


def test_a_debate_that_goes_on_is_not_read_from_the_list_again(
    url: str, open_writer: Callable[[str], EventStore], statements: list[str]
) -> None:
    store, script = open_writer(url), DebateScript("d", run_id=None)
    events = script.whole()
    store.append([Append(script.stream, events[:1], 0, 1)])
    store.project()
    statements.clear()
    store.append([Append(script.stream, events[1:], 1, 1)])
    store.project()

    assert statements
    assert not [one for one in statements if "FROM debates" in one or "FROM ballots" in one]
    assert store.debates()[0].status == "completed"


def test_what_was_just_appended_is_not_read_back(
    url: str, open_writer: Callable[[str], EventStore], statements: list[str]
) -> None:
    store, script = open_writer(url), DebateScript("d")
    store.append([Append(script.stream, script.whole(), 0, 1)])
    statements.clear()
    store.project()
    store.index_texts()

    assert [one for one in statements if "projections" in one]
    assert not [one for one in statements if "body" in one]
    # On PostgreSQL another process may have erased a text.
    assert url.startswith("postgresql") == bool([one for one in statements if "parts" in one])
    assert [row.status for row in store.list_debates()] == ["completed"]


def test_what_another_writer_appended_in_between_is_read(
    postgres_url: str, open_writer: Callable[[str], EventStore]
) -> None:
    one, other = open_writer(postgres_url), open_store(postgres_url, write=True, run="other", wait=0)
    try:
        for number, store in enumerate((one, other, one, other, one)):
            script = DebateScript(f"d{number}")
            store.append([Append(script.stream, script.whole(), 0, 1)])
        while one.project(limit=2) or one.index_texts(limit=2):
            pass

        assert one.list_faults(one.histories([f"d{number}" for number in range(5)])) == []
        assert len(one.list_debates()) == 5
    finally:
        other.close()


def test_an_erased_text_that_waits_for_the_index_is_not_indexed(
    url: str, open_writer: Callable[[str], EventStore]
) -> None:
    store, script = open_writer(url), DebateScript("d")
    store.append([Append(script.stream, (*script.begins(), script.evaluated("zcanaryz"), *script.whole()[3:]), 0, 1)])
    erase(store, "d", ErasureOrder("dpo", "asked"), now=1)
    store.index_texts(limit=2)
    engine = create_engine(url)
    with engine.connect() as connection:
        terms = connection.exec_driver_sql("SELECT terms FROM search_texts").scalars().all()
    engine.dispose()

    assert terms == []


def test_fields_of_cases_are_stored_as_their_columns_declare(
    url: str, open_writer: Callable[[str], EventStore]
) -> None:
    store = open_writer(url)
    cases: dict[str, dict[str, Any]] = {
        "d": {"tags": (), "metadata": {}},
        "e": {"tags": ("höhe", "b"), "metadata": {"n": 1.5, "variant": "ü"}},
    }
    for name, fields in cases.items():
        script = DebateScript(name)
        store.append([Append(script.stream, script.begins(**fields), 0, 1)])
    store.project()
    engine = create_engine(url)
    with engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT tags, metadata FROM debates ORDER BY debate_id").all()
    engine.dispose()
    column = JsonColumn()

    assert [tuple(row) for row in rows] == [
        tuple(column.process_bind_param(value, engine.dialect) for value in fields.values())
        for fields in cases.values()
    ]


def test_a_text_of_ascii_letters_has_the_terms_that_it_has_beside_others() -> None:
    text = "Refund_17 REFUSED: " + "x" * 90 + " it's 3.5%"

    assert terms_of(text) | {"é"} == terms_of(f"{text} é")
    assert {"refund_17", "refused", "x" * 64, "it", "s", "3", "5"} == terms_of(text)

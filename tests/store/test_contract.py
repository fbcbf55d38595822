"""What every store promises beside what `test_log` compares with a model."""

import random
import sqlite3
import string
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from jury_events import END_OF_TIME, NewEvent, make_part
from jury_store import (
    Append,
    Appended,
    Attestation,
    ErasureNotRecorded,
    EventConflict,
    EventStore,
    InvalidAppend,
    MemoryEventStore,
    ReadOnlyStore,
    Seal,
    StoreClosed,
    WrongVersion,
)
from support.debates import DebateScript


def test_refusals_say_where_the_stream_is_and_what_to_do(store: EventStore) -> None:
    script = DebateScript("d")
    old, new = store.next_epoch(), store.next_epoch()
    store.append([Append(script.stream, (script.opened(),), 0, new)])
    stale, fenced = store.append(
        [Append(script.stream, (script.checked(),), 0, new), Append(script.stream, (script.checked(),), 1, old)]
    )

    assert "debate/d is at version 1, not 0" in str(stale)
    assert f"another process took over this store (its epoch is {new}, this one's is {old})" in str(fenced)
    assert str(fenced).endswith("let the other process finish, or end it, and run the same command again")


def test_a_repeat_needs_its_texts_and_new_events_after_it_may_use_them(store: EventStore) -> None:
    first, again, bare = (DebateScript("d", seed=number) for number in (1, 2, 3))
    store.append([Append(first.calls, (first.exchange(1, answer="same"),))])
    repeated, fresh = again.exchange(1, answer="same"), again.exchange(2, answer="same")
    without = store.append([Append(bare.calls, (bare.exchange(1, answer="same")._replace(parts=()),))])
    answers = store.append([Append(again.calls, (repeated, fresh))])

    assert isinstance(without[0], EventConflict)
    assert [Appended(first.calls, 2, 1)] == answers
    assert () == fresh.parts
    assert again.pen.make("same").digest in store.parts("d")


def test_a_repeat_brings_no_texts(store: EventStore) -> None:
    first, again = DebateScript("d", seed=1), DebateScript("d", seed=2)
    store.append([Append(first.calls, (first.exchange(1, answer="same"),))])
    before = store.parts("d")

    answers = store.append([Append(again.calls, (again.exchange(1, answer="same"),))])

    assert [Appended(first.calls, 1, 1)] == answers
    assert before == store.parts("d")


OTHER_BODIES = (b'{"a":1.0}', b'{"a":true}', b'{"a":1,"b":2}', b'{"a":[1]}', b'{"a":2}', b"{}", b"[]", b"{")


def test_events_are_equal_only_in_type_schema_and_the_values_and_types_of_fields(store: EventStore) -> None:
    event = NewEvent("e", "x", 1, 1, b'{"a":1}')
    others = [event._replace(type="y"), event._replace(schema=2), *(event._replace(body=one) for one in OTHER_BODIES)]
    store.append([Append("calls/d", (event,))])
    repeated, *refused = store.append(
        [
            Append("calls/d", (event._replace(recorded_at=2, body=b'{"a": 1}'),)),
            *(Append("calls/d", (other,)) for other in others),
        ]
    )

    assert Appended("calls/d", 1, 1) == repeated
    assert [EventConflict] * len(others) == [type(one) for one in refused]
    assert all("calls/d" in str(one) for one in refused)


INVALID = {
    "no version": Append("debate/d", (), None, 1),
    "no epoch": Append("debate/d", (), 0, None),
    "fenced": Append("calls/d", (), None, 1),
    "a long name": Append("calls/" + "d" * 495, (NewEvent("e", "x", 1, 1, b"{}"),)),
    "a long name in bytes": Append("calls/" + "é" * 248, (NewEvent("e", "x", 1, 1, b"{}"),)),
    "a name of megabytes": Append("calls/" + "d" * 5_000_000, (NewEvent("e", "x", 1, 1, b"{}"),)),
    "elsewhere": Append("elsewhere", (), None, None),
    "id": Append("calls/d", (NewEvent("i" * 5_000_000, "x", 1, 1, b"{}"),)),
    "id in bytes": Append("calls/d", (NewEvent("é" * 1500, "x", 1, 1, b"{}"),)),
    "no Unicode": Append("calls/d", (NewEvent("lone \ud800", "x", 1, 1, b"{}"),)),
    "type": Append("calls/d", (NewEvent("e", "x" * 5_000_000, 1, 1, b"{}"),)),
    "schema": Append("calls/d", (NewEvent("e", "x", 10**400, 1, b"{}"),)),
    "late": Append("calls/d", (NewEvent("e", "x", 1, 2**62, b"{}"),)),
    "later": Append("calls/d", (NewEvent("e", "x", 1, 10**5000, b"{}"),)),
    "early": Append("calls/d", (NewEvent("e", "x", 1, -1, b"{}"),)),
}


def test_an_invalid_request_is_refused_alone_and_an_atomic_group_with_it(store: EventStore) -> None:
    for number, (name, request) in enumerate(INVALID.items(), 1):
        script = DebateScript(f"d{number}", seed=number)
        good = Append(script.calls, (script.exchange(),))
        none = store.append([good, request], atomic=True)
        kept, refused = store.append([good, request])

        assert [InvalidAppend] * 2 == [type(one) for one in none], name
        assert (Appended(script.calls, 1, 0), InvalidAppend) == (kept, type(refused)), name
        assert len(str(refused)) < 1000, name
        assert number == store.last_position(), name
    assert [] == store.append([])


def test_the_longest_names_fit_into_every_index(store: EventStore) -> None:
    """Random, because PostgreSQL compresses what it can."""
    draw = random.Random(1)
    stream, event_id = ("".join(draw.choices(string.ascii_letters, k=size)) for size in (494, 2000))
    request = Append(f"calls/{stream}", (NewEvent(event_id, "x", 1, 1, b"{}"),))

    assert [Appended(f"calls/{stream}", 1, 0)] == store.append([request])
    assert [Appended(f"calls/{stream}", 1, 1)] == store.append([request])


def test_calls_may_be_imported_under_their_versions(store: EventStore) -> None:
    script = DebateScript("d")
    answers = store.append(
        [Append(script.calls, (script.exchange(),), 7), Append(script.calls, (script.exchange(),), 0)]
    )

    assert [WrongVersion, Appended] == [type(answer) for answer in answers]


CONTENTS = (b"", b"\x00", b"a\x00b", b"\xed\xa0\x80", bytes(range(256)), "日本語 \u2028".encode(), b"x" * 10_000_000)


def test_a_text_is_read_byte_for_byte(store: EventStore) -> None:
    parts = tuple(make_part(content, bytes(16)) for content in CONTENTS)
    event = NewEvent("e", "x", 1, END_OF_TIME - 1, b'{"at":"\\u0000 \\ud800"}', parts)

    store.append([Append("calls/d", (event,))])

    assert store.parts("d") == {part.digest: part for part in parts}
    (stored,) = store.read_stream("calls/d")
    assert (stored.body, stored.recorded_at) == (event.body, event.recorded_at)


def test_named_texts_of_several_debates_are_read_at_once(store: EventStore) -> None:
    one, two = DebateScript("one"), DebateScript("two", seed=2)
    store.append([Append(one.stream, (one.opened(),), 0, 1), Append(two.stream, (two.opened(),), 0, 1)])
    (first, *_), (*_, last) = (sorted(store.parts(name)) for name in ("one", "two"))

    found = store.named_parts({"one": [first, last, bytes(32)], "two": [last], "none": [first]})

    assert found == {"one": store.parts("one", [first]), "two": store.parts("two", [last])}
    assert {} == store.named_parts({}) == store.named_parts({"one": []})


def test_texts_are_deleted_only_with_or_after_the_record_of_it(store: EventStore) -> None:
    script = DebateScript("d")
    store.append([Append(script.stream, (script.opened("private"),), 0, 1)])
    digest = script.pen.make("private").digest
    checked = Append(script.stream, (script.checked(),), 1, 1)
    with pytest.raises(ErasureNotRecorded):
        store.delete_parts("d", [digest])
    with pytest.raises(ErasureNotRecorded):
        store.append([checked], atomic=True, erase=[digest])
    (stale,) = store.append([Append(script.stream, (script.erased("private"),), 0, 1)], atomic=True, erase=[digest])

    assert isinstance(stale, WrongVersion)
    assert (1, 3) == (store.last_position(), len(store.parts("d")))

    store.append([Append(script.stream, (script.erased("private"),), 1, 1)])

    assert 1 == store.delete_parts("d", [digest, bytes(32)])
    assert 2 == len(store.parts("d"))
    before = store.histories(["d"])
    store.scrub()
    store.scrub(0)
    assert store.histories(["d"]) == before
    assert [Appended(script.stream, 3, 0)] == store.append([checked._replace(expected_version=2)])


def test_a_closed_store_raises(store: EventStore) -> None:
    store.close()
    store.close()

    with pytest.raises(StoreClosed):
        store.append([Append("calls/d", ())])


def _seal(size: int, *, note: bytes = b"note") -> Seal:
    return Seal(size, bytes([size]) * 32, bytes([size]) * 64, note, 1_700_000_000_000_000 + size)


def test_seals_are_read_by_size_and_the_first_of_a_size_stays(store: EventStore) -> None:
    assert ([], None) == (store.seals(), store.latest_seal())
    kept = [store.store_seal(one) for one in (_seal(7), _seal(3), _seal(12), _seal(3, note=b"another"), _seal(3))]

    assert [True, True, True, False, False] == kept
    assert [_seal(3), _seal(7), _seal(12)] == store.seals()
    assert _seal(12) == store.latest_seal()


def test_attestations_are_stored_once_and_read_in_one_order(store: EventStore) -> None:
    kept = [Attestation(size, kind, content, 7) for size, kind, content in (
        (12, "cosignature", b"b"), (3, "timestamp", b"\x00\xff"), (3, "cosignature", b"a"),
    )]  # fmt: skip

    assert store.attestations() == []
    assert [True] * 3 == [store.store_attestation(one) for one in kept]
    assert not store.store_attestation(kept[0]._replace(kept_at=8))
    assert [kept[2], kept[1], kept[0]] == store.attestations()


def test_the_first_origin_of_a_debate_stays(store: EventStore) -> None:
    for name, origin in (("d", b"\x00seal\xff"), ("d", b"other"), ("e", b"")):
        script = DebateScript(name)
        store.append([Append(script.stream, (script.opened(),), 0, store.next_epoch())], atomic=True, origin=origin)

    assert [b"\x00seal\xff", b"", None] == [store.origin(name) for name in ("d", "e", "f")]
    assert store.origins(["f", "d"]) == {"d": b"\x00seal\xff"}


def write(store: EventStore, number: int) -> None:
    script = DebateScript(f"d{number}", seed=number)
    store.append([Append(script.stream, script.whole(), 0, 1)])


def test_it_has_what_a_file_has(sqlite_url: str) -> None:
    """Its tables, indexes and guards, but not the revision, which is for upgrades."""
    store = MemoryEventStore()
    file = Path(sqlite_url.removeprefix("sqlite:///")).as_uri()
    names = []
    for address in (store.address, file):
        with closing(sqlite3.connect(address, uri=True)) as connection:
            names.append(
                {*connection.execute("SELECT type, name FROM sqlite_schema WHERE tbl_name <> 'alembic_version'")}
            )

    assert names[0] == names[1]
    assert ("trigger", "events_refuse_update") in names[0]


def test_each_store_is_its_own_and_is_read_after_it_was_closed() -> None:
    store, other = MemoryEventStore(), MemoryEventStore()
    write(store, 1)
    store.close()
    store.close()

    assert (6, 0) == (store.last_position(), other.last_position())
    assert ["d1"] == [row.debate_id for row in store.list_debates()]
    with pytest.raises(ReadOnlyStore):
        write(store, 2)


def test_threads_write_and_read_at_once_and_a_reader_may_write() -> None:
    store = MemoryEventStore()

    def write_and_read(number: int) -> int:
        write(store, number)
        return len([write(store, 100 + number) for _ in store.ballots()]) + len(store.list_debates())

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(write_and_read, range(16)))

    assert 32 == len(store.list_debates()) == store.runs()[0].completed
    assert min(found) >= 2
    assert not store.list_faults()

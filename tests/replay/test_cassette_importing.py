"""A cassette imported into another store: missing events are added, existing ones stay, and its export is equal."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jury_migrations import upgrade
from jury_replay import (
    Cassette,
    ErasureUnasked,
    ImportResult,
    OtherDebate,
    Provenance,
    RecordDamaged,
    import_cassette,
    read_cassette,
    seal_fault,
    trust_fault,
    verify,
    write_cassette,
)
from jury_store import Append, EventStore, MemoryEventStore, SealKey, WrongVersion, open_store, read_checkpoint
from support.cassettes import KEY, erase_text, out_of, record_debate, seal
from support.debates import DebateScript
from support.unguarded import unguarded


@pytest.fixture
def origin(tmp_path: Path) -> Iterator[EventStore]:
    """A SQLite store of three debates, sealed twice."""
    store = a_sqlite_store(tmp_path / "origin.db")
    for number, name in enumerate(("a", "d", "z")):
        record_debate(store, name, seed=number + 1)
        seal(store)
    yield store
    store.close()


@pytest.fixture
def other(tmp_path: Path) -> Iterator[EventStore]:
    """A store with another debate."""
    store = a_sqlite_store(tmp_path / "other.db")
    record_debate(store, "unrelated", seed=77)
    yield store
    store.close()


def a_sqlite_store(path: Path) -> EventStore:
    upgrade(f"sqlite:///{path}")
    return open_store(f"sqlite:///{path}", write=True)


@pytest.fixture
def read(tmp_path: Path) -> Callable[[bytes], Cassette]:
    def reads(content: bytes) -> Cassette:
        path = tmp_path / "read.cassette.jsonl"
        path.write_bytes(content)
        return read_cassette(path)

    return reads


Read = Callable[[bytes], Cassette]


def test_what_goes_in_comes_out_with_the_seal_of_its_origin(origin: EventStore, other: EventStore, read: Read) -> None:
    content = out_of(origin)

    taken = import_cassette(other, read(content))
    seal(other)

    assert taken == ImportResult("d", events=8, parts=7, erased=0, withheld=0)
    assert out_of(other) == content
    assert verify(other).ok


def test_a_debate_goes_back_to_where_it_came_from(origin: EventStore, read: Read) -> None:
    before = origin.last_position()

    taken = import_cassette(origin, read(out_of(origin)))

    assert (taken.events, origin.last_position(), origin.origin("d")) == (0, before, None)


def test_the_rest_of_a_debate_is_added(origin: EventStore, read: Read) -> None:
    script, store = DebateScript("d"), MemoryEventStore()
    begins, evaluated, exchange = script.begins(), script.evaluated(), script.exchange()
    store.append([Append(script.stream, begins, 0, 1)])
    early = write_cassette(store.histories(["d"])[0])
    store.append([Append(script.calls, (exchange,)), Append(script.stream, (evaluated,), 2, 1)])
    late = write_cassette(store.histories(["d"])[0])
    copy = MemoryEventStore()

    first, rest, back = (import_cassette(copy, read(content)) for content in (early, late, early))

    assert (first.events, rest.events, back.events) == (2, 2, 0)
    assert out_of(copy) == late


def test_another_debate_of_that_id_is_refused(origin: EventStore, other: EventStore, read: Read) -> None:
    record_debate(other, "d", seed=5)
    before = out_of(other)

    with pytest.raises(OtherDebate, match="they differ from event 1 of debate/d on"):
        import_cassette(other, read(out_of(origin)))

    assert out_of(other) == before


def test_another_debate_that_opened_alike_is_refused_too(read: Read) -> None:
    one, other = MemoryEventStore(), MemoryEventStore()
    for store, second in ((one, "evaluated"), (other, "failed")):
        script = DebateScript("d")
        opened = script.opened()
        store.append([Append(script.stream, (opened, getattr(script, second)()), 0, 1)])

    with pytest.raises(OtherDebate, match="they differ from event 2 of debate/d on"):
        import_cassette(other, read(out_of(one)))


def test_a_debate_that_is_damaged_here_is_not_continued(read: Read) -> None:
    store, copy = MemoryEventStore(), MemoryEventStore()
    record_debate(store)
    record_debate(copy)
    with unguarded(copy) as connection:
        connection.execute("DELETE FROM parts WHERE debate_id = 'd' AND digest = ?", (min(copy.parts("d")),))

    with pytest.raises(RecordDamaged, match="of this store does not verify"):
        import_cassette(copy, read(out_of(store)))


def test_a_text_that_was_erased_here_is_not_brought_back(read: Read) -> None:
    store, copy = MemoryEventStore(), MemoryEventStore()
    record_debate(store)
    record_debate(copy)
    erase_text(copy, "d", b"because")

    taken = import_cassette(copy, read(out_of(store)))

    assert taken == ImportResult("d", 0, 0, 0, withheld=1)
    assert b"because" not in [part.content for part in copy.parts("d").values()]


def test_what_the_origin_erased_goes_here_too_when_asked_for(read: Read) -> None:
    store, copy = MemoryEventStore(), MemoryEventStore()
    record_debate(store)
    import_cassette(copy, read(out_of(store)))
    erase_text(store, "d", b"because")

    with pytest.raises(ErasureUnasked, match="the erasure of 1 texts of this store"):
        import_cassette(copy, read(out_of(store)))
    kept = len(copy.parts("d"))
    taken = import_cassette(copy, read(out_of(store)), erase=True)

    assert (kept, taken) == (7, ImportResult("d", 1, 0, erased=1, withheld=0))
    assert copy.parts("d") == store.parts("d")
    assert verify(copy).ok


def test_texts_whose_erasure_is_recorded_and_that_are_still_there_leave_no_store() -> None:
    store = MemoryEventStore()
    record_debate(store)
    erase_text(store, "d", b"because", delete=False)

    with pytest.raises(RecordDamaged, match="although its erasure is recorded: finish it or repeat it with jury erase"):
        out_of(store)


def test_a_seal_shows_by_whom_and_over_what(origin: EventStore, read: Read) -> None:
    cassette = read(out_of(origin))
    kept = origin.seals()[-1].note
    stranger = SealKey("example.com/jury", bytes(31) + b"\1").public

    assert cassette.seal is not None
    assert trust_fault(cassette.history.portable.streams, cassette.seal, [KEY.public], read_checkpoint(kept)) is None
    assert "none of the keys" in str(trust_fault(cassette.history.portable.streams, cassette.seal, [stranger], None))
    assert "carries no seal" in str(trust_fault(cassette.history.portable.streams, None, [KEY.public], None))
    assert "of one size" in str(
        trust_fault(cassette.history.portable.streams, cassette.seal, [], read_checkpoint(origin.seals()[0].note))
    )


def test_events_after_the_seal_are_not_trusted(origin: EventStore, read: Read) -> None:
    erase_text(origin, "d", b"because")

    cassette = read(out_of(origin))

    assert cassette.seal is not None
    assert "covers 6 of 7 events of debate/d" in str(
        trust_fault(cassette.history.portable.streams, cassette.seal, [KEY.public], None)
    )


def test_a_proof_of_something_else_is_refused(origin: EventStore, read: Read) -> None:
    mine, others = read(out_of(origin, "d")), read(out_of(origin, "z"))
    assert mine.seal is not None
    assert others.seal is not None
    place = mine.seal.streams["debate/d"]

    def fault(**fields: object) -> str:
        changed = {**mine.seal.streams, "debate/d": place.changed(**fields)}
        return str(seal_fault(mine.history.portable.streams, mine.seal.changed(streams=changed)))

    assert seal_fault(mine.history.portable.streams, mine.seal) is None
    assert "does not show" in fault(leaf=place.leaf + 1)
    assert "does not show" in fault(version=place.version - 1)
    assert "does not show" in fault(proof=place.proof[:-1])
    assert "does not show" in fault(proof=(*place.proof[:-1], "A" * 43))
    assert "which has 6" in fault(version=7)
    assert "not about the streams" in str(seal_fault(mine.history.portable.streams, others.seal))
    assert "not a checkpoint" in str(seal_fault(mine.history.portable.streams, mine.seal.changed(note="hello")))


def test_a_seal_that_does_not_fit_the_log_is_not_passed_on(origin: EventStore) -> None:
    (latest,) = origin.seals()[-1:]
    liar = MemoryEventStore()
    record_debate(liar)
    liar.store_seal(latest._replace(tree_size=7))

    with pytest.raises(RecordDamaged, match="does not fit the log"):
        out_of(liar)


def test_an_import_that_fails_leaves_no_seal_for_another_debate_of_that_id(
    origin: EventStore, other: EventStore, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    cassette = read(out_of(origin))
    with monkeypatch.context() as patched:
        patched.setattr(other, "append", lambda requests, **_: [WrongVersion("full")] * len(requests))
        with pytest.raises(WrongVersion):
            import_cassette(other, cassette)
    record_debate(other, "d", seed=5)

    report = verify(other)

    assert report.failures == ()


@pytest.mark.parametrize(
    ("kept", "says"),
    [
        (b'{"note":"x","streams":{}}', "the note of its seal: this is not a checkpoint"),
        (b'{"note":"x", "streams":{}}', "it is not written as it was"),
        (b"\xff", "it is damaged"),
    ],
)
def test_a_seal_of_an_import_that_does_not_fit_is_found_and_not_passed_on(
    other: EventStore, kept: bytes, says: str
) -> None:
    other.append([Append("debate/unrelated", (), 0, other.next_epoch())], atomic=True, origin=kept)

    report = verify(other)

    what = f"debate/unrelated: the seal that it was imported with: {says}"
    assert [one for one in map(str, report.failures) if one.startswith(what)]
    with pytest.raises(RecordDamaged, match="a seal is stored with it, and no import with a seal is recorded"):
        out_of(other, "unrelated")


def test_any_other_place_in_the_seal_of_an_import_is_found(origin: EventStore, read: Read) -> None:
    copy = MemoryEventStore()
    import_cassette(copy, read(out_of(origin)))
    kept = copy.origins(["d"])["d"]
    # The log's name and size are protected by the signature, for a reader with the key.
    start, stop = kept.index(b"\\n24\\n") + 4, kept.index("—".encode())

    with unguarded(copy) as connection:
        for index in (*range(start, stop), *range(kept.index(b'"streams"'), len(kept))):
            connection.execute(
                "UPDATE origins SET seal = ?", (kept[:index] + bytes([kept[index] ^ 1]) + kept[index + 1 :],)
            )
            assert not verify(copy, ["d"]).ok, index


def test_a_log_of_many_blocks_is_proven(read: Read) -> None:
    store = MemoryEventStore()
    for number in range(150):  # 1050 events: more than one block of 256, in two levels, and a rest
        record_debate(store, f"d{number}", seed=number)
    seal(store)
    provenance = Provenance(store)

    for record in store.histories([f"d{number}" for number in range(0, 150, 7)]):
        found = provenance.seal_of(record)
        assert found is not None
        assert seal_fault(record.portable.streams, found) is None

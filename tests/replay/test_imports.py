"""The log records imports of cassettes, with their seals, and quarantined debates."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jury_events import (
    NOT_EXCLUDED,
    DebateImported,
    DebateNotFound,
    HumanReviewed,
    LaterEvents,
    ReviewWithdrawn,
    SignedLengths,
    Verdict,
    VersionRange,
    encode,
    local_facts,
    local_stream,
    review_stream,
)
from jury_judge.store_access.integrity_state import integrity_states
from jury_replay import (
    ALL_STORED,
    EVERYTHING,
    CassetteDamaged,
    CassetteError,
    Provenance,
    QuarantineRefused,
    RecordDamaged,
    adoption_fault,
    auditor,
    debates_over,
    import_cassette,
    quarantine,
    read_cassette,
    release,
    seal_digest,
    signing,
    trusted_lengths,
    verify,
    write_cassette,
)
from jury_store import Append, DebateFilter, EventStore, MemoryEventStore, SealKey, open_store
from support.cassettes import (
    KEY,
    canonical_line,
    erase_text,
    exported,
    out_of,
    record_debate,
    seal,
    sealed_store,
    with_its_hash,
)
from support.each_row import each_row
from support.unguarded import unguarded

pytestmark = pytest.mark.full_for("postgresql")


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest) -> Iterator[EventStore]:
    """An empty store of each kind."""
    if request.param == "sqlite":
        yield MemoryEventStore()
        return
    opened = open_store(request.getfixturevalue("postgres_url"), write=True)
    yield opened
    opened.close()


@pytest.fixture
def imported(store: EventStore, tmp_path: Path) -> Callable[..., EventStore]:
    """Imports cassettes into the store."""

    def imports(*contents: bytes, verified_with: str | None = None) -> EventStore:
        for content in contents:
            path = tmp_path / "one.cassette.jsonl"
            path.write_bytes(content)
            import_cassette(store, read_cassette(path), erase=True, verified_with=verified_with, clock=lambda: 7)
        return store

    return imports


Imports = Callable[..., EventStore]
STRANGER = SealKey("example.com/jury", bytes(31) + b"\1").public


def test_an_import_is_in_the_log_with_what_came_and_its_seal(imported: Imports) -> None:
    store = imported(out_of(sealed_store()), verified_with="example.com/jury")

    (record,) = store.histories(["d"])
    (marker,) = local_facts(record.stored_local).imports
    origin = store.origin("d")

    assert origin is not None
    assert marker == DebateImported(
        debate=VersionRange(after=0, until=6),
        calls=VersionRange(after=0, until=2),
        review=VersionRange(after=0, until=0),
        seal=seal_digest(origin),
        sealed_by="example.com/jury",
        verified_with="example.com/jury",
        lengths=None,
        number=1,
    )
    assert record.stored_local[0].recorded_at == 7
    assert verify(store).ok


@pytest.mark.parametrize(
    ("sealed", "verified_with", "shown"),
    [
        (False, None, ("unsealed", None)),
        (True, None, ("sealed", "example.com/jury")),
        (True, "example.com/jury", ("verified", "example.com/jury")),
    ],
)
def test_lists_say_what_was_imported_and_so_do_lists_made_anew(
    imported: Imports, sealed: bool, verified_with: str | None, shown: tuple[str, str | None]
) -> None:
    store = imported(out_of(sealed_store()) if sealed else exported(sealed_store()), verified_with=verified_with)
    record_debate(store, "own", seed=9)

    before = store.debate("d"), store.debate("own")
    store.rebuild()

    assert before == (store.debate("d"), store.debate("own"))
    assert {row.debate_id: (row.imported, row.imported_from) for row in store.debates()} == {
        "d": shown,
        "own": (None, None),
    }
    cases = store.cases_of(["d", "own"])
    assert (cases["d"].imported, cases["own"].imported) == (shown[0], None)
    assert ["d"] == [row.debate_id for row in store.list_debates(DebateFilter("run", imported=True))]
    assert ["own"] == [row.debate_id for row in store.list_debates(DebateFilter("run", imported=False))]


def test_each_import_that_adds_something_is_recorded(imported: Imports) -> None:
    origin = sealed_store()
    early = out_of(origin)
    erase_text(origin, "d", b"because")
    late = exported(origin)

    store = imported(early, early, late)
    first, second = local_facts(store.histories(["d"])[0].stored_local).imports

    assert (first.debate, second.debate, second.seal) == (
        VersionRange(after=0, until=6),
        VersionRange(after=6, until=7),
        None,
    )
    assert store.debate("d").imported == "unsealed"  # type: ignore[union-attr]
    assert verify(store).ok


def test_an_import_that_adds_nothing_is_not_recorded(imported: Imports, store: EventStore) -> None:
    record_debate(store)

    imported(exported(store))

    assert store.read_stream(local_stream("d")) == []


def test_a_seal_that_is_gone_or_another_is_found(tmp_path: Path) -> None:
    path = tmp_path / "d.cassette.jsonl"
    path.write_bytes(out_of(sealed_store()))
    gone, other = MemoryEventStore(), MemoryEventStore()
    for store in (gone, other):
        import_cassette(store, read_cassette(path))
    with unguarded(gone) as connection:
        connection.execute("DELETE FROM origins")
    with unguarded(other) as connection:
        connection.execute("UPDATE origins SET seal = CAST(seal || ' ' AS BLOB)")

    assert [str(one) for one in verify(gone).failures] == ["local/d (imported/1): the seal of its import is missing"]
    assert "local/d (imported/1): the seal stored with it is not that of the import" in map(str, verify(other).failures)


def test_a_stream_that_was_taken_away_after_its_import_is_found(tmp_path: Path) -> None:
    store = MemoryEventStore()
    path = tmp_path / "d.cassette.jsonl"
    path.write_bytes(out_of(sealed_store()))
    import_cassette(store, read_cassette(path))
    with unguarded(store) as connection:
        for table in ("events", "streams"):
            connection.execute(f"DELETE FROM {table} WHERE stream IN ('debate/d', 'calls/d')")

    failures = list(map(str, verify(store, ["d"]).failures))

    assert "local/d (imported/1): 6 events of debate/d were imported, stored are 0" in failures


def test_a_debate_under_the_seal_of_a_trusted_key_may_be_adopted(imported: Imports) -> None:
    store = imported(out_of(sealed_store()))

    def fault(*keys: SealKey) -> str | None:
        (record,) = store.histories(["d"])
        return adoption_fault(record, store.origin("d"), [key.public for key in keys])

    assert fault(KEY) is None
    seal(store)
    erase_text(store, "d", b"because")  # an event of our own, after what was imported
    assert fault(KEY) is None
    (record,) = store.histories(["d"])
    assert "none of the keys" in str(adoption_fault(record, store.origin("d"), [STRANGER]))
    assert adoption_fault(record, None, [KEY.public]) == "it came without a seal"


def test_what_came_after_the_seal_keeps_a_debate_from_being_adopted(imported: Imports) -> None:
    origin = sealed_store()
    erase_text(origin, "d", b"because")

    store = imported(out_of(origin))

    (record,) = store.histories(["d"])
    said = adoption_fault(record, store.origin("d"), [KEY.public])
    assert said == "its seal covers 6 of the 7 events of debate/d that were imported"


def test_a_debate_in_quarantine_is_left_out_and_comes_back(store: EventStore) -> None:
    for number, name in enumerate(("a", "b"), 1):
        record_debate(store, name, seed=number)
    before = store.runs()

    done = [quarantine(store, "a", by="ops", reason="why") for _ in range(2)]

    assert done == [True, False]
    assert [row.debate_id for row in store.debates()] == ["b"]
    assert [row.debate_id for row in store.list_debates()] == ["b"]
    assert [(row.debate_id, row.quarantined) for row in store.debates(quarantined=True)] == [("a", "why")]
    assert [run.debates for run in store.runs()] == [1]
    assert ([*EVERYTHING.chunks(store)], [*ALL_STORED.chunks(store)]) == ([["b"]], [["a", "b"]])
    assert store.cases_of(["a"])["a"].quarantined == "why"
    assert "a" in debates_over(store, store.debates(quarantined=True)[0].case_id)  # erasing reaches it
    rows = store.debates(), store.debates(quarantined=True)
    store.rebuild()
    assert rows == (store.debates(), store.debates(quarantined=True))

    back = [release(store, "a", by="ops") for _ in range(2)]
    again = quarantine(store, "a", by="ops", reason="again"), release(store, "a", by="ops")

    assert (back, again) == ([True, False], (True, True))
    assert [row.debate_id for row in store.debates()] == ["a", "b"]
    assert store.runs() == before
    assert [event.event_id for event in store.read_stream(local_stream("a"))] == [
        "quarantined/1",
        "released/1",
        "quarantined/2",
        "released/2",
    ]
    assert verify(store).ok


def test_only_what_is_stored_can_be_set_aside_for_a_reason_of_one_line(store: EventStore) -> None:
    record_debate(store)

    with pytest.raises(DebateNotFound, match="there is no debate 'x'"):
        quarantine(store, "x", by="ops", reason="why")
    with pytest.raises(QuarantineRefused, match=r"reason: .* one line"):
        quarantine(store, "d", by="ops", reason="two\nlines")


def test_a_debate_imported_without_a_seal_is_exported_without_one(imported: Imports) -> None:
    store = imported(exported(sealed_store()))
    seal(store)

    assert out_of(store) == exported(store), "this log's seal would vouch for events of another writer"


def test_what_came_under_a_seal_that_is_gone_does_not_leave_at_all(tmp_path: Path) -> None:
    store = MemoryEventStore()
    path = tmp_path / "one.cassette.jsonl"
    path.write_bytes(out_of(sealed_store()))
    import_cassette(store, read_cassette(path), clock=lambda: 7)
    seal(store)
    with unguarded(store) as connection:
        connection.execute("DELETE FROM origins")

    with pytest.raises(RecordDamaged, match="the seal of its import is missing; see jury verify d"):
        out_of(store)
    (state,) = integrity_states(store, store.histories(["d"]))
    assert not state.intact


AT = 1_700_000_000_000_000
ANOTHER = SealKey("example.com/other", bytes(31) + b"\1")
ANN = HumanReviewed(
    reviewer="ann",
    verdict=Verdict.UNSAFE_FAIL,
    reason=None,
    blind=True,
    sampled=False,
    minutes=None,
    supersedes=None,
    number=1,
)
BO = ANN.changed(reviewer="bo", verdict=Verdict.SAFE_PASS, number=2)
WITHDRAWN = ReviewWithdrawn(withdraws=2, by="bo", reason=None, number=3)


def origin(reviews: int = 3) -> EventStore:
    """A sealed store of the debate `d`, with so many events of reviews: two verdicts, and the second withdrawn."""
    store = MemoryEventStore()
    record_debate(store)
    for number, event in enumerate((ANN, BO, WITHDRAWN)[:reviews]):
        store.append([Append(review_stream("d"), (encode(event, recorded_at=number),), number)])
    seal(store)
    return store


def signed(store: EventStore, key: SealKey = KEY, name: str = "d") -> bytes:
    (history,) = store.histories([name])
    return write_cassette(history, Provenance(store).seal_of(history), signing(key, lambda: AT))


def cut(whole: bytes, keep: int) -> bytes:
    """The cassette of the store as it was with `keep` events of reviews, with the lengths that were signed later."""
    shorter = signed(origin(keep)).splitlines(keepends=True)
    return with_its_hash([*shorter[:-1], whole.splitlines(keepends=True)[-1]])


@pytest.fixture
def read(tmp_path: Path) -> Callable[[bytes], Any]:
    """Reads a cassette of these bytes."""

    def reads(content: bytes) -> Any:
        path = tmp_path / "one.cassette.jsonl"
        path.write_bytes(content)
        return read_cassette(path)

    return reads


def test_an_import_under_a_trusted_key_is_complete_as_of_its_export(
    store: EventStore, read: Callable[[bytes], Any]
) -> None:
    cassette = read(signed(origin()))
    lengths = trusted_lengths(cassette.lengths, [KEY.public]).signed
    import_cassette(store, cassette, verified_with=KEY.public.name, lengths=lengths, clock=lambda: 7)
    (history,) = store.histories(["d"])

    assert SignedLengths(signed_by="example.com/jury", at=AT) == lengths
    assert LaterEvents(AT, "example.com/jury") == history.local.later_events
    assert verify(store).ok


def test_without_lengths_or_under_a_key_that_is_not_trusted_later_events_are_not_excluded(
    store: EventStore, read: Callable[[bytes], Any]
) -> None:
    cassette = read(signed(origin(), ANOTHER))
    lengths, fault = trusted_lengths(cassette.lengths, [KEY.public])
    import_cassette(store, cassette, lengths=lengths, clock=lambda: 7)
    (history,) = store.histories(["d"])

    assert (None, None) == (lengths, fault)
    assert NOT_EXCLUDED == history.local.later_events


def test_a_second_import_with_lengths_confirms_what_is_there(store: EventStore, read: Callable[[bytes], Any]) -> None:
    (history,) = origin().histories(["d"])
    import_cassette(store, read(write_cassette(history)), clock=lambda: 7)
    for _ in range(2):
        import_cassette(store, read(signed(origin())), lengths=SignedLengths(signed_by="k", at=AT), clock=lambda: 8)
    (here,) = store.histories(["d"])

    assert LaterEvents(AT, "k") == here.local.later_events
    assert 2 == len(here.local.imports)
    assert verify(store).ok


@each_row("kept", [0, 1, 2])
def test_a_cut_stream_of_reviews_is_refused_with_both_lengths(read: Callable[[bytes], Any], kept: int) -> None:
    with pytest.raises(CassetteDamaged) as refused:
        read(cut(signed(origin()), kept))

    assert f"the stream review/d has {kept} events here, and 3 in the lengths signed by example.com/jury" in (
        str(refused.value)
    )
    assert "as of 2023-11-14T22:13:20Z" in str(refused.value)


def test_an_empty_stream_is_signed_as_empty(read: Callable[[bytes], Any]) -> None:
    empty, one = signed(origin(0)), signed(origin(1))
    longer = with_its_hash([*one.splitlines(keepends=True)[:-1], empty.splitlines(keepends=True)[-1]])

    assert 0 == json.loads(empty.splitlines()[-1])["lengths"]["debates"]["d"]["review/d"]["events"]
    with pytest.raises(CassetteDamaged, match="review/d has 1 events here, and 0 in the lengths"):
        read(longer)


def test_the_lengths_of_another_cassette_are_refused(read: Callable[[bytes], Any]) -> None:
    both = MemoryEventStore()
    record_debate(both)
    record_debate(both, "e", seed=2)
    ours, theirs = (signed(both, name=name).splitlines(keepends=True) for name in ("d", "e"))
    with pytest.raises(CassetteDamaged, match="its signed lengths are of e, not of d"):
        read(with_its_hash([*ours[:-1], theirs[-1]]))


def test_lengths_over_other_lines_with_the_same_streams_are_refused(read: Callable[[bytes], Any]) -> None:
    later = origin()
    record_debate(later, "e", seed=2)
    seal(later)
    lines = signed(later).splitlines(keepends=True)
    with pytest.raises(CassetteDamaged, match="its texts or its seal are not those of the lengths signed by"):
        read(with_its_hash([*lines[:-1], signed(origin()).splitlines(keepends=True)[-1]]))


def test_whatever_line_is_changed_left_out_or_swapped_no_trusted_lengths_remain(
    read: Callable[[bytes], Any],
) -> None:
    lines = signed(origin()).splitlines(keepends=True)
    spoilt = {
        **{f"without {at}": [*lines[:at], *lines[at + 1 :]] for at in range(1, len(lines))},
        **{f"{at} twice": [*lines[: at + 1], *lines[at:]] for at in range(1, len(lines))},
        **{
            f"swapped {at}": [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]
            for at in range(1, len(lines) - 1)
        },
    }
    for name, content in spoilt.items():
        with pytest.raises(CassetteError):
            pytest.fail(f"{name}: {read(with_its_hash(content))}")


def mutants(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every JSON value with one leaf changed, left out, or with a field added; and the path of the change."""
    if not isinstance(value, dict):
        yield place, value + 1 if isinstance(value, int) else f"{value[:-3]}AAA" if value[-3:] != "AAA" else value[:-1]
        return
    for key, item in value.items():
        yield f"{place}.{key} left out", {name: one for name, one in value.items() if name != key}
        for path, other in mutants(item, f"{place}.{key}"):
            yield path, {**value, key: other}
    yield f"{place} and more", {**value, "more": 1}


def test_whatever_field_of_the_lengths_is_changed_they_are_not_trusted(read: Callable[[bytes], Any]) -> None:
    lines = signed(origin()).splitlines(keepends=True)
    for path, other in mutants(json.loads(lines[-1])):
        try:
            found = read(with_its_hash([*lines[:-1], canonical_line(other)]))
        except CassetteError:
            continue
        trusted = trusted_lengths(found.lengths, [KEY.public])

        assert trusted.signed is None, path


def test_the_second_verifier_refuses_a_cut_stream_too(tmp_path: Path) -> None:
    path = tmp_path / "one.cassette.jsonl"
    path.write_bytes(cut(signed(origin()), 1))

    with pytest.raises(auditor.Wrong, match="review/d has 1 events, signed are 3"):
        auditor.audit(path, [], None)

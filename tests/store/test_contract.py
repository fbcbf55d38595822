"""The contract suite of `EventStore`, run over every implementation."""

import subprocess
import sys

import pytest

from jury_events import END_OF_TIME, GENESIS, NewEvent, decode, make_part, stored_hash
from jury_store import Append, Appended, Attestation, EventConflict, EventStore, Fenced, Seal, StoreClosed, WrongVersion
from jury_store.errors import ErasureNotRecorded, InvalidAppend
from support.debates import DebateScript


def test_events_are_read_as_appended(store: EventStore) -> None:
    script = DebateScript("d")
    events = script.whole()

    answers = store.append([Append(script.stream, events, 0, store.next_epoch())])

    assert answers == [Appended(script.stream, 5, 0)]
    stored = store.read_stream(script.stream)
    assert [(e.position, e.version, e.event_id, e.type, e.schema, e.recorded_at, e.body) for e in stored] == [
        (n, n, e.event_id, e.type, e.schema, e.recorded_at, e.body) for n, e in enumerate(events, 1)
    ]
    assert decode(stored[0]).event_id == "opened"


def test_each_hash_binds_the_event_to_the_one_before(store: EventStore) -> None:
    script = DebateScript("d")

    store.append([Append(script.stream, (script.opened(), script.evaluated()), 0, 1)])
    store.append([Append(script.stream, (script.checked(),), 2, 1)])

    previous = GENESIS
    for event in store.read_stream(script.stream):
        assert event.hash == stored_hash(previous, event)
        previous = event.hash
    head = store.heads([script.stream])[script.stream]
    assert (head.version, head.epoch, head.hash) == (3, 1, previous)


def test_a_stream_that_does_not_exist_is_empty(store: EventStore) -> None:
    assert store.read_stream("debate/none") == []
    assert store.heads(["debate/none"]) == {}
    assert store.read_streams(["debate/none"]) == {}
    assert store.first_events(["debate/none"]) == {}
    assert store.parts("none") == {}
    assert store.read_all() == []
    assert store.last_position() == 0


def test_reading_continues_after_a_version_and_a_position(store: EventStore) -> None:
    one, two = DebateScript("one"), DebateScript("two", seed=2)
    store.append([Append(one.stream, one.whole(), 0, 1), Append(two.stream, two.whole(), 0, 1)])

    assert [e.version for e in store.read_stream(one.stream, after=3)] == [4, 5]
    assert [e.position for e in store.read_all(after=4, limit=3)] == [5, 6, 7]
    assert {name: len(events) for name, events in store.read_streams([one.stream, two.stream]).items()} == {
        one.stream: 5,
        two.stream: 5,
    }
    first = {name: store.read_stream(name)[0] for name in (one.stream, two.stream)}
    assert first == store.first_events([one.stream, two.stream, "debate/none"])


def test_a_stale_expected_version_is_refused(store: EventStore) -> None:
    script = DebateScript("d")
    store.append([Append(script.stream, (script.opened(),), 0, 1)])

    (answer,) = store.append([Append(script.stream, (script.checked(),), 0, 1)])

    assert isinstance(answer, WrongVersion)
    assert "debate/d is at version 1, not 0" in str(answer)
    assert len(store.read_stream(script.stream)) == 1


def test_an_expected_version_beyond_the_end_is_refused(store: EventStore) -> None:
    script = DebateScript("d")

    (answer,) = store.append([Append(script.stream, (script.opened(),), 1, 1)])

    assert isinstance(answer, WrongVersion)
    assert store.read_all() == []


def test_an_older_epoch_is_fenced(store: EventStore) -> None:
    script = DebateScript("d")
    old, new = store.next_epoch(), store.next_epoch()
    store.append([Append(script.stream, (script.opened(),), 0, old)])
    store.append([Append(script.stream, (script.resumed(),), 1, new)])

    (answer,) = store.append([Append(script.stream, (script.checked(),), 2, old)])

    assert new > old
    assert isinstance(answer, Fenced)
    assert f"another process took over this store (its epoch is {new}, this one's is {old})" in str(answer)
    assert str(answer).endswith("let the other process finish, or end it, and run the same command again")
    assert len(store.read_stream(script.stream)) == 2


def test_an_append_without_events_fences_older_writers(store: EventStore) -> None:
    script = DebateScript("d")
    store.append([Append(script.stream, (script.opened(),), 0, 1)])

    answers = store.append([Append(script.stream, (), 0, 2), Append(script.stream, (script.checked(),), 1, 1)])

    assert answers[0] == Appended(script.stream, 1, 0)
    assert isinstance(answers[1], Fenced)
    assert store.heads([script.stream])[script.stream].epoch == 2


def test_an_append_without_events_creates_no_stream(store: EventStore) -> None:
    store.append([Append("debate/d", (), 0, 2)])

    assert store.heads(["debate/d"]) == {}


def test_a_fenced_writer_can_still_record_calls(store: EventStore) -> None:
    script = DebateScript("d")
    store.append([Append(script.stream, (script.opened(),), 0, 5)])

    answers = store.append([Append(script.calls, (script.exchange(),))])

    assert answers == [Appended(script.calls, 1, 0)]


def test_the_store_assigns_the_versions_of_calls(store: EventStore) -> None:
    script = DebateScript("d")

    answers = store.append([Append(script.calls, (script.exchange(n),)) for n in (1, 2, 3)])

    assert answers == [Appended(script.calls, n, 0) for n in (1, 2, 3)]
    assert [e.version for e in store.read_stream(script.calls)] == [1, 2, 3]


def test_a_refused_request_does_not_affect_its_group(store: EventStore) -> None:
    good, bad, other = DebateScript("good"), DebateScript("bad", seed=2), DebateScript("other", seed=3)

    answers = store.append(
        [
            Append(good.stream, (good.opened(),), 0, 1),
            Append(bad.stream, (bad.opened(),), 7, 1),
            Append(other.calls, (other.exchange(),)),
        ]
    )

    assert [type(answer) for answer in answers] == [Appended, WrongVersion, Appended]
    assert [event.stream for event in store.read_all()] == [good.stream, other.calls]
    assert [event.position for event in store.read_all()] == [1, 2]
    assert store.parts("bad") == {}


def test_an_append_sent_twice_is_stored_once(store: EventStore) -> None:
    script = DebateScript("d")
    request = Append(script.stream, script.whole(), 0, 1)
    store.append([request])

    answers = store.append([request])

    assert answers == [Appended(script.stream, 5, 5)]
    assert store.last_position() == 5


def test_an_append_twice_in_one_group_is_stored_once(store: EventStore) -> None:
    script = DebateScript("d")
    request = Append(script.calls, (script.exchange(),))

    answers = store.append([request, request])

    assert answers == [Appended(script.calls, 1, 0), Appended(script.calls, 1, 1)]


def test_a_repeat_with_fresh_salts_and_times_is_the_same(store: EventStore) -> None:
    first, again, juror = (DebateScript("d", seed=number) for number in (1, 2, 3))
    store.append([Append(first.stream, first.whole(), 0, 1), Append(first.calls, (first.exchange(),))])
    before, parts = store.read_all(), store.parts("d")

    answers = store.append([Append(again.stream, again.whole(), 0, 1), Append(juror.calls, (juror.exchange(),))])

    assert answers == [Appended(first.stream, 5, 5), Appended(first.calls, 1, 1)]
    assert store.read_all() == before
    assert store.parts("d") == parts


def test_a_repeat_needs_its_texts(store: EventStore) -> None:
    first, again = DebateScript("d", seed=1), DebateScript("d", seed=2)
    store.append([Append(first.stream, (first.opened(),), 0, 1)])

    (answer,) = store.append([Append(again.stream, (again.opened()._replace(parts=()),), 0, 1)])

    assert isinstance(answer, EventConflict)


def test_new_events_after_repeats_are_stored_with_their_texts(store: EventStore) -> None:
    first, again = DebateScript("d", seed=1), DebateScript("d", seed=2)
    store.append([Append(first.calls, (first.exchange(1, answer="same"),))])

    repeated, fresh = again.exchange(1, answer="same"), again.exchange(2, answer="same")
    (answer,) = store.append([Append(again.calls, (repeated, fresh))])

    assert answer == Appended(first.calls, 2, 1)
    assert fresh.parts == ()
    assert again.pen.make("same").digest in store.parts("d")


@pytest.mark.parametrize("change", ["text", "field", "type", "schema"])
def test_a_different_event_with_a_stored_id_is_a_conflict(store: EventStore, change: str) -> None:
    first, again = DebateScript("d", seed=1), DebateScript("d", seed=2)
    store.append([Append(first.calls, (first.exchange(),))])
    other = again.exchange(cost=0.5) if change == "field" else again.exchange(answer="no" if change == "text" else "{}")
    if change == "type":
        other = other._replace(type="statement_made")
    if change == "schema":
        other = other._replace(schema=9)

    (answer,) = store.append([Append(first.calls, (again.exchange(2), other))])

    assert isinstance(answer, EventConflict)
    assert "calls/d" in str(answer)
    assert store.last_position() == 1


@pytest.mark.parametrize("other", [b'{"a":1.0}', b'{"a":true}', b'{"a":1,"b":2}', b'{"a":[1]}', b'{"a":2}', b"{}"])
def test_fields_are_equal_only_in_value_and_type(store: EventStore, other: bytes) -> None:
    store.append([Append("calls/d", (NewEvent("e", "x", 1, 1, b'{"a":1}'),))])

    (answer,) = store.append([Append("calls/d", (NewEvent("e", "x", 1, 2, other),))])

    assert isinstance(answer, EventConflict)


def test_a_repeat_of_an_erased_text_counts_as_equal(store: EventStore) -> None:
    first, again = DebateScript("d", seed=1), DebateScript("d", seed=2)
    store.append([Append(first.stream, (first.opened("private"), first.erased("private")), 0, 1)])
    store.delete_parts("d", [first.pen.make("private").digest])

    (same,) = store.append([Append(first.stream, (again.opened("anything"),), 2, 1)])
    (other,) = store.append([Append(first.stream, (again.opened("anything", rules=2),), 2, 1)])

    assert same == Appended(first.stream, 2, 1)
    assert isinstance(other, EventConflict)


def test_a_stale_append_with_a_new_event_is_refused(store: EventStore) -> None:
    script = DebateScript("d")
    opened = script.opened()
    store.append([Append(script.stream, (opened,), 0, 1)])

    (answer,) = store.append([Append(script.stream, (opened, script.checked()), 0, 1)])

    assert isinstance(answer, WrongVersion)
    assert store.last_position() == 1


def test_a_repeat_by_a_new_writer_fences_the_old_one(store: EventStore) -> None:
    script = DebateScript("d")
    opened = script.opened()
    store.append([Append(script.stream, (opened,), 0, 1)])

    store.append([Append(script.stream, (opened,), 1, 2)])
    (answer,) = store.append([Append(script.stream, (script.checked(),), 1, 1)])

    assert isinstance(answer, Fenced)


@pytest.mark.parametrize(
    "request_",
    [
        Append("debate/d", (), None, 1),
        Append("debate/d", (), 0, None),
        Append("calls/d", (), None, 1),
        Append("elsewhere", (), None, None),
        Append("calls/d", (NewEvent("i" * 5_000_000, "x", 1, 1, b"{}"),)),
        Append("calls/d", (NewEvent("é" * 1500, "x", 1, 1, b"{}"),)),
        Append("calls/d", (NewEvent("e", "x" * 5_000_000, 1, 1, b"{}"),)),
        Append("calls/d", (NewEvent("e", "x", 10**400, 1, b"{}"),)),
        Append("calls/d", (NewEvent("e", "x", 1, 2**62, b"{}"),)),
        Append("calls/d", (NewEvent("e", "x", 1, 10**5000, b"{}"),)),
        Append("calls/d", (NewEvent("e", "x", 1, -1, b"{}"),)),
    ],
    ids=[
        "no version",
        "no epoch",
        "fenced",
        "elsewhere",
        "id",
        "id in bytes",
        "type",
        "schema",
        "late",
        "later",
        "early",
    ],
)
def test_an_invalid_request_is_refused(store: EventStore, request_: Append) -> None:
    (answer,) = store.append([request_])

    assert isinstance(answer, InvalidAppend)
    assert len(str(answer)) < 1000


def test_an_atomic_group_is_refused_as_a_whole(store: EventStore) -> None:
    script = DebateScript("d")
    opened, exchange = script.opened(), script.exchange()

    refused = store.append([Append(script.stream, (opened,), 0, 1), Append(script.calls, (exchange,), 7)], atomic=True)
    nothing = store.last_position()
    kept = store.append([Append(script.stream, (opened,), 0, 1), Append(script.calls, (exchange,), 0)], atomic=True)

    assert [type(answer) for answer in refused] == [WrongVersion, WrongVersion]
    assert nothing == 0
    assert kept == [Appended(script.stream, 1, 0), Appended(script.calls, 1, 0)]


def test_a_value_that_the_database_cannot_store_refuses_an_atomic_group(store: EventStore) -> None:
    script = DebateScript("d")
    odd = NewEvent("e", "x", 2**70, 1, b"{}")

    answers = store.append([Append(script.stream, (script.opened(),), 0, 1), Append(script.calls, (odd,))], atomic=True)

    assert [type(answer) for answer in answers] == [InvalidAppend, InvalidAppend]
    assert store.last_position() == 0


def test_an_id_that_the_database_cannot_store_refuses_its_request_only(store: EventStore) -> None:
    script = DebateScript("d")
    odd = NewEvent("lone \ud800", "x", 1, 1, b"{}")

    answers = store.append([Append(script.calls, (script.exchange(),)), Append("calls/odd", (odd,))])

    assert answers[0] == Appended(script.calls, 1, 0)
    assert isinstance(answers[1], InvalidAppend)
    assert store.last_position() == 1


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00", b"a\x00b", b"\xed\xa0\x80", bytes(range(256)), "日本語 \u2028".encode(), b"x" * 10_000_000],
    ids=["empty", "nul", "nul inside", "lone surrogate", "all bytes", "japanese", "10 MB"],
)
def test_a_text_is_read_byte_for_byte(store: EventStore, content: bytes) -> None:
    part = make_part(content, bytes(16))
    event = NewEvent("e", "x", 1, END_OF_TIME - 1, b'{"at":"\\u0000 \\ud800"}', (part,))

    store.append([Append("calls/d", (event,))])

    assert store.parts("d") == {part.digest: part}
    (stored,) = store.read_stream("calls/d")
    assert (stored.body, stored.recorded_at) == (event.body, event.recorded_at)


def test_texts_are_found_by_digest_and_by_debate(store: EventStore) -> None:
    one, two = DebateScript("one"), DebateScript("two", seed=2)
    store.append([Append(one.stream, (one.opened(),), 0, 1), Append(two.stream, (two.opened(),), 0, 1)])
    wanted = one.pen.make("the case").digest

    assert store.parts("one", [wanted, bytes(32)]).keys() == {wanted}
    assert store.parts("one", [wanted])[wanted].content == b"the case"
    assert store.parts_of(["one", "two", "none"]) == {"one": store.parts("one"), "two": store.parts("two")}
    assert len(store.parts("one")) == 3


def test_named_texts_of_several_debates_are_read_at_once(store: EventStore) -> None:
    one, two = DebateScript("one"), DebateScript("two", seed=2)
    store.append([Append(one.stream, (one.opened(),), 0, 1), Append(two.stream, (two.opened(),), 0, 1)])
    (first, *_), (*_, last) = (sorted(store.parts(name)) for name in ("one", "two"))

    found = store.named_parts({"one": [first, last, bytes(32)], "two": [last], "none": [first]})

    assert found == {"one": store.parts("one", [first]), "two": store.parts("two", [last])}
    assert {} == store.named_parts({}) == store.named_parts({"one": []})


def test_texts_are_deleted_only_after_their_erasure_is_recorded(store: EventStore) -> None:
    script = DebateScript("d")
    store.append([Append(script.stream, (script.opened("private"),), 0, 1)])
    digest = script.pen.make("private").digest

    with pytest.raises(ErasureNotRecorded):
        store.delete_parts("d", [digest])

    store.append([Append(script.stream, (script.erased("private"),), 1, 1)])

    assert store.delete_parts("d", [digest, bytes(32)]) == 1
    assert digest not in store.parts("d")
    assert len(store.parts("d")) == 2


def test_texts_are_deleted_in_the_append_that_records_it(store: EventStore) -> None:
    script = DebateScript("d")
    store.append([Append(script.stream, (script.opened("private"),), 0, 1)])
    digest = script.pen.make("private").digest

    (answer,) = store.append([Append(script.stream, (script.erased("private"),), 1, 1)], atomic=True, erase=[digest])

    assert Appended("debate/d", 2, 0) == answer
    assert digest not in store.parts("d")
    assert len(store.parts("d")) == 2


def test_texts_stay_when_the_append_that_records_it_is_refused(store: EventStore) -> None:
    script = DebateScript("d")
    store.append([Append(script.stream, (script.opened("private"),), 0, 1)])
    erased = Append(script.stream, (script.erased("private"),), 0, 1)

    (answer,) = store.append([erased], atomic=True, erase=[script.pen.make("private").digest])

    assert isinstance(answer, WrongVersion)
    assert len(store.parts("d")) == 3
    assert store.last_position() == 1


def test_nothing_is_stored_when_an_erasure_is_not_recorded(store: EventStore) -> None:
    script = DebateScript("d")
    store.append([Append(script.stream, (script.opened("private"),), 0, 1)])
    checked = Append(script.stream, (script.checked(),), 1, 1)

    with pytest.raises(ErasureNotRecorded):
        store.append([checked], atomic=True, erase=[script.pen.make("private").digest])

    assert len(store.parts("d")) == 3
    assert store.last_position() == 1
    assert store.heads([script.stream])[script.stream].version == 1


def test_scrubbing_leaves_other_texts(store: EventStore) -> None:
    script = DebateScript("d")
    store.append([Append(script.stream, (script.opened("private"), script.erased("private")), 0, 1)])
    store.delete_parts("d", [script.pen.make("private").digest])
    before = store.histories(["d"])

    store.scrub()
    store.scrub(0)

    assert store.histories(["d"]) == before
    (answer,) = store.append([Append(script.stream, (script.checked(),), 2, 1)])
    assert answer == Appended(script.stream, 3, 0)


def test_epochs_count_up(store: EventStore) -> None:
    assert [store.next_epoch() for _ in range(3)] == [1, 2, 3]


def test_an_empty_group_has_no_results(store: EventStore) -> None:
    assert store.append([]) == []


def test_a_closed_store_raises(store: EventStore) -> None:
    store.close()
    store.close()

    with pytest.raises(StoreClosed):
        store.append([Append("calls/d", ())])


def _seal(size: int, *, note: bytes = b"note") -> Seal:
    return Seal(size, bytes([size]) * 32, bytes([size]) * 64, note, 1_700_000_000_000_000 + size)


def test_hashes_come_in_the_order_of_positions(store: EventStore) -> None:
    one, two = DebateScript("one"), DebateScript("two", seed=2)
    store.append([Append(one.stream, one.whole(), 0, 1), Append(two.stream, two.whole(), 0, 1)])

    expected = [(event.position, event.hash) for event in store.read_all()]

    assert expected == store.hashes()
    assert expected[4:7] == store.hashes(after=4, limit=3)
    assert [] == store.hashes(after=10)


def test_attestations_are_stored_once_and_read_in_one_order(store: EventStore) -> None:
    kept = [Attestation(size, kind, content, 7) for size, kind, content in (
        (12, "cosignature", b"b"), (3, "timestamp", b"\x00\xff"), (3, "cosignature", b"a"),
    )]  # fmt: skip

    assert store.attestations() == []
    assert [True] * 3 == [store.store_attestation(one) for one in kept]
    assert not store.store_attestation(kept[0]._replace(kept_at=8))
    assert [kept[2], kept[1], kept[0]] == store.attestations()


def test_a_log_that_was_never_sealed_has_no_seals(store: EventStore) -> None:
    assert store.seals() == []
    assert store.latest_seal() is None


def test_seals_are_read_in_the_order_of_their_size(store: EventStore) -> None:
    kept = [store.store_seal(_seal(size)) for size in (7, 3, 12)]

    assert kept == [True, True, True]
    assert [_seal(3), _seal(7), _seal(12)] == store.seals()
    assert _seal(12) == store.latest_seal()


def test_the_first_seal_of_a_size_stays(store: EventStore) -> None:
    store.store_seal(_seal(3))

    again = [store.store_seal(_seal(3, note=b"another")), store.store_seal(_seal(3))]

    assert again == [False, False]
    assert [_seal(3)] == store.seals()


def test_the_first_origin_of_a_debate_stays(store: EventStore) -> None:
    for name, origin in (("d", b"\x00seal\xff"), ("d", b"other"), ("e", b"")):
        script = DebateScript(name)
        store.append([Append(script.stream, (script.opened(),), 0, store.next_epoch())], atomic=True, origin=origin)

    assert [b"\x00seal\xff", b"", None] == [store.origin(name) for name in ("d", "e", "f")]
    assert store.origins(["f", "d"]) == {"d": b"\x00seal\xff"}


def test_the_memory_store_loads_no_database_library() -> None:
    code = "import sys, jury_store.memory; print([name for name in ('sqlalchemy', 'psycopg') if name in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert "[]\n" == out

"""Signed lengths: a cassette that was cut, or put together otherwise, does not fit what its store signed."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jury_events import (
    NOT_EXCLUDED,
    HumanReviewed,
    LaterEvents,
    ReviewWithdrawn,
    SignedLengths,
    Verdict,
    encode,
    review_stream,
)
from jury_replay import (
    CassetteDamaged,
    CassetteError,
    Provenance,
    auditor,
    import_cassette,
    read_cassette,
    signing,
    trusted_lengths,
    verify,
    write_cassette,
)
from jury_store import Append, EventStore, MemoryEventStore, SealKey, open_store
from support.cassettes import KEY, canonical_line, record_debate, seal, with_its_hash
from support.each_row import each_row

pytestmark = pytest.mark.full_for("postgresql")

AT = 1_700_000_000_000_000
STRANGER = SealKey("example.com/other", bytes(31) + b"\1")
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
    cassette = read(signed(origin(), STRANGER))
    lengths = trusted_lengths(cassette.lengths, [KEY.public]).signed
    import_cassette(store, cassette, lengths=lengths, clock=lambda: 7)
    (history,) = store.histories(["d"])

    assert lengths is None
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


def test_lengths_signed_anew_by_another_key_count_for_nothing(read: Callable[[bytes], Any]) -> None:
    found = trusted_lengths(read(signed(origin(1), STRANGER)).lengths, [KEY.public])

    assert (None, None) == found


def test_the_second_verifier_refuses_a_cut_stream_too(tmp_path: Path) -> None:
    path = tmp_path / "one.cassette.jsonl"
    path.write_bytes(cut(signed(origin()), 1))

    with pytest.raises(auditor.Wrong, match="review/d has 1 events, signed are 3"):
        auditor.audit(path, [], None)

"""A debate in one file: the same bytes from every writer, and no damaged file is imported."""

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from jury_events import DebateNotFound
from jury_replay import CassetteError, RecordDamaged, cassettes_in, read_cassette, write_cassette
from jury_store import MemoryEventStore
from support.cassettes import SEAL_SPOILINGS, SPOILINGS, a_cassette, exported, record_debate


@pytest.fixture
def store() -> MemoryEventStore:
    store = MemoryEventStore()
    record_debate(store, "other", seed=9)
    record_debate(store)
    return store


def test_what_is_read_is_what_was_stored(store: MemoryEventStore, tmp_path: Path) -> None:
    (kept,) = store.histories(["d"])
    path = tmp_path / "d.cassette.jsonl"
    path.write_bytes(exported(store))

    cassette = read_cassette(path)

    assert cassette.history.parts == kept.parts
    assert {
        name: [event._replace(position=0) for event in events] for name, events in cassette.history.streams.items()
    } == {name: [event._replace(position=0) for event in events] for name, events in kept.streams.items()}
    assert cassette.seal is None


def test_bytes_do_not_depend_on_other_debates_of_the_store(store: MemoryEventStore) -> None:
    assert exported(store) == a_cassette()


def test_the_first_line_describes_what_follows() -> None:
    first, rest = a_cassette().split(b"\n", 1)

    manifest = json.loads(first)

    assert ("jury-judge 1", "d", 7, False) == tuple(
        manifest[name] for name in ("cassette", "debate_id", "parts", "sealed")
    )
    assert {name: end["events"] for name, end in manifest["streams"].items()} == {"debate/d": 6, "calls/d": 2}
    assert manifest["sha256"] == hashlib.sha256(rest).hexdigest()


SPOILT = [*SPOILINGS, *SEAL_SPOILINGS]


def test_a_spoilt_cassette_is_refused_by_name(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for spoiling in SPOILT:
        with subtests.test(spoiling=spoiling):
            path = tmp_path / "d.cassette.jsonl"
            path.write_bytes(spoiling.bytes())

            with pytest.raises(CassetteError) as refused:
                read_cassette(path)

            assert str(refused.value).startswith(str(path))
            assert spoiling.says in str(refused.value)
            assert "\n" not in str(refused.value)


@pytest.mark.parametrize("step", [29, pytest.param(3, marks=pytest.mark.long)])
def test_a_flipped_byte_anywhere_is_refused(tmp_path: Path, step: int) -> None:
    path = tmp_path / "d.cassette.jsonl"
    whole = a_cassette()

    for index in range(0, len(whole), step):
        path.write_bytes(whole[:index] + bytes([whole[index] ^ 2]) + whole[index + 1 :])
        with pytest.raises(CassetteError):
            read_cassette(path)


@pytest.mark.parametrize("step", [71, pytest.param(7, marks=pytest.mark.long)])
def test_cuts_are_refused(tmp_path: Path, step: int) -> None:
    path = tmp_path / "d.cassette.jsonl"
    whole = a_cassette()

    for index in range(0, len(whole), step):
        path.write_bytes(whole[:index])
        with pytest.raises(CassetteError):
            read_cassette(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="none: cannot be read: No such file"):
        read_cassette(tmp_path / "none")
    with pytest.raises(CassetteError, match="Is a directory"):
        read_cassette(tmp_path)


def test_a_debate_that_was_never_opened_has_no_cassette() -> None:
    with pytest.raises(DebateNotFound, match="there is no debate 'd'"):
        write_cassette(MemoryEventStore().histories(["d"])[0])


def test_a_damaged_record_has_no_cassette(store: MemoryEventStore) -> None:
    (kept,) = store.histories(["d"])
    digest = min(kept.parts)
    parts = {**kept.parts, digest: kept.parts[digest]._replace(content=b"changed")}

    with pytest.raises(RecordDamaged, match="does not verify, so it is not exported"):
        write_cassette(replace(kept, parts=parts))


def test_a_pipe_in_a_folder_of_cassettes_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.cassette.jsonl")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "one.cassette.jsonl").touch()

    assert [tmp_path / "in" / "one.cassette.jsonl"] == list(cassettes_in([tmp_path]))

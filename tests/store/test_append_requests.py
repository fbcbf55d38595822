"""Reviews that another process asks the writer of a SQLite store to append: taken once, or not at all."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_events import HumanReviewed, Part, ReviewAssigned, Verdict, encode, make_part, review_stream
from jury_store import (
    MOST_APPENDS,
    MOST_BYTES,
    Append,
    Appended,
    AppendRequest,
    AppendTaker,
    EventConflict,
    InvalidAppend,
    MemoryEventStore,
    StoreError,
    StoreFailed,
    StoreUnreachable,
    WrongVersion,
    requests_folder,
)
from support.samples import sample_events

STREAM = review_stream("d")
SALT = bytes(16)


class Ground:
    """A database file's folder, and a process that writes to it, which looks when it is told to."""

    def __init__(self, folder: Path) -> None:
        self.database = folder / "jury.db"
        self.database.touch()
        self.store = MemoryEventStore()
        self.taker = AppendTaker(self.database, self.store.append)
        self.folder = requests_folder(self.database)

    def send(self, *appends: Append) -> AppendRequest:
        return AppendRequest.send(self.database, appends)

    def put(self, content: bytes) -> Path:
        """The request of a living process, with any bytes."""
        request = self.send(reviewed(1))
        (path,) = self.folder.iterdir()
        path.write_bytes(content)
        self.kept = request
        return path

    @property
    def recorded(self) -> list[str]:
        return [event.event_id for event in self.store.read_stream(STREAM)]


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


def reviewed(
    number: int, *, stream: str = STREAM, reason: str = "It paid twice.", parts: tuple[Part, ...] = ()
) -> Append:
    part = make_part(reason.encode(), SALT)
    event = HumanReviewed(
        reviewer="ann",
        verdict=Verdict.SAFE_PASS,
        reason=part.ref,
        blind=False,
        sampled=False,
        minutes=None,
        supersedes=None,
        number=number,
    )
    return Append(stream, (encode(event, recorded_at=17, parts=parts or (part,)),), number - 1)


def assigned(number: int, debate: int) -> Append:
    event = ReviewAssigned(reviewer="ann", by="boss", sample=None, number=number)
    return Append(review_stream(f"d{debate}"), (encode(event, recorded_at=17),), number - 1)


def test_the_writer_appends_what_it_is_asked_for_and_answers(ground: Ground) -> None:
    request = ground.send(reviewed(1), assigned(1, 7))
    before = request.answer()
    taken, again = ground.taker.take(), ground.taker.take()
    answer = request.answer()
    request.release()

    assert before is None
    assert (1, 0) == (taken, again)
    assert [Appended(STREAM, 1, 0), Appended(review_stream("d7"), 1, 0)] == answer
    (event,) = ground.store.read_stream(STREAM)
    assert reviewed(1).events[0].body == event.body
    assert [b"It paid twice."] == [one.content for one in ground.store.parts("d").values()]
    assert not ground.folder.exists()


def test_a_request_under_an_old_version_is_refused_and_the_others_are_stored(ground: Ground) -> None:
    ground.store.append([reviewed(1)])
    request = ground.send(reviewed(1, reason="Other words."), assigned(1, 7))
    ground.taker.take()
    refused, stored = request.answer() or []
    request.release()

    assert isinstance(refused, WrongVersion | EventConflict)
    assert isinstance(stored, Appended)


@given(st.lists(st.sampled_from(["send", "look", "withdraw", "die"]), max_size=12))
def test_whatever_the_order_a_request_is_recorded_once_or_was_withdrawn(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    ground = Ground(tmp_path_factory.mktemp("requests"))
    number, waiting, expected = 0, None, 0
    for step in [*steps, "look"]:
        if step == "send" and waiting is None:
            number += 1
            waiting = ground.send(assigned(1, number))
        elif step == "look":
            taken = ground.taker.take()
            assert taken == (waiting is not None and waiting.answer() is not None)
            expected += taken
        elif step == "withdraw" and waiting is not None:
            assert waiting.withdraw() == (waiting.answer() is None)
        if waiting is not None and (step in {"withdraw", "die"} or waiting.answer() is not None):
            waiting.release()
            waiting = None

    assert expected == ground.store.last_position()
    assert waiting is None
    assert not ground.folder.exists()


def test_the_request_of_a_process_that_died_is_dropped(ground: Ground) -> None:
    request = ground.send(reviewed(1))
    (path,) = ground.folder.iterdir()
    content = path.read_bytes()
    request.release()
    ground.folder.mkdir(mode=0o700)
    path.write_bytes(content)
    taken = ground.taker.take()

    assert 0 == taken
    assert [] == ground.recorded
    assert not path.exists()


def test_a_request_that_is_being_written_waits(ground: Ground) -> None:
    path = ground.put(b'{"format": 1, "app')
    taken = ground.taker.take()

    assert 0 == taken
    assert path.exists()


@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "foreign name"])
def test_what_is_no_regular_file_is_left_alone_and_blocks_nothing(ground: Ground, tmp_path: Path, kind: str) -> None:
    request = ground.send(reviewed(1))
    special = ground.folder / ("0.txt" if kind == "foreign name" else "0.request")
    if kind == "pipe":
        os.mkfifo(special)
    elif kind == "link":
        special.symlink_to(tmp_path / "jury.db")
    elif kind == "folder":
        special.mkdir()
    else:
        special.write_bytes(b"{}\n")
    ground.taker.take()

    assert request.answer() is not None
    assert special.is_symlink() or special.exists()
    request.release()


def changed(**fields: Any) -> bytes:
    """A valid request but for these fields of its append, or of its event."""
    ground_event = reviewed(1).events[0]
    event = {
        "event_id": ground_event.event_id,
        "type": ground_event.type,
        "schema_number": ground_event.schema,
        "recorded_at": 17,
        "body": ground_event.body.decode(),
        "parts": [{"salt": "AAAAAAAAAAAAAAAAAAAAAA==", "content": "SXQgcGFpZCB0d2ljZS4="}],
    }
    append = {"stream": STREAM, "expected_version": 0, "event": event}
    for name, value in fields.items():
        (append if name in append else event)[name] = value
    return json.dumps({"format": 1, "appends": [append]}).encode() + b"\n"


def test_the_valid_request_of_these_tests_is_accepted(ground: Ground) -> None:
    ground.put(changed())
    ground.taker.take()

    assert [reviewed(1).events[0].event_id] == ground.recorded


ASSIGNED = assigned(1, 7).events[0]
COMPLETED = encode(sample_events()["list_completed"], recorded_at=17)
REFUSED = (
    b"\n",
    b"nonsense\n",
    b'{"format": 2, "appends": []}\n',
    changed(stream="debate/d"),
    changed(stream="local/d"),
    changed(expected_version=100),
    changed(expected_version=-1),
    changed(type="review_withdrawn"),
    changed(type="debate_opened"),
    changed(body="{}"),
    changed(parts=[]),
    changed(parts=[{"salt": "AAAAAAAAAAAAAAAAAAAAAA==", "content": "b3RoZXI="}]),
    changed(parts=[{"salt": "AA==", "content": "SXQgcGFpZCB0d2ljZS4="}]),
    # An assignment names no text, and brings one.
    changed(event_id=ASSIGNED.event_id, type=ASSIGNED.type, schema_number=ASSIGNED.schema, body=ASSIGNED.body.decode()),
    changed(
        stream="run/r",
        event_id=COMPLETED.event_id,
        type=COMPLETED.type,
        schema_number=COMPLETED.schema,
        body=COMPLETED.body.decode(),
        parts=[],
    ),
    b"x" * (MOST_BYTES + 1),
)


def test_what_is_no_review_is_refused_and_the_writer_goes_on(ground: Ground) -> None:
    for number, content in enumerate(REFUSED, 1):
        path = ground.put(content)
        descriptor = os.open(path, os.O_RDONLY)
        ground.taker.take()
        answer = json.loads(os.pread(descriptor, 10_000, min(len(content), MOST_BYTES + 1)))
        os.close(descriptor)
        request = ground.send(reviewed(number))
        ground.taker.take()

        assert [] == answer["results"], content[:200]
        assert answer["failed"]
        assert not path.exists()
        assert request.answer() == [Appended(STREAM, number, 0)]
        request.release()


def test_a_writer_that_fails_says_so(ground: Ground) -> None:
    def full(_requests: object) -> Any:
        raise StoreFailed("the disk is full; make room")

    request = ground.send(reviewed(1))
    AppendTaker(ground.database, full).take()

    with pytest.raises(StoreFailed, match="the disk is full"):
        request.answer()
    request.release()


def test_a_folder_that_others_may_write_to_is_not_used(ground: Ground) -> None:
    for mode in (0o777, 0o770, 0o702):
        request = ground.send(reviewed(1))
        ground.folder.chmod(mode)
        taken = ground.taker.take()
        request.release()
        ground.folder.mkdir(exist_ok=True)
        ground.folder.chmod(mode)

        assert 0 == taken
        with pytest.raises(StoreUnreachable, match="can be written by other users"):
            ground.send(reviewed(1))
        ground.folder.rmdir()


def test_too_much_for_one_request_is_refused_before_it_is_sent(ground: Ground) -> None:
    for appends in ([reviewed(1, reason="x" * MOST_BYTES)], [assigned(1, one) for one in range(MOST_APPENDS + 1)]):
        with pytest.raises(InvalidAppend, match="too much for one request"):
            ground.send(*appends)
    assert not ground.folder.exists()


def test_an_answer_of_another_version_is_a_store_error(ground: Ground) -> None:
    request = ground.send(reviewed(1))
    (path,) = ground.folder.iterdir()
    path.write_bytes(path.read_bytes() + b'{"answer": "of the future"}\n')

    with pytest.raises(StoreError, match="cannot read"):
        request.answer()
    request.release()


def test_a_folder_that_another_process_removes_meanwhile_is_made_again(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The release of the last request removes the folder, at any moment of another's sending."""
    lstat = Path.lstat

    def removed_before(path: Path) -> os.stat_result:
        if path == ground.folder and path.exists():
            path.rmdir()
        return lstat(path)

    ground.folder.mkdir(mode=0o700)
    monkeypatch.setattr(Path, "lstat", removed_before)
    request = ground.send(reviewed(1))
    monkeypatch.undo()
    ground.taker.take()
    answer = request.answer()
    request.release()

    assert [Appended(STREAM, 1, 0)] == answer

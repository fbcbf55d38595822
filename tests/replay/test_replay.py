"""Verdicts follow from what the models said, or it is told where they don't. Hashes say nothing here: they fit."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jury_events.envelope import NewEvent, StoredEvent
from jury_events.ids import calls_stream, debate_stream
from jury_events.parts import Part, make_part
from jury_replay.cassettes.lines import SUFFIX
from jury_replay.cassettes.reading import read_cassette
from jury_replay.difference import Kind
from jury_replay.errors import DebateMissing
from jury_replay.replay import Replayed, Status, replay, replay_record
from jury_replay.selection import Selection
from jury_replay.verify import verify
from jury_store.event_store import Append, EventStore
from jury_store.inventory import DebateRecord
from jury_store.memory import MemoryEventStore
from support.corpus import CORPUS

CASSETTES = sorted(CORPUS.glob(f"*{SUFFIX}"))
SEQUENTIAL = "sequential-tools"

Change = Callable[[dict[str, Any]], None]


def _record(name: str) -> DebateRecord:
    return read_cassette(CORPUS / f"{name}{SUFFIX}").record


def _forged(
    record: DebateRecord,
    *,
    change: dict[str, Change] | None = None,
    without: tuple[str, ...] = (),
    text: Callable[[bytes], bytes] = lambda content: content,
) -> EventStore:
    """The debate written anew by somebody who computes every hash: bodies changed, events left out, texts changed."""
    changes = change or {}
    parts = {part.ref.part: _part(part, text(part.content)) for part in record.parts.values()}
    store = MemoryEventStore()
    for stream, epoch in ((calls_stream(record.debate_id), None), (debate_stream(record.debate_id), 1)):
        events = [
            _event(stored, changes.get(stored.event_id), parts)
            for stored in record.events[stream]
            if stored.event_id not in without
        ]
        first, *rest = events
        brought = tuple(parts.values()) if epoch is None else ()
        expected = None if epoch is None else 0
        store.append([Append(stream, (first._replace(parts=brought), *rest), expected, epoch)])
    return store


def _part(part: Part, content: bytes) -> Part:
    return make_part(content, part.salt)


def _event(stored: StoredEvent, change: Change | None, parts: dict[str, Part]) -> NewEvent:
    body = json.loads(stored.body)
    if change is not None:
        change(body)
    raw = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for ref, part in parts.items():
        raw = raw.replace(ref, part.ref.part)
    return NewEvent(stored.event_id, stored.type, stored.schema, stored.recorded_at, raw.encode())


def _replayed(store: EventStore, record: DebateRecord) -> Replayed:
    assert verify(store).ok, "a forger who computes the hashes anew is not found by them"
    return replay_record(store.records([record.debate_id])[0])


@pytest.mark.parametrize("path", CASSETTES, ids=lambda path: path.name.removesuffix(SUFFIX))
def test_every_recorded_debate_of_the_corpus_comes_out_equal(path: Path) -> None:
    replayed = replay_record(read_cassette(path).record)

    assert (Status.EQUAL, ()) == (replayed.status, replayed.differences)


def test_a_debate_written_anew_as_it_was_is_equal() -> None:
    record = _record(SEQUENTIAL)

    assert _replayed(_forged(record), record).status is Status.EQUAL


def _set(*path: str | int, to: Any) -> Change:
    def change(body: dict[str, Any]) -> None:
        place: Any = body
        for key in path[:-1]:
            place = place[key]
        assert place[path[-1]] != to
        place[path[-1]] = to

    return change


FORGED: dict[str, tuple[str, Change, Kind]] = {
    "a verdict": ("initial/sim-policy/evaluated", _set("evaluation", "verdict", to="unsafe_fail"), Kind.EVENT),
    "a confidence": ("initial/sim-policy/evaluated", _set("evaluation", "confidence", to=0.01), Kind.EVENT),
    "the model that answered": (
        "initial/sim-policy/evaluated", _set("evaluation", "model_version", to="another"), Kind.EVENT,
    ),
    "that nobody simulated": ("initial/sim-policy/evaluated", _set("evaluation", "simulated", to=False), Kind.EVENT),
    "a check": ("initial/check", _set("check", "largest", to=3), Kind.EVENT),
    "why a discussion ended": ("round-1/check", _set("end_reason", to="max_rounds"), Kind.EVENT),
    "a change of position": (
        "round-1/sim-misuse/statement", _set("statement", "position_changed", to=True), Kind.EVENT,
    ),
    "a speaker order": (
        "round-1/started", _set("speaker_order", to=["sim-misuse", "sim-policy", "sim-security"]), Kind.EVENT,
    ),
    "the judgment": ("final/judgment", _set("judgment", "verdict", to="safe_pass"), Kind.EVENT),
    "a vote": ("final/judgment", _set("judgment", "votes", 0, "confidence", to=0.99), Kind.EVENT),
    "the final verdict": ("completed", _set("final_verdict", to="safe_pass"), Kind.EVENT),
    "the rounds": ("completed", _set("total_rounds", to=0), Kind.EVENT),
    "whether tools were offered": ("initial/sim-policy/simulated%2Fjuror/1/1", _set("tools", to=False), Kind.CALL),
    "a call's settings": (
        "initial/sim-policy/simulated%2Fjuror/1/1", _set("settings", "temperature", to=1.5), Kind.CALL,
    ),
    "the outcome of a call": (
        "round-1/sim-policy/simulated%2Fjuror/1/1", _set("outcome", to="blocked"), Kind.EVENT,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_record_whose_hashes_fit_is_found(name: str) -> None:
    event_id, change, kind = FORGED[name]
    record = _record(SEQUENTIAL)

    replayed = _replayed(_forged(record, change={event_id: change}), record)

    assert replayed.status is Status.DIFFERENT
    assert kind in {difference.kind for difference in replayed.differences}
    assert replayed.differences[0].place in {event_id, *_following(record, event_id)}


def _following(record: DebateRecord, event_id: str) -> list[str]:
    """What may be named as well: the events of the call's step."""
    step = event_id.rsplit("/", 3)[0]
    return [one.event_id for one in record.events[debate_stream(record.debate_id)] if one.event_id.startswith(step)]


TEXTS: dict[str, tuple[str, str, Kind]] = {
    "an answer": ('"confidence": 0.75', '"confidence": 0.25', Kind.EVENT),
    "what a prompt says": ("You are Juror A", "You are Judge A", Kind.PROMPT),
    "what a round's prompt says": ("discussion (round 1)", "discussion (round 9)", Kind.PROMPT),
    "what a tool answered": ('{"count":1', '{"count":7', Kind.TOOL),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_forged_text_whose_digest_fits_is_found(name: str) -> None:
    old, new, kind = TEXTS[name]
    record = _record(SEQUENTIAL)
    assert any(old.encode() in part.content for part in record.parts.values())
    store = _forged(record, text=lambda content: content.replace(old.encode(), new.encode()))

    replayed = _replayed(store, record)

    assert replayed.status is Status.DIFFERENT
    assert kind in {difference.kind for difference in replayed.differences}


def test_a_call_that_follows_from_nothing_is_found() -> None:
    """The second try is said to have failed for good: then there was no third."""
    record = _record("repairs-and-fallbacks")
    change = {"initial/gemini/simulated%2Fjuror/1/2": _set("outcome", to="bad_request")}

    replayed = _replayed(_forged(record, change=change), record)

    assert replayed.status is Status.DIFFERENT
    assert any("initial/gemini" in difference.place for difference in replayed.differences)


def test_a_debate_that_was_not_finished_is_equal_as_far_as_it_came() -> None:
    record = _record("tie-of-two")
    store = _forged(record, without=("final/judgment", "completed"))

    replayed = _replayed(store, record)

    assert (Status.EQUAL, 4) == (replayed.status, replayed.events)


def test_a_name_that_is_no_debate_is_an_error() -> None:
    with pytest.raises(DebateMissing, match="there is no debate 'nope'"):
        list(replay(MemoryEventStore(), Selection(("nope",))))

"""Batches that came in a cassette: believed under a trusted key alone; no call that may be answered is made twice."""

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jury_actors import batches_of
from jury_cases import case_of
from jury_events import GENESIS, EventError, StoredEvent, batch_facts, batch_stream, stored_hash
from jury_judge import HostedRun, Jury, Records, RunRefused, RunSettings, Selection, Sources, load_panel
from jury_replay import CassetteDamaged, quarantine, read_cassette, verify, write_cassette
from jury_replay.cassettes import writing
from jury_replay.integrity import Checked
from jury_store import Sealer, SealKey, open_store
from support.batch_double import BatchAccountDouble
from support.nights import Night, rows

KEY = SealKey("example.com/jury", bytes(32))
BATCH = ".batch.jsonl"


@pytest.fixture
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Night:
    """An empty store, into which batches are imported."""
    url = f"sqlite:///{tmp_path / 'other.db'}"
    if getattr(request, "param", "sqlite") == "postgresql":
        url = request.getfixturevalue("postgres_url")
    night = Night(url, BatchAccountDouble())
    night.read(lambda _store: None)
    return night


@pytest.fixture
async def night(tmp_path: Path) -> Night:
    """A run of which a batch is at the provider; its cassettes are in `sealed`."""
    night = Night(f"sqlite:///{tmp_path / 'jury.db'}", BatchAccountDouble())
    night.account.ends = lambda _batch_id: False
    await night.session(once=True)
    with closing(open_store(night.url, write=True)) as store:
        seal = Sealer(store, KEY, lambda: 1).next()
        assert seal is not None
        store.store_seal(seal)
    async with Records(store_url=night.url) as records:
        await records.export_cassettes(Selection(run_id="night"), tmp_path / "sealed")
    return night


async def imported(other: Night, *paths: Path) -> None:
    async with Records(store_url=other.url) as records:
        await records.import_cassettes(list(paths))


def batch_file(folder: Path) -> Path:
    (found,) = (folder / "sealed").glob(f"*{BATCH}")
    return found


async def _live(other: Night) -> None:
    await other.live("night")


async def _batched(other: Night) -> None:
    await other.session()


async def _one(other: Night) -> None:
    async with Jury(store=other.url) as jury:
        await jury.evaluate(rows(1)[0], run_id="night")


async def _many(other: Night) -> None:
    async with Jury(store=other.url) as jury:
        async for _ in jury.evaluate_many(rows(3), run_id="night"):
            pass


async def _open_run(other: Night) -> None:
    settings = RunSettings.of(run_id="night", store_url=other.url, concurrency=1)
    with closing(open_store(other.url, write=False)) as store:
        await HostedRun(settings, load_panel("parallel-rounds", {}), print, {}).judge(case_of(rows(1)[0]), store)


DOORS = {"live": _live, "batches": _batched, "one case": _one, "many cases": _many, "an open run": _open_run}


@pytest.mark.parametrize("other", ["sqlite", pytest.param("postgresql", marks=pytest.mark.full)], indirect=True)
@pytest.mark.usefixtures("night")
async def test_a_batch_of_a_cassette_is_believed_by_no_door_without_a_key(
    other: Night, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    async def refused(what: str) -> None:
        for name, door in DOORS.items():
            with subtests.test(f"{name}, {what}"):
                with pytest.raises(
                    RunRefused, match=r"the batch night~batch~\w+ came in a cassette and is not adopted: no key is"
                ):
                    await door(other)
                assert {} == other.account.batches

    await imported(other, batch_file(tmp_path))
    await refused("the batch alone")
    await imported(other, tmp_path / "sealed")
    await refused("with its debates")

    assert () == other.read(lambda store: verify(store, deep=True).failures)


@pytest.mark.usefixtures("night")
async def test_what_a_trusted_key_sealed_is_followed_and_not_made_again(
    other: Night, night: Night, tmp_path: Path
) -> None:
    await imported(other, tmp_path / "sealed")
    async with Jury(store=other.url, sources=Sources(adopt=[KEY.public.line])) as jury:
        with pytest.raises(RunRefused, match="9 calls of run 'night' may be answered still in 1 batch"):
            async for _ in jury.evaluate_many(rows(3), run_id="night"):
                pass
    other.adopt = (KEY.public,)
    other.account = night.account
    night.account.ends = lambda _batch_id: True
    lines = await other.session()

    assert other.count == len(lines)
    assert [] == other.sent_twice()
    assert {1} == set(night.account.asked.values())


@pytest.mark.usefixtures("night")
async def test_another_key_adopts_nothing(other: Night, tmp_path: Path) -> None:
    await imported(other, tmp_path / "sealed")
    other.adopt = (SealKey("example.com/jury", bytes(31) + b"\1").public,)

    with pytest.raises(
        RunRefused, match="came in a cassette and is not adopted: the note of its seal: it is signed by"
    ):
        await other.session()


@pytest.mark.usefixtures("night")
async def test_a_person_frees_the_name_of_a_run_from_a_batch_of_a_stranger(other: Night, tmp_path: Path) -> None:
    await imported(other, batch_file(tmp_path))
    (name,) = other.read(lambda store: store.batch_ids("night"))
    with closing(open_store(other.url, write=True)) as store:
        quarantine(store, name, by="ann", reason="not ours")

    assert other.count == len(await other.live("night"))
    assert [] == other.read(lambda store: list(batches_of(store, "night")))


@pytest.mark.usefixtures("night")
async def test_a_cassette_that_ends_an_own_batch_ends_nothing(night: Night, tmp_path: Path) -> None:
    """Otherwise its calls would be free, and made again."""
    given = read_cassette(batch_file(tmp_path)).history
    stream = batch_stream(given.debate_id)
    ends = [
        event("batch_changed", ENDED),
        event("batch_items_unanswered", unanswered(*range(1, 10))),
        event("batch_closed", closing_of(0, 9, "results_gone")),
    ]
    closed = rewritten([*given.stored_batch, *ends])
    path = tmp_path / f"forged{BATCH}"
    path.write_bytes(write_cassette(given_with(given, stream, closed)))
    await imported(night, path)

    with pytest.raises(RunRefused, match="came in a cassette and is not adopted"):
        await night.session()
    with pytest.raises(RunRefused, match="came in a cassette and is not adopted"):
        await night.live("night")


ENDED = {"stage": "ended", "word": "completed", "number": 1}
CANCEL = {"cause": "person", "by": "ann"}


def closing_of(answered: int, unanswered: int, cause: str = "ended") -> dict[str, Any]:
    return {"cause": cause, "answered": answered, "unanswered": unanswered, "unknown": 0, "doubled": 0}


def unanswered(*items: int, number: int = 1) -> dict[str, Any]:
    return {"unanswered": [{"item": item, "end": "expired"} for item in items], "number": number}


_IDS = {
    "batch_changed": "changed/{number}",
    "batch_closed": "closed",
    "batch_submitted": "submitted/{number}",
    "batch_mistaken": "mistaken/{number}",
    "batch_items_unanswered": "unanswered/{number}",
    "batch_cancel_requested": "cancel-requested",
    "batch_uploaded": "uploaded",
    "batch_cancel_sent": "cancel-sent",
}


def event(kind: str, fields: dict[str, Any]) -> StoredEvent:
    body = json.dumps({"type": kind, **fields}, sort_keys=True, separators=(",", ":")).encode()
    return StoredEvent(0, "", 0, _IDS[kind].format(**fields), kind, 1, 2, body, b"")


def rewritten(events: list[StoredEvent]) -> list[StoredEvent]:
    """The events as a stream, with their hashes."""
    found: list[StoredEvent] = []
    previous = GENESIS
    for version, one in enumerate(events, 1):
        new = one._replace(stream=events[0].stream, version=version, position=version)
        previous = stored_hash(previous, new)
        found.append(new._replace(hash=previous))
    return found


def given_with(history: Any, stream: str, events: list[StoredEvent]) -> Any:
    """The history with another stream."""
    head = history.heads[stream]._replace(version=len(events), hash=events[-1].hash)
    return replace(history, streams={stream: events}, heads={stream: head})


@pytest.fixture
def unverified(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes cassettes that do not verify."""
    monkeypatch.setattr(writing, "check_debate", lambda _history: Checked(0, 0, 0, 0, ()))


OUT_OF_ORDER: list[tuple[list[tuple[str, dict[str, Any]]], str]] = [
    ([("batch_closed", closing_of(9, 0))], "its provider has not said that it has ended"),
    ([("batch_changed", ENDED), ("batch_closed", closing_of(9, 1))], "are not the 9 of it"),
    (
        [("batch_changed", ENDED), ("batch_closed", closing_of(0, 9))],
        "9 items are said to be unanswered, and 0 are",
    ),
    (
        [("batch_changed", ENDED), ("batch_closed", closing_of(9, 0)), ("batch_cancel_requested", CANCEL)],
        "closed before",
    ),
    ([("batch_closed", closing_of(0, 9, "not_submitted"))], "it was submitted"),
    ([("batch_changed", ENDED | {"number": 2})], "it says that it is change 2, after 0"),
    ([("batch_changed", ENDED), ("batch_changed", ENDED | {"number": 2})], "nothing changed"),
    ([("batch_cancel_sent", {})], "no end of it was asked for"),
    ([("batch_changed", ENDED | {"answered": 9, "failed": 1})], "more are said to be done"),
    ([("batch_items_unanswered", unanswered(10))], "the batch has 9 items"),
    ([("batch_items_unanswered", unanswered(1, 1))], "an item is named twice"),
    (
        [("batch_items_unanswered", unanswered(1)), ("batch_items_unanswered", unanswered(1, number=2))],
        "named twice",
    ),
    ([("batch_uploaded", {"file_id": "f"})], "another event 'uploaded'"),
    (
        [
            (
                "batch_submitted",
                {"provider_id": "x", "found": True, "certain": True, "number": 2},
            )
        ],
        "it is submitted already, as sent-1",
    ),
    (
        [("batch_cancel_requested", {"cause": "deadline", "by": "ann"})],
        "a person has a name, and a deadline has none",
    ),
]
"""Events after those of a batch that is submitted, and what is said of them."""


@pytest.mark.usefixtures("night", "unverified")
async def test_events_out_of_their_order_are_refused_on_import_and_where_they_are_read(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    given = read_cassette(batch_file(tmp_path)).history
    stream = batch_stream(given.debate_id)
    path = tmp_path / f"forged{BATCH}"
    for more, said in OUT_OF_ORDER:
        events = rewritten([*given.stored_batch, *(event(*one) for one in more)])
        path.write_bytes(write_cassette(given_with(given, stream, events)))
        with subtests.test(said):
            with pytest.raises(CassetteDamaged, match=said):
                read_cassette(path)
            if "another event" not in said:  # a store has each id once
                with pytest.raises(EventError, match=said):
                    batch_facts(events)


ABSURD: list[tuple[int, str, Any, str]] = [
    (0, "items", 8, "after 0 of the 8 items"),
    (0, "items", 10, "9 of its 10 items are listed before"),
    (0, "run_id", "day", "it prepares another batch"),
    (0, "provider", "google", "the batch was prepared for"),
    (1, "first", 2, "items from number 2 on, after 0"),
]
"""The event by its number, a field of it, its value, and what is said."""


@pytest.mark.usefixtures("night", "unverified")
async def test_absurd_counts_are_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    given = read_cassette(batch_file(tmp_path)).history
    stream = batch_stream(given.debate_id)
    path = tmp_path / f"forged{BATCH}"
    for event_number, field, to, said in ABSURD:
        events = list(given.stored_batch)
        body = json.loads(events[event_number].body) | {field: to}
        raw = json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
        events[event_number] = events[event_number]._replace(body=raw)
        if field == "first":
            events[event_number] = events[event_number]._replace(event_id="items/2")
        path.write_bytes(write_cassette(given_with(given, stream, rewritten(events))))
        with subtests.test(said), pytest.raises(CassetteDamaged, match=said):
            read_cassette(path)

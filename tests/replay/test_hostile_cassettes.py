"""Cassettes of an attacker who computes every hash: no import breaks a later command.

300 mutants of the corpus in the suite; `pytest -m long tests/replay/test_hostile_cassettes.py` makes 10,000.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from jury_events import DebateHistory, JuryError, NewEvent, Part, debate_stream, local_stream
from jury_migrations import upgrade
from jury_replay import check_debate, import_cassette, quarantine, read_cassette, verify
from jury_store import Append, EventStore, StoreError, open_store
from support.commands_after_import import what_breaks
from support.mutants import Mutant, mutants

_AT_ONCE = 500
"""Mutants that go into one store."""


def batches(number: int, seed: int) -> Iterator[list[Mutant]]:
    found = mutants(number, seed)
    while batch := list(islice(found, _AT_ONCE)):
        yield batch


@pytest.fixture(params=[60, pytest.param(10_000, marks=[pytest.mark.long, pytest.mark.timeout(7200)])])
def number(request: pytest.FixtureRequest) -> int:
    """Of mutants."""
    found: int = request.param
    return found


def a_store(folder: Path) -> EventStore:
    folder.mkdir()
    url = f"sqlite:///{folder / 'jury.db'}"
    upgrade(url)
    return open_store(url, write=True)


@pytest.mark.full
def test_no_cassette_that_is_taken_in_breaks_a_later_command(number: int, tmp_path: Path) -> None:
    taken_in, broken = 0, []
    for at, batch in enumerate(batches(number, seed=1)):
        folder = tmp_path / f"{at}"
        store = a_store(folder)
        accepted = [one.record.debate_id for one in batch if taken(store, one, tmp_path)]
        report = verify(store)
        store.close()
        taken_in += len(accepted)
        broken += [str(one) for one in report.failures]
        broken += what_breaks(folder, accepted, accepted[::5])

    assert broken == []
    assert taken_in >= number // 15  # those that nothing was done to alone are as many


def taken(store: EventStore, mutant: Mutant, folder: Path) -> bool:
    path = folder / "mutant.cassette.jsonl"
    path.write_bytes(mutant.cassette())
    try:
        import_cassette(store, read_cassette(path))
    except JuryError:
        return False
    return True


@pytest.mark.full
def test_a_store_that_has_such_debates_from_before_continues_without_them(number: int, tmp_path: Path) -> None:
    number = min(number, 3000)
    seen, broken = 0, []
    for at, batch in enumerate(batches(number, seed=2)):
        folder = tmp_path / f"{at}"
        store = a_store(folder)
        stored = [one for one in batch if put(store, one.record)]
        spoilt = {one.record.debate_id for one in stored if check_debate(one.record).failures}
        found = {one.stream.partition("/")[2] for one in verify(store).failures}
        store.close()
        seen += len(stored)
        broken += [f"verify does not find {one}" for one in spoilt - found]
        names = [one.record.debate_id for one in stored]
        broken += what_breaks(folder, names, names[::7])

    assert broken == []
    assert seen >= number // 2


def put(store: EventStore, record: DebateHistory) -> bool:
    """Whether a store takes the rows, whose content is not checked."""
    requests = []
    parts: tuple[Part, ...] = tuple(record.parts.values())
    for stream, events in record.streams.items():
        new = tuple(
            NewEvent(one.event_id, one.type, one.schema, one.recorded_at, one.body, parts if one is events[0] else ())
            for one in events
        )
        epoch = store.next_epoch() if stream == debate_stream(record.debate_id) else None
        requests.append(Append(stream, new, None if stream.startswith("calls/") else 0, epoch))
    try:
        answers = store.append(requests, atomic=True)
    except (JuryError, ValueError, LookupError, TypeError, RecursionError, OverflowError):
        return False
    return bool(answers) and not any(isinstance(one, StoreError) for one in answers)


def test_debates_that_cannot_be_read_are_listed_by_name_and_set_aside(tmp_path: Path) -> None:
    store = a_store(tmp_path / "one")
    for mutant in mutants(200, seed=3):
        put(store, mutant.record)
    rows = [row for row in store.debates(limit=500) if row.status == "unreadable"]

    for row in rows:
        quarantine(store, row.debate_id, by="ops", reason="it cannot be read")

    assert len(rows) > 10
    assert all(row.problem for row in rows)
    assert [row for row in store.debates(limit=500) if row.status == "unreadable"] == []
    assert {row.debate_id for row in store.debates(quarantined=True, limit=500)} == {row.debate_id for row in rows}
    assert all(store.read_stream(local_stream(row.debate_id)) for row in rows)
    store.close()

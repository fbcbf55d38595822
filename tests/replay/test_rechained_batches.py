"""Fields of batches and of `via` that were changed, with all hashes computed anew: what in the log contradicts them."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from jury_events import EventError
from jury_judge import RunSupervision
from jury_migrations import upgrade
from jury_providers import BatchLine, ItemEnd, RefusedLine
from jury_replay import verify
from jury_store import MemoryEventStore, open_registry, open_store
from support.batch_double import BatchAccountDouble
from support.nights import Night
from support.rechained import Log, Place, at, leaves, put, rechained, whole_log

PANEL = """seats:
- {juror_id: a, model: openai/gpt-6-sol, fallbacks: []}
- {juror_id: b, model: openai/gpt-6-sol, fallbacks: []}
discussion: {max_rounds: 1, end_early: off}
final: {method: majority_vote}
"""

NOT_CONTRADICTED = {
    # What the provider alone knows.
    "batch_uploaded file_id",
    "batch_submitted provider_id",
    "batch_submitted expires_at",
    "batch_changed word",
    "batch_changed stage",  # of one before the last
    "batch_changed answered",
    "batch_changed failed",
    "batch_closed unknown",
    "batch_closed doubled",
    "batch_items_unanswered unanswered.end",
    # What this process alone knew: its key and server, prices, the bytes of requests, whether it looked the batch up.
    "batch_prepared address",
    "batch_prepared key",
    "batch_prepared most",
    "batch_prepared size",
    "batch_submitted found",
    "batch_cancel_requested by",
    "batch_prepared provider_time",
    "batch_cancel_sent at",
    "batch_missed at",
    "batch_missed reason",
    "batch_missed what",
    # Of the last batch of a run, after which no other is known to be of a later wave.
    "batch_prepared wave",
    # Of an item without an answer, whose call was tried again.
    "batch_items_listed calls.exchange",
    # Of a batch without an answer, of which a line was refused.
    "batch_closed cause",
}
"""Fields of which some change is found by seals alone; of all others every change is named."""

CHOICES: dict[str, tuple[Any, ...]] = {
    "stage": ("waiting", "ended"),
    "cause": ("ended", "refused", "not_submitted", "results_gone", "deadline"),
    "end": ("expired", "superseded"),
}


def others_of(name: str | int, value: Any) -> list[Any]:
    """Values that a field might have as well."""
    if name in CHOICES:
        return [one for one in CHOICES[str(name)] if one != value]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1]
    if isinstance(value, str):
        return [value[:-1] + ("2" if value[-1] != "2" else "3")]
    return []


async def a_night(folder: Path) -> Night:
    """A run with an item that expired, and a batch of which a line was refused."""
    panel = folder / "panel.yaml"
    panel.write_text(PANEL)
    night = Night(f"sqlite:///{folder / 'jury.db'}", BatchAccountDouble(), 2, panel)

    def first_expired(lines: list[BatchLine]) -> list[BatchLine]:
        first, *others = lines
        night.account.changes = lambda lines: lines
        return [first._replace(end=ItemEnd.EXPIRED, response=None), *others]

    night.account.changes = first_expired
    night.account.refused["sent-2"] = (RefusedLine(1, "no such parameter"),)
    await night.session()
    return night


async def a_cancelled_night(folder: Path) -> Night:
    """A run that a person cancelled while its batch was at the provider."""
    panel = folder / "panel.yaml"
    panel.write_text(PANEL)
    night = Night(f"sqlite:///{folder / 'jury.db'}", BatchAccountDouble(), 2, panel)
    night.account.ends = lambda _batch_id: False
    with ExitStack() as asking:

        async def looked(_seconds: float) -> None:
            if not night.account.cancelled:
                asking.enter_context(open_registry(night.url).asking_to_cancel("night", "the operator"))
                await asyncio.Event().wait()  # until the run hears of it

        await night.session(sleep=looked, supervision=RunSupervision(night.url, "night", every=0.01))
    return night


def unnoticed(log: Log) -> tuple[int, Counter[str]]:
    """How many changes of batches and of `via` there are, and those after which a deep verification finds nothing."""
    changes, found = 0, Counter[str]()
    for stored in log.events:
        body = json.loads(stored.body)
        for place in leaves(body):
            in_calls = body.get("via") is not None and place[0] in {"via", "latency_ms", "waited_ms"}
            if not (in_calls or stored.stream.startswith("batches/")):
                continue
            for to in others_of(place[-1], at(body, place)):
                changes += 1
                try:
                    store = rechained(log, MemoryEventStore(), stored.stream, stored.event_id, put(place, to))
                except EventError:
                    continue  # the field cannot have this value
                if not verify(store, deep=True).failures:
                    name = ".".join(one for one in place if isinstance(one, str))
                    found[f"{stored.type} {name}"] += 1
    return changes, found


@pytest.mark.full
@pytest.mark.parametrize("judged", [a_night, a_cancelled_night])
async def test_a_changed_field_is_named_unless_nothing_else_in_the_log_says_it(
    judged: Callable[[Path], Any], tmp_path: Path
) -> None:
    night = await judged(tmp_path)
    log = night.read(whole_log)
    same = verify(rechained(log, MemoryEventStore()), deep=True)
    changes, found = unnoticed(log)

    assert () == same.failures
    assert changes > 20
    assert set() == found.keys() - NOT_CONTRADICTED


WRONG: list[tuple[str, str, Place, Any, str]] = [
    ("calls/night~c0", "exchange_recorded", ("via", "waited_ms"), 5.0, "it says that it was 5 ms in its batch"),
    ("calls/night~c0", "exchange_recorded", ("latency_ms",), 5.0, "it has a latency, and was answered in a batch"),
    ("calls/night~c0", "exchange_recorded", ("via", "batch"), "day~batch~x", "is not of run night"),
    ("batches/", "batch_closed", ("answered",), 0, "are not the 4 of it"),
    ("batches/", "batch_prepared", ("wave",), 7, "it is of wave 2, after a batch of wave 7 that had ended"),
    ("batches/", "batch_items_listed", ("calls", 1, "debate_id"), "night~c7", "night~c7, which is not stored"),
    ("batches/", "batch_changed", ("stage",), "running", "its provider has not said that it has ended"),
    (
        "batches/",
        "batch_items_unanswered",
        ("unanswered", 0, "item"),
        2,
        "item 1 is said to be answered, and no answer",
    ),
]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.full)])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    url: str = (
        f"sqlite:///{tmp_path / 'forged.db'}" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    )
    upgrade(url)
    return url


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Log:
    found: Log = asyncio.run(a_night(tmp_path_factory.mktemp("night"))).read(whole_log)
    return found


def test_what_contradicts_a_change_is_said_with_its_place(log: Log, subtests: pytest.Subtests) -> None:
    for stream, kind, place, to, said in WRONG:
        with subtests.test(stream=stream):
            event = next(one for one in log.events if one.stream.startswith(stream) and one.type == kind)
            store = rechained(log, MemoryEventStore(), event.stream, event.event_id, put(place, to))

            assert [str(one) for one in verify(store, deep=True).failures if said in one.what] != []


def test_both_databases_show_a_changed_batch_that_has_no_seal(log: Log, empty_url: str) -> None:
    event = next(one for one in log.events if one.type == "exchange_recorded")
    with closing(open_store(empty_url, write=True)) as store:
        rechained(log, store, event.stream, event.event_id, put(("via", "waited_ms"), 5.0))
        plain, deep = verify(store), verify(store, deep=True)

    assert () == plain.failures
    assert [(event.stream, event.version)] == [(one.stream, one.version) for one in deep.failures]

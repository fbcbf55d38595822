"""The log and its lists against a model: whatever is appended, repeated, refused, cut off, erased and opened again.

The model is what `EventStore` promises, in a few lines of Python. Every rule does one thing to a store and to the
model: what the store then answers and contains must be what the model says, on every database.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from sqlalchemy import event as sa_event

from jury_events import GENESIS, StoredEvent, TextsErased, encode, stored_hash
from jury_migrations import upgrade
from jury_store import (
    Append,
    Appended,
    EventConflict,
    EventStore,
    Fenced,
    StoreError,
    WrongVersion,
    open_store,
)
from support.debates import DebateScript

PHASES = (Phase.generate,)
"""What fails is long to make smaller, and its steps are few."""

NAMES = ("x", "y", "z")
RUNS = {"x": "run", "y": "run", "z": None}
COURSES = {
    "x": ("opened", "begun", "evaluated", "checked", "judged", "completed"),
    "y": ("opened", "begun", "evaluated", "checked", "cancelled"),
    "z": ("opened", "cancelled"),
}
STATUS = {
    "opened": "waiting",
    "begun": "evaluating",
    "evaluated": "evaluating",
    "checked": "judging",
    "judged": "judging",
    "completed": "completed",
    "cancelled": "cancelled",
}
ENDS = {"completed", "cancelled"}
ERASED = "erased"


class Fact(NamedTuple):
    """An event as the log compares it: its id, its field, and the text that it refers to, if it refers to one."""

    event_id: str
    field: float | None = None
    text: str | None = None

    def is_repeated_by(self, other: "Fact") -> bool:
        return self.field == other.field and self.text in {other.text, ERASED}

    @property
    def erased(self) -> "Fact":
        return self if self.text is None else self._replace(text=ERASED)


class Model:
    """Streams are lists of facts; a text that was erased equals every text."""

    def __init__(self) -> None:
        self.streams: dict[str, list[Fact]] = {}
        self.epochs: dict[str, int] = {}
        self.order: list[tuple[str, str]] = []
        self.epoch = 0
        self.lease: tuple[int, float] | None = None

    def append(self, stream: str, facts: Sequence[Fact], expected: int | None, epoch: int) -> Any:
        """What the store answers: `Appended`, or the kind of its refusal."""
        there = self.streams.get(stream, [])
        if epoch < self.epochs.get(stream, 0):
            return Fenced
        known, fresh = {one.event_id: one for one in there}, []
        for fact in facts:
            if fact.event_id not in known:
                known[fact.event_id] = fact
                fresh.append(fact)
            elif not known[fact.event_id].is_repeated_by(fact):
                return EventConflict
        if fresh and expected is not None and expected != len(there):
            return WrongVersion
        if there or fresh:
            self.streams[stream] = there + fresh
            self.order += [(stream, one.event_id) for one in fresh]
            self.epochs[stream] = max(epoch, self.epochs.get(stream, 0))
        return Appended(stream, len(there) + len(fresh), len(facts) - len(fresh))

    def append_group(self, requests: Sequence["Request"], *, atomic: bool = False) -> list[Any]:
        after = deepcopy(self)
        answers = [after.append(*one.of_model) for one in requests]
        refusal = next((one for one in answers if isinstance(one, type)), None)
        if atomic and refusal is not None:
            return [refusal] * len(answers)
        vars(self).update(vars(after))
        return answers

    def erase(self, name: str) -> None:
        for stream in {f"debate/{name}", f"calls/{name}"} & self.streams.keys():
            self.streams[stream] = [one.erased for one in self.streams[stream]]

    def course(self, name: str) -> list[str]:
        """The ids of the debate's events, without those of erasures."""
        return [one.event_id for one in self.streams.get(f"debate/{name}", []) if not one.event_id.startswith(ERASED)]

    def version(self, stream: str) -> int:
        return len(self.streams.get(stream, []))

    @property
    def rows(self) -> dict[str, tuple[str, int, float | None]]:
        """Status, calls and cost of every debate that is listed; calls count that were recorded after its opening."""
        found: dict[str, tuple[str, int, float | None]] = {}
        for place, (stream, event_id) in enumerate(self.order):
            if event_id == "opened":
                name = stream[-1]
                later = {one for of, one in self.order[place:] if of == f"calls/{name}"}
                costs = [one.field for one in self.streams.get(f"calls/{name}", []) if one.event_id in later]
                cost = None if None in costs else sum(one or 0.0 for one in costs)
                found[name] = (STATUS[EVENTS[self.course(name)[-1]]], len(costs), cost)
        return found


EVENTS = {
    "opened": "opened",
    "begun": "begun",
    "initial/juror-gpt/evaluated": "evaluated",
    "initial/check": "checked",
    "final/judgment": "judged",
    "completed": "completed",
    "cancelled": "cancelled",
}
IDS = {kind: event_id for event_id, kind in EVENTS.items()}


class Request(NamedTuple):
    """An append, and the same for the model."""

    of_store: Append
    of_model: tuple[str, list[Fact], int | None, int]


class Debate(NamedTuple):
    """A piece of a debate's course, `more` events from its last one on or from `again` before it.

    `off`: how far the expected version is from the stream's; `lag`: how many epochs the writer is behind.
    """

    name: str
    again: int
    more: int
    text: str
    off: int
    lag: int

    def request(self, model: Model, script: DebateScript) -> Request:
        come = len(model.course(self.name))
        kinds = COURSES[self.name][max(0, come - self.again) : come + self.more]
        made = {"opened": lambda: script.opened(self.text), "evaluated": lambda: script.evaluated(self.text)}
        events = tuple(made.get(kind, getattr(script, kind))() for kind in kinds)
        facts = [Fact(IDS[kind], text=self.text if kind in made else None) for kind in kinds]
        expected, epoch = max(0, model.version(script.stream) + self.off), max(0, model.epoch - self.lag)
        return Request(Append(script.stream, events, expected, epoch), (script.stream, facts, expected, epoch))


class Calls(NamedTuple):
    """Exchanges by attempt, cost and answer."""

    name: str
    said: list[tuple[int, float | None, str]]

    def request(self, model: Model, script: DebateScript) -> Request:
        events = tuple(script.exchange(attempt, cost=cost, answer=text) for attempt, cost, text in self.said)
        facts = [Fact(event.event_id, cost, text) for event, (_, cost, text) in zip(events, self.said, strict=True)]
        return Request(Append(script.calls, events), (script.calls, facts, None, 0))


def mostly(usual: Any, *others: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from([usual] * 3 * len(others) + [*others])


_names = st.sampled_from(NAMES)
_debates = st.builds(
    Debate, _names, mostly(0, 1, 9), mostly(1, 0, 2, 5), mostly("a", "b"), mostly(0, -1, 1), mostly(0, 1)
)
_said = st.tuples(st.integers(1, 4), mostly(0.25, 0.5, None), st.sampled_from(("", "a", "\x00é")))
GROUPS = st.lists(_debates | st.builds(Calls, _names, st.lists(_said, max_size=3)), min_size=1, max_size=3)


class Log(RuleBasedStateMachine):
    """The writers of one store, two where the database allows it."""

    def __init__(self, opens: Callable[[bool], EventStore], writers: int) -> None:
        super().__init__()
        self.opens, self.writers = opens, writers
        self.stores: list[EventStore] = []
        self.model = Model()
        self.seed = 0

    @initialize()
    def start(self) -> None:
        self.stores = [self.opens(True) for _ in range(self.writers)]

    def teardown(self) -> None:
        if self.stores:
            self.look(of_reader=False)
        self.close()

    def close(self) -> None:
        for store in self.stores:
            store.close()

    @property
    def store(self) -> EventStore:
        """The writers take turns."""
        return self.stores[self.seed % len(self.stores)]

    # ── what is sent ──────────────────────────────────────────────────────────────────────────────────────────────────

    def requests(self, group: Sequence["Debate | Calls"]) -> list[Request]:
        """With other salts and times than every one before."""
        made = []
        for one in group:
            self.seed += 1
            made.append(one.request(self.model, DebateScript(one.name, run_id=RUNS[one.name], seed=self.seed)))
        return made

    @rule(group=GROUPS)
    def append(self, group: list["Debate | Calls"]) -> None:
        requests = self.requests(group)

        assert said(self.store.append([one.of_store for one in requests])) == self.model.append_group(requests)

    @rule(group=GROUPS)
    def append_all_or_none(self, group: list["Debate | Calls"]) -> None:
        requests = self.requests(group)
        answers = self.store.append([one.of_store for one in requests], atomic=True)

        assert said(answers) == self.model.append_group(requests, atomic=True)

    @rule(group=GROUPS)
    def two_append_the_same_at_once(self, group: list["Debate | Calls"]) -> None:
        """One of them comes first; which one is open."""
        requests = self.requests(group)
        with ThreadPoolExecutor(2) as pool:
            answers = pool.map(
                lambda store: said(store.append([one.of_store for one in requests])), (self.stores[0], self.stores[-1])
            )
        expected = [self.model.append_group(requests) for _ in range(2)]

        assert [*answers] in (expected, expected[::-1])

    @precondition(lambda self: hasattr(self.stores[0], "_writer"))
    @rule(group=GROUPS)
    def cut_off(self, group: list["Debate | Calls"]) -> None:
        """A writer that is interrupted in its commit has stored nothing, and may send the same again."""
        requests, store, before = self.requests(group), self.store, list(self.model.order)
        sa_event.listen(store._writer, "commit", _interrupt)
        try:
            answers: list[Any] | None = said(store.append([one.of_store for one in requests]))
        except KeyboardInterrupt:
            answers = None
        finally:
            sa_event.remove(store._writer, "commit", _interrupt)
        self.look_at_the_log(store)
        expected = self.model.append_group(requests)

        assert expected == (answers or said(store.append([one.of_store for one in requests])))
        assert answers is None or before == self.model.order, "what was acknowledged was committed"

    # ── what else is done to a store ──────────────────────────────────────────────────────────────────────────────────

    @rule()
    def take_over(self) -> None:
        self.model.epoch += 1

        assert self.store.next_epoch() == self.model.epoch

    @rule(name=st.sampled_from(NAMES))
    def erase(self, name: str) -> None:
        """All texts of a debate, in the append that records it."""
        stream = f"debate/{name}"
        if not self.model.course(name):
            return
        parts, version, epoch = self.store.parts(name), self.model.version(stream), self.model.epochs[stream]
        recorded = TextsErased(
            by="dpo", reason="asked", scope="debate", number=version, parts=tuple(one.ref for one in parts.values())
        )
        append = Append(stream, (encode(recorded, recorded_at=1),), version, epoch)
        answers = self.store.append([append], atomic=True, erase=list(parts))

        assert [self.model.append(stream, [Fact(recorded.event_id)], version, epoch)] == said(answers)
        self.model.erase(name)

    @rule(limit=st.sampled_from([1, 3, 1000]))
    def project(self, limit: int) -> None:
        assert self.store.project(limit) <= limit

    @rule()
    def index(self) -> None:
        self.store.index_texts(2)

    @rule()
    def rebuild(self) -> None:
        assert len(self.model.order) == self.store.rebuild()

    @rule(number=st.integers(1, 9))
    def lease(self, number: int) -> None:
        self.store.store_run_lease("run", number, number / 4)
        self.model.lease = (number, number / 4)

    @rule()
    def reopen(self) -> None:
        self.close()
        self.start()

    # ── what is there ─────────────────────────────────────────────────────────────────────────────────────────────────

    @rule(of_reader=st.booleans())
    def look(self, of_reader: bool) -> None:
        store = self.opens(False) if of_reader else self.store
        try:
            self.look_at_the_log(store)
            self.look_at_the_lists(store)
        finally:
            if of_reader:
                store.close()

    def look_at_the_log(self, store: EventStore) -> None:
        log = store.read_all(limit=10_000)
        streams: dict[str, list[StoredEvent]] = {}
        for event in log:
            streams.setdefault(event.stream, []).append(event)

        assert self.model.order == [(event.stream, event.event_id) for event in log]
        assert [event.position for event in log] == list(range(1, len(log) + 1))
        assert len(log) == store.last_position() == store.inventory().events
        assert log[2:5] == store.read_all(2, limit=3)
        assert [(event.position, event.hash) for event in log] == store.hashes()
        names = [*self.model.streams, "debate/none"]
        assert streams == store.read_streams(names)
        assert {name: events[0] for name, events in streams.items()} == store.first_events(names)
        heads = store.heads(names)
        assert streams.keys() == heads.keys()
        for name, events in streams.items():
            assert [event.version for event in events] == list(range(1, len(events) + 1))
            assert events[1:] == store.read_stream(name, after=1)
            previous = GENESIS
            for event in events:
                assert event.hash == stored_hash(previous, event)
                previous = event.hash
            assert heads[name] == (len(events), self.model.epochs[name], previous)
        for name in NAMES:
            found = store.parts(name)
            texts = {part.ref.part: part.content for part in found.values()}
            for stream in (f"debate/{name}", f"calls/{name}"):
                expected = [fact.text for fact in self.model.streams.get(stream, ())]
                assert expected == [_text(event, texts) for event in streams.get(stream, ())]
            assert found == store.parts_of([name, "none"]).get(name, {}) == store.parts(name, list(found))
            assert found == store.named_parts({name: [*found, bytes(32)]}).get(name, {})

    def look_at_the_lists(self, store: EventStore) -> None:
        rows, expected = store.debates(waiting=None), self.model.rows
        assert expected == {row.debate_id: (row.status, row.calls, row.cost) for row in rows}
        assert list(expected) == [row.debate_id for row in rows]
        assert [one for one in rows if not one.waiting] == store.list_debates()[::-1]
        assert rows == [store.debate(name) for name in expected]
        ended = {row.debate_id: row.position for row in rows if row.status in ENDS}
        assert ended == store.ended_positions([*NAMES, "none"])
        cases = {name: one.status for name, one in store.cases_of([*NAMES, "none"]).items()}
        assert {name: row[0] for name, row in expected.items()} == cases
        of_run = [row for name, row in expected.items() if RUNS[name]]
        (run,) = store.runs() or [None]
        assert (run is not None) == bool(of_run)
        if run is not None:
            counts = [sum(row[0] == status for row in of_run) for status in ("completed", "cancelled")]
            assert (len(of_run), *counts) == (run.debates + run.waiting, run.completed, run.cancelled)
            assert (self.model.lease or (None, None)) == (run.calls_at_most, run.cost_at_most)
        assert [] == store.list_faults() == store.list_faults(store.histories(NAMES))


def said(answers: Sequence[Any]) -> list[Any]:
    return [type(one) if isinstance(one, StoreError) else one for one in answers]


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _text(event: StoredEvent, texts: Mapping[str, bytes]) -> str | None:
    """The text that distinguishes the event, as `Fact` has it."""
    body = json.loads(event.body)
    ref = body.get("case") or body.get("evaluation", {}).get("rationale") or body.get("answer")
    return None if ref is None else texts.get(ref["part"], ERASED.encode()).decode()


@pytest.mark.parametrize(
    ("database", "examples"),
    [
        ("sqlite", 20),
        ("postgresql", 4),
        pytest.param("sqlite", 1000, marks=pytest.mark.long),
        pytest.param("postgresql", 200, marks=pytest.mark.long),
    ],
)
def test_a_store_does_what_the_model_does(
    database: str, examples: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    numbers = count()

    def log() -> Log:
        url = f"sqlite:///{tmp_path / f'{next(numbers)}.db'}"
        if database == "postgresql":
            url = request.getfixturevalue("new_postgres_url")()
        upgrade(url)
        return Log(lambda write: open_store(url, write=write), writers=1 + (database == "postgresql"))

    run_state_machine_as_test(
        log, settings=settings(max_examples=examples, stateful_step_count=25, report_multiple_bugs=False, phases=PHASES)
    )

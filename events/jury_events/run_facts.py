"""What a stream `run/{id}` says of its run: a fold over its events."""

import hashlib
import struct
from collections.abc import Iterable
from typing import NamedTuple

from jury_events.codec import decode_run
from jury_events.envelope import StoredEvent
from jury_events.errors import MalformedBody
from jury_events.ids import stream_debate
from jury_events.run_events import (
    BudgetBounds,
    BudgetChanged,
    CancelRequested,
    CasesListed,
    ListCompleted,
    RunEnded,
    RunImported,
    RunOpened,
    RunReopened,
)

_DOMAIN = b"jury-judge list 1"
_number = struct.Struct(">Q").pack


class RunFacts(NamedTuple):
    """A run at one version of its stream.

    Attributes:
        opened: who judges it.
        budget: what it may spend now.
        version: of the stream.
        listed: how many debates the list has.
        pages: how many pages.
        complete: whether every case that was given is listed.
        cancelled_by: who cancelled it; None: it is not cancelled, or was reopened since.
        cancelled_at: when, in µs since 1970-01-01 UTC.
        imported: how many pages came in a cassette: this store did not list their debates.
        ended: the figures of its last end; None where something was listed since.
        page: the last page of the list.
    """

    opened: RunOpened
    budget: BudgetBounds
    version: int = 1
    listed: int = 0
    pages: int = 0
    completions: int = 0
    budgets: int = 0
    requests: int = 0
    reopenings: int = 0
    imports: int = 0
    imported: int = 0
    ends: int = 0
    complete: bool = False
    cancelled_by: str | None = None
    cancelled_at: int | None = None
    ended: RunEnded | None = None
    page: CasesListed | None = None


class ListedOpening(NamedTuple):
    """A debate of a page: its id, and the hash of its opening event."""

    debate_id: str
    hash: bytes


def page_digest(first: int, openings: Iterable[ListedOpening]) -> str:
    """The digest of a page of a list: 64 hexadecimal digits."""
    found = hashlib.sha256(_DOMAIN)
    for place, one in enumerate(openings, first):
        name = one.debate_id.encode()
        found.update(b"".join((_number(place), _number(len(name)), name, one.hash)))
    return found.hexdigest()


def run_facts(events: Iterable[StoredEvent]) -> RunFacts | None:
    """Fold a stream `run/{id}`; None: it has no events."""
    facts: RunFacts | None = None
    for stored in events:
        facts = next_run_facts(facts, stored)
    return facts


def next_run_facts(facts: RunFacts | None, stored: StoredEvent) -> RunFacts:
    """Fold one event; `facts` are those of all before, None at the first. Raises as `run_facts`."""
    event = decode_run(stored)
    where = f"event {stored.version} of {stored.stream} ({stored.type})"
    if facts is None or isinstance(event, RunOpened):
        if facts is not None or not isinstance(event, RunOpened):
            raise MalformedBody(f"{where}: a run begins with its opening, and has one")
        if event.run_id != stream_debate(stored.stream):
            raise MalformedBody(f"{where}: it opens another run, {event.run_id}")
        return RunFacts(event, event.budget)
    number, changed = _after(facts, event, stored.recorded_at)
    if event.number != number:
        raise MalformedBody(f"{where} is not in its place: its number is {event.number}, not {number}")
    if isinstance(event, CasesListed) and event.first != facts.listed + 1:
        raise MalformedBody(f"{where} is not in its place: it begins at {event.first}, after {facts.listed} debates")
    if isinstance(event, ListCompleted) and event.debates != facts.listed:
        raise MalformedBody(f"{where} is not in its place: {event.debates} debates, and {facts.listed} are listed")
    return changed._replace(version=stored.version)


def _after(
    facts: RunFacts,
    event: CasesListed | ListCompleted | BudgetChanged | CancelRequested | RunReopened | RunImported | RunEnded,
    at: int,
) -> tuple[int, RunFacts]:
    """The number that the event must have, and the facts with it."""
    match event:
        case CasesListed():
            listed = facts.listed + event.debates
            return facts.pages + 1, facts._replace(
                listed=listed, pages=event.number, complete=facts.complete and event.later, ended=None, page=event
            )
        case ListCompleted():
            return facts.completions + 1, facts._replace(completions=event.number, complete=True)
        case BudgetChanged():
            return facts.budgets + 1, facts._replace(budgets=event.number, budget=event.budget)
        case CancelRequested():
            return facts.requests + 1, facts._replace(requests=event.number, cancelled_by=event.by, cancelled_at=at)
        case RunReopened():
            return facts.reopenings + 1, facts._replace(
                reopenings=event.number, cancelled_by=None, cancelled_at=None, ended=None
            )
        case RunImported():
            return facts.imports + 1, facts._replace(imports=event.number, imported=facts.pages)
        case RunEnded():
            return facts.ends + 1, facts._replace(ends=event.number, ended=event)

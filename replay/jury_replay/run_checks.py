"""The checks of a run: its stream, and that the debates of its list are those that were listed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jury_events.codec import decode_run
from jury_events.envelope import StoredEvent
from jury_events.errors import EventError
from jury_events.ids import run_stream, stream_debate
from jury_events.run_events import CasesListed, RunImported
from jury_events.run_facts import ListedOpening, RunFacts, next_run_facts, page_digest
from jury_replay.errors import RecordDamaged
from jury_replay.integrity import IntegrityFailure, at_event, stream_failure
from jury_store.debate_rows import DebateFilter
from jury_store.errors import StoreDamaged
from jury_store.event_store import EventStore

_OPENED = "debate_opened"
_LISTED = "cases_listed"
_IMPORTED = "run_imported"


@dataclass(frozen=True)
class CheckedRun:
    """A run, as far as its stream can be read: how many debates are listed, how many of them ended and wait.

    `beside`: how many counted debates of the run no page has, as those that a person or another process opened one by
    one. `complete`: the list has every case that was given. `cancelled_by`: who cancelled the run, which was not
    reopened since. `missing`: how many debates of an imported list are not here; None: the list was made here. `events`
    counts those of its stream.
    """

    run_id: str
    events: int
    listed: int = 0
    ended: int = 0
    waiting: int = 0
    beside: int = 0
    complete: bool = False
    cancelled_by: str | None = None
    missing: int | None = None

    def __str__(self) -> str:
        went_on = self.listed - self.ended - self.waiting - (self.missing or 0)
        parts = [f"of {self.listed:,} listed debates {self.ended:,} have ended"]
        parts += [f"{self.missing:,} are not here"] if self.missing else []
        parts += [f"{went_on:,} began and are not over"] if went_on else []
        parts += [f"{self.waiting:,} {'waits' if self.waiting == 1 else 'wait'}"] if self.waiting else []
        parts += [f"{self.beside:,} more are not in its list"] if self.beside else []
        parts += [f"cancelled by {self.cancelled_by}"] if self.cancelled_by else []
        parts += ["imported"] if self.missing is not None else []
        said = f"run {self.run_id}: {', '.join(parts)}"
        return said if self.complete else f"{said}; the list is not complete"


def check_run(store: EventStore, run_id: str) -> tuple[CheckedRun, list[IntegrityFailure]]:
    """The chain of `run/{id}`, its events, and its list against the openings that the log has."""
    stream = run_stream(run_id)
    events = store.read_stream(stream)
    failure = stream_failure(stream, events, store.heads([stream]).get(stream))
    if failure is not None:
        return CheckedRun(run_id, len(events)), [failure]
    facts: RunFacts | None = None
    listed: dict[str, None] = {}
    failures: list[IntegrityFailure] = []
    imported = max((event.version for event in events if event.type == _IMPORTED), default=0)
    for event in events:
        try:
            facts = next_run_facts(facts, event)
        except EventError as error:
            failures.append(at_event(event, str(error)))
            break
        if event.type == _LISTED and event.version > imported:
            failures += _page_failures(store, facts, event, listed)
    try:
        return _checked(store, run_id, len(events), facts, list(listed)), failures
    except StoreDamaged as error:
        return CheckedRun(run_id, len(events)), [*failures, IntegrityFailure("", error.finding)]


def _checked(store: EventStore, run_id: str, events: int, facts: RunFacts | None, listed: list[str]) -> CheckedRun:
    row = store.run(run_id)
    here = 0 if row is None else row.debates + row.waiting
    imported = facts is not None and bool(facts.imports)
    if imported and facts is not None:
        totals = store.totals(DebateFilter(run_id, counted=None, waiting=None))
        here, known, waiting = totals.opened, facts.listed, totals.waiting
        ended = here - totals.unfinished - waiting
    else:
        cases = store.cases_of(listed)
        known, ended = len(cases), sum(one.has_ended for one in cases.values())
        waiting = sum(one.status == "waiting" for one in cases.values())
    return CheckedRun(
        run_id,
        events,
        len(listed) if facts is None else facts.listed,
        ended,
        waiting,
        max(here - known, 0),
        facts is not None and facts.complete,
        None if facts is None else facts.cancelled_by,
        max(known - here, 0) if imported else None,
    )


def list_of(store: EventStore, run_id: str) -> tuple[list[StoredEvent], list[ListedOpening]]:
    """The events of a run that this store listed, and its list, both checked."""
    _, failures = check_run(store, run_id)
    if failures:
        raise RecordDamaged(f"run {run_id} does not verify, so it is not exported: {failures[0]}")
    events = store.read_stream(run_stream(run_id))
    found: list[ListedOpening] = []
    for event in events:
        match decode_run(event):
            case RunImported():
                raise RecordDamaged(f"run {run_id} was imported: pass on the file that it came in")
            case CasesListed(debates=debates):
                found += _listed(_openings(store, event, debates))
    return events, found


def _page_failures(
    store: EventStore, facts: RunFacts, event: StoredEvent, listed: dict[str, None]
) -> Iterator[IntegrityFailure]:
    """A page stands right after the openings of its debates, in one transaction; adds these to `listed`."""
    page = facts.page
    assert page is not None, "the event was a page"
    there = _openings(store, event, page.debates)
    listed.update(dict.fromkeys(stream_debate(one.stream) for one in there))
    if page_digest(page.first, _listed(there)) != page.digest:
        yield at_event(
            event,
            f"the debates {page.first} to {page.first + page.debates - 1} of the list are not those that were listed: "
            "one was replaced, or is gone",
        )


def _openings(store: EventStore, page: StoredEvent, debates: int) -> list[StoredEvent]:
    """What stands right before a page."""
    found = store.read_all(after=page.position - debates - 1, limit=debates)
    return [one for one in found if one.type == _OPENED and one.position < page.position]


def _listed(openings: Sequence[StoredEvent]) -> Iterator[ListedOpening]:
    for one in openings:
        yield ListedOpening(stream_debate(one.stream), one.hash)

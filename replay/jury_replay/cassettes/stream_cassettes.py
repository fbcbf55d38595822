"""The file of a run or of a baseline of drift checks: its stream, and which debates a run listed, by their openings.

The debates are cassettes of their own, beside it. So a folder of them shows what of the run is missing.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

from jury_events.codec import decode_run, encode
from jury_events.drift_events import DriftImported
from jury_events.drift_facts import DriftFacts
from jury_events.envelope import Head, NewEvent, StoredEvent
from jury_events.errors import EventError
from jury_events.ids import (
    DRIFT_PREFIX,
    OF_NO_DEBATE,
    RUN_PREFIX,
    debate_stream,
    is_run_id,
    stream_debate,
)
from jury_events.parts import decode_digest, encode_digest
from jury_events.regular_files import open_regular
from jury_events.run_events import CasesListed, RunImported
from jury_events.run_facts import ListedOpening, RunFacts, page_digest, run_facts
from jury_replay.cassettes.lines import (
    MAX_CASSETTE,
    STREAM_BEGINS,
    CassetteEvent,
    ListedLine,
    SealLine,
    StreamEnd,
    StreamManifest,
    written,
)
from jury_replay.cassettes.provenance import Provenance, seal_fault
from jury_replay.cassettes.reading import Reading
from jury_replay.drift_checks import check_drift, drift_record
from jury_replay.errors import CassetteError, OtherDebate, RecordDamaged
from jury_replay.integrity import stream_failure
from jury_replay.quarantine import now
from jury_replay.run_checks import list_of
from jury_store.appends import first_refusal
from jury_store.event_store import Append, EventStore
from jury_store.seals.note import read_checkpoint

_NAME = 300


class StreamCassette(NamedTuple):
    """The file of a run or of a baseline, verified.

    Attributes:
        stream: `run/{id}` or `drift/{id}`.
        events: of the stream.
        facts: what they say.
        listed: the debates of a run in the order of its list.
        seal: of the log in which it was recorded, if the file has one.
    """

    stream: str
    events: Sequence[StoredEvent]
    facts: RunFacts | DriftFacts
    listed: Sequence[ListedOpening] = ()
    seal: SealLine | None = None

    @property
    def name(self) -> str:
        """The id of the run or the baseline."""
        return self.stream.partition("/")[2]

    def missing(self, store: EventStore) -> list[str]:
        """The ids of listed debates that a store does not have."""
        there = store.first_events([debate_stream(one.debate_id) for one in self.listed])
        for one in self.listed:
            found = there.get(debate_stream(one.debate_id))
            if found is not None and found.hash != one.hash:
                raise OtherDebate(f"run {self.name} lists another debate under the id {one.debate_id}")
        return [one.debate_id for one in self.listed if debate_stream(one.debate_id) not in there]


def write_stream_cassette(store: EventStore, stream: str, provenance: Provenance) -> bytes:
    """The file of a run that this store listed, or of a baseline; the same bytes from every database."""
    what = _named(stream)
    events, listed = _recorded(store, stream)
    seal = provenance.own(what, {stream: events})
    lines = [written(CassetteEvent.of(event)) for event in events]
    lines += [written(ListedLine(debate_id=one.debate_id, opened=encode_digest(one.hash))) for one in listed]
    lines += [] if seal is None else [written(seal)]
    content = b"".join(lines)
    if len(content) > MAX_CASSETTE:
        raise CassetteError(f"{what} is too large for a file: it may have {MAX_CASSETTE} bytes; copy the store")
    manifest = StreamManifest(
        streams={stream: StreamEnd(events=len(events), head=encode_digest(events[-1].hash))},
        listed=len(listed),
        sealed=seal is not None,
        sha256=hashlib.sha256(content).hexdigest(),
    )
    return written(manifest) + content


def _named(stream: str) -> str:
    """As in messages."""
    return f"{'run' if stream.startswith(RUN_PREFIX) else 'baseline'} {stream.partition('/')[2]}"


def _recorded(store: EventStore, stream: str) -> tuple[Sequence[StoredEvent], Sequence[ListedOpening]]:
    if stream.startswith(RUN_PREFIX):
        return list_of(store, stream_debate(stream))
    _, failures = check_drift(store, stream_debate(stream), deep=False)
    if failures:
        raise RecordDamaged(f"{_named(stream)} does not verify, so it is not exported: {failures[0]}")
    return store.read_stream(stream), ()


def is_stream_cassette(path: Path) -> bool:
    """Whether a file begins as that of a run or a baseline; False where it cannot be read."""
    try:
        with open_regular(path) as file:
            return file.read(len(STREAM_BEGINS)) == STREAM_BEGINS
    except OSError:
        return False


def read_stream_cassette(path: Path) -> StreamCassette:
    """The run or baseline in a file, verified: the manifest's hash, the chain, the events, the list or the decisions,
    and the seal's proofs.
    """
    try:
        with open_regular(path) as file:
            return _StreamReading(str(path), file).cassette_of_stream()
    except OSError as error:
        raise CassetteError(f"{path}: cannot be read: {error.strerror}; check the path and its rights") from None


class _StreamReading(Reading):
    def cassette_of_stream(self) -> StreamCassette:
        manifest = self.line(StreamManifest, "the manifest", counted=False)
        stream, end = next(iter(manifest.streams.items()), ("", None))
        prefix, _, name = stream.partition("/")
        if end is None or len(manifest.streams) > 1 or f"{prefix}/" not in OF_NO_DEBATE or not is_run_id(name):
            raise self.bad(f"the streams must be {RUN_PREFIX}ID or {DRIFT_PREFIX}ID alone")
        self.check_spelling(end.head)
        events = list(self.events(stream, end.events, count(1)))
        listed = list(self._listed(manifest.listed))
        seal = self.line(SealLine, "the seal") if manifest.sealed else None
        self.end(manifest.sha256)
        failure = stream_failure(stream, events, Head(end.events, 0, decode_digest(end.head)))
        fault = None if failure is None else str(failure)
        facts: RunFacts | DriftFacts | None = None
        try:
            if fault is None and stream.startswith(RUN_PREFIX):
                facts = run_facts(events)
                fault = _list_fault(events, listed)
            elif fault is None:
                facts = drift_record(events).facts
                fault = "a baseline lists no debates" if listed else None
        except EventError as error:
            fault = str(error)
        if fault is None and seal is not None:
            fault = seal_fault({stream: events}, seal)
        if fault is not None or facts is None:
            raise self.damaged(f"it does not verify: {fault or 'it was not opened'}")
        return StreamCassette(stream, events, facts, listed, seal)

    def _listed(self, total: int) -> Iterator[ListedOpening]:
        for number in range(1, total + 1):
            line = self.line(ListedLine, f"debate {number} of {total}")
            self.check_spelling(line.opened)
            yield ListedOpening(line.debate_id, decode_digest(line.opened))


def _list_fault(events: Sequence[StoredEvent], listed: Sequence[ListedOpening]) -> str | None:
    """Why the list is not that of the pages; None: it is."""
    pages = [event for event in map(decode_run, events) if isinstance(event, CasesListed)]
    if (total := sum(page.debates for page in pages)) != len(listed):
        return f"it names {len(listed)} debates, and {total} were listed"
    for page in pages:
        if page_digest(page.first, listed[page.first - 1 : page.first - 1 + page.debates]) != page.digest:
            return f"the debates {page.first} to {page.first + page.debates - 1} are not those that were listed"
    return None


def import_stream(
    store: EventStore, cassette: StreamCassette, verified_with: str | None, clock: Callable[[], int] = now
) -> int:
    """Add the stream of a run or a baseline, and record that it was imported; how many of its events were added.

    A stream that the store has stays as it is. Where checks of it came without a trusted key, and the cassette has them
    all under one, that is recorded too: they count from then on.

    Args:
        cassette: as `read_stream_cassette` verified it.
        verified_with: the name of the trusted key that signed the cassette's seal.
        clock: microseconds since 1970-01-01 UTC.
    """
    stream = cassette.stream
    here, there = store.read_stream(stream), cassette.events
    facts: RunFacts | DriftFacts
    if here:
        if len(here) < len(there) or here[len(there) - 1].hash != there[-1].hash:
            raise OtherDebate(
                f"the store has a {_named(stream)} of its own, or less of it. Import it into another store"
            )
        if verified_with is None or not isinstance(cassette.facts, DriftFacts):
            return 0
        mine = drift_record(here).facts
        if not 0 < mine.foreign <= len(cassette.facts.checks):
            return 0
        there, facts = (), mine
    else:
        facts = cassette.facts
    sealed_by = None if cassette.seal is None else _label(read_checkpoint(cassette.seal.note.encode()).origin)
    key = None if verified_with is None else _label(verified_with)
    imported: RunImported | DriftImported
    if isinstance(facts, DriftFacts):
        before = 0 if facts.imported is None else facts.imported.number
        imported = DriftImported(number=before + 1, sealed_by=sealed_by, verified_with=key)
    else:
        imported = RunImported(number=facts.imports + 1, sealed_by=sealed_by, verified_with=key)
    new = (*map(_new, there), encode(imported, recorded_at=clock()))
    refusal = first_refusal(store.append([Append(stream, new, len(here))]))
    if refusal is not None:
        raise refusal
    return len(there)


def _new(event: StoredEvent) -> NewEvent:
    return NewEvent(event.event_id, event.type, event.schema, event.recorded_at, event.body)


def _label(name: str) -> str:
    """The name of a log or a key, printable and short enough for an event: a note may contain any name."""
    return (name if name.isprintable() else ascii(name)[1:-1])[:_NAME]

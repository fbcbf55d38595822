"""The file of a run: its stream, and which debates it listed, each by the hash of its opening.

The debates are cassettes of their own, beside it. So a folder of them shows what of the run is missing.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

from jury_events.codec import decode_run, encode
from jury_events.envelope import NewEvent, StoredEvent
from jury_events.errors import EventError
from jury_events.ids import debate_stream, run_stream
from jury_events.parts import decode_digest, encode_digest
from jury_events.regular_files import open_regular
from jury_events.run_events import CasesListed, RunImported
from jury_events.run_facts import ListedOpening, RunFacts, page_digest, run_facts
from jury_events.streams import Head
from jury_replay.cassettes.lines import (
    MAX_CASSETTE,
    RUN_BEGINS,
    CassetteEvent,
    ListedLine,
    RunManifest,
    SealLine,
    StreamEnd,
    written,
)
from jury_replay.cassettes.provenance import Provenance, seal_fault
from jury_replay.cassettes.reading import Reading
from jury_replay.errors import CassetteError, OtherDebate
from jury_replay.integrity import stream_failure
from jury_replay.quarantine import now
from jury_replay.run_checks import list_of
from jury_store.appends import first_refusal
from jury_store.event_store import Append, EventStore
from jury_store.seals.note import read_checkpoint

_NAME = 300


class RunCassette(NamedTuple):
    """The file of a run, verified.

    Attributes:
        run_id: the run.
        events: of its stream.
        facts: what they say.
        listed: its debates in the order of the list.
        seal: of the log in which it was recorded, if the file has one.
    """

    run_id: str
    events: Sequence[StoredEvent]
    facts: RunFacts
    listed: Sequence[ListedOpening]
    seal: SealLine | None = None

    def missing(self, store: EventStore) -> list[str]:
        """The ids of listed debates that a store does not have.

        Raises:
            OtherDebate: it has another debate under the id of one.
        """
        there = store.first_events([debate_stream(one.debate_id) for one in self.listed])
        for one in self.listed:
            found = there.get(debate_stream(one.debate_id))
            if found is not None and found.hash != one.hash:
                raise OtherDebate(f"run {self.run_id} lists another debate under the id {one.debate_id}")
        return [one.debate_id for one in self.listed if debate_stream(one.debate_id) not in there]


def write_run_cassette(store: EventStore, run_id: str, provenance: Provenance) -> bytes:
    """The file of a run that this store listed. The same run gives the same bytes, from every database.

    Raises:
        RecordDamaged: it does not verify, or it was imported.
        CassetteError: it is larger than a cassette may be.
        StoreError: the store cannot be read.
    """
    stream = run_stream(run_id)
    events, listed = list_of(store, run_id)
    seal = provenance.own(f"run {run_id}", {stream: events})
    lines = [written(CassetteEvent.of(event)) for event in events]
    lines += [written(ListedLine(debate_id=one.debate_id, opened=encode_digest(one.hash))) for one in listed]
    lines += [] if seal is None else [written(seal)]
    content = b"".join(lines)
    if len(content) > MAX_CASSETTE:
        raise CassetteError(f"run {run_id} is too large for a file: it may have {MAX_CASSETTE} bytes; copy the store")
    manifest = RunManifest(
        run_id=run_id,
        streams={stream: StreamEnd(events=len(events), head=encode_digest(events[-1].hash))},
        listed=len(listed),
        sealed=seal is not None,
        sha256=hashlib.sha256(content).hexdigest(),
    )
    return written(manifest) + content


def is_run_cassette(path: Path) -> bool:
    """Whether a file begins as that of a run; False where it cannot be read."""
    try:
        with open_regular(path) as file:
            return file.read(len(RUN_BEGINS)) == RUN_BEGINS
    except OSError:
        return False


def read_run_cassette(path: Path) -> RunCassette:
    """The run in a file, verified: the manifest's hash, the chain, the events, the list, and the seal's proofs.

    Raises:
        CassetteDamaged: it does not verify.
        CassetteError: the file is none that this version can read.
    """
    try:
        with open_regular(path) as file:
            return _RunReading(str(path), file).run()
    except OSError as error:
        raise CassetteError(f"{path}: cannot be read: {error.strerror}; check the path and its rights") from None


class _RunReading(Reading):
    def run(self) -> RunCassette:
        manifest = self.line(RunManifest, "the manifest", counted=False)
        stream = run_stream(manifest.run_id)
        end = manifest.streams.get(stream)
        if end is None or len(manifest.streams) > 1:
            raise self.bad(f"the streams must be {stream} alone")
        self.check_spelling(end.head)
        events = list(self.events(stream, end.events, count(1)))
        listed = list(self._listed(manifest.listed))
        seal = self.line(SealLine, "the seal") if manifest.sealed else None
        self.end(manifest.sha256)
        failure = stream_failure(stream, events, Head(end.events, 0, decode_digest(end.head)))
        fault = None if failure is None else str(failure)
        facts: RunFacts | None = None
        try:
            facts = run_facts(events) if fault is None else None
        except EventError as error:
            fault = str(error)
        fault = fault or _list_fault(events, listed)
        if fault is None and seal is not None:
            fault = seal_fault({stream: events}, seal)
        if fault is not None or facts is None:
            raise self.damaged(f"it does not verify: {fault or 'the run was not opened'}")
        return RunCassette(manifest.run_id, events, facts, listed, seal)

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


def import_run(
    store: EventStore, cassette: RunCassette, verified_with: str | None, clock: Callable[[], int] = now
) -> int:
    """Add the stream of a run, and record that it was imported; how many of its events were added.

    A stream that the store has stays as it is.

    Args:
        store: open for writing.
        cassette: as `read_run_cassette` verified it.
        verified_with: the name of the trusted key that signed the cassette's seal.
        clock: microseconds since 1970-01-01 UTC.

    Raises:
        OtherDebate: the store has another run of that id, or less of it.
        StoreError: the store cannot be written.
    """
    stream = run_stream(cassette.run_id)
    here, there = store.read_stream(stream), cassette.events
    if here:
        if len(here) < len(there) or here[len(there) - 1].hash != there[-1].hash:
            raise OtherDebate(
                f"the store has a run {cassette.run_id} of its own, or less of it. Import it into another store"
            )
        return 0
    imported = RunImported(
        number=cassette.facts.imports + 1,
        sealed_by=None if cassette.seal is None else _label(read_checkpoint(cassette.seal.note.encode()).origin),
        verified_with=None if verified_with is None else _label(verified_with),
    )
    new = (*map(_new, there), encode(imported, recorded_at=clock()))
    refusal = first_refusal(store.append([Append(stream, new, 0)]))
    if refusal is not None:
        raise refusal
    return len(there)


def _new(event: StoredEvent) -> NewEvent:
    return NewEvent(event.event_id, event.type, event.schema, event.recorded_at, event.body)


def _label(name: str) -> str:
    """The name of a log or a key, printable and short enough for an event: a note may contain any name."""
    return (name if name.isprintable() else ascii(name)[1:-1])[:_NAME]

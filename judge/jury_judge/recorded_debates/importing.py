"""Debates of cassettes added to a store."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple, Self

from jury_events.drift_facts import DriftFacts
from jury_events.errors import JuryError
from jury_events.ids import portable_streams
from jury_judge.store_access.stores import Say, open_or_create, open_writer
from jury_replay.cassettes.importing import import_cassette
from jury_replay.cassettes.lines import signer_of, trusted_lengths
from jury_replay.cassettes.provenance import trust_fault, verifying_key
from jury_replay.cassettes.reading import Cassette, read_cassette
from jury_replay.cassettes.stream_cassettes import (
    StreamCassette,
    import_stream,
    is_stream_cassette,
    read_stream_cassette,
)
from jury_replay.cassettes.writing import cassettes_in
from jury_replay.errors import CassetteDamaged, CassetteError, ReplayError
from jury_store.errors import ScrubRefused
from jury_store.event_store import EventStore
from jury_store.seals.keys import PublicKey
from jury_store.seals.note import Checkpoint, read_checkpoint


class CassetteAdmission(NamedTuple):
    """What a cassette must fulfil, and whether it may erase texts; see `Records.import_cassettes`."""

    keys: Collection[PublicKey]
    checkpoint: Checkpoint | None
    erase: bool

    @classmethod
    def of(cls, keys: Collection[PublicKey], note: bytes | None, *, erase: bool) -> Self:
        """With the checkpoint of a note."""
        return cls(keys, None if note is None else read_checkpoint(note), erase or bool(keys))


class ImportedRun(NamedTuple):
    """A run whose file was imported: how many debates it lists, and the ids of those that the store does not have.

    `events` of its stream were added.
    """

    run_id: str
    listed: int
    missing: tuple[str, ...]
    events: int


class ImportedDrift(NamedTuple):
    """A baseline of drift checks whose file was imported: how many checks it has.

    `trusted`: a trusted key signed its seal; else its checks count for nothing here. `events` were added.
    """

    drift_id: str
    checks: int
    trusted: bool
    events: int


class RefusedCassette(NamedTuple):
    """A file that was not imported, and why."""

    path: Path
    error: JuryError


@dataclass
class Imported:
    """The counts over cassettes.

    Attributes:
        imported: debates of which something was added or erased.
        unchanged: debates of which everything was there.
        events: events added.
        erased: texts of the store that were erased.
        withheld: texts that were not added, because their erasure is recorded.
        reviews_left: events of people's reviews that were not added: the store has reviews of its own.
        reviews_foreign: events of reviews that keep counting for nothing: they were imported without a key before.
        not_excluded: streams of imported debates that may have later events where they come from.
        unknown_signers: keys, by name and id, that signed lengths and are not trusted: these count for nothing.
        runs: whose files were among them.
        drifts: baselines whose files were among them.
        refused: cassettes that were not imported.
    """

    imported: int = 0
    unchanged: int = 0
    events: int = 0
    texts: int = 0
    erased: int = 0
    withheld: int = 0
    reviews_left: int = 0
    reviews_foreign: int = 0
    not_excluded: list[str] = field(default_factory=list)
    unknown_signers: list[str] = field(default_factory=list)
    runs: list[ImportedRun] = field(default_factory=list)
    drifts: list[ImportedDrift] = field(default_factory=list)
    refused: list[RefusedCassette] = field(default_factory=list)


def import_cassettes(
    url: str,
    paths: Sequence[Path],
    admission: CassetteAdmission,
    *,
    wait: float,
    progress: Callable[[int], None] | None,
    say: Say,
) -> Imported:
    """Import; arguments and errors as of `Records.import_cassettes`. The store is opened when a cassette is good."""
    # The list of a run is compared with the debates that came.
    files = sorted(cassettes_in(paths, batches=True), key=is_stream_cassette)
    importing = _Importing(admission, say)
    store: EventStore | None = None
    done = 0
    try:
        for path in files:
            cassette = importing.read_stream(path) if is_stream_cassette(path) else importing.read(path)
            if cassette is None:
                continue
            store = store or open_or_create(url, partial(open_writer, run="import", wait=wait))
            if isinstance(cassette, StreamCassette):
                importing.take_stream(store, path, cassette)
            else:
                importing.take(store, path, cassette)
            done += 1
            if progress is not None:
                progress(done)
        if store is not None and importing.found.erased:
            try:
                store.scrub()
            except ScrubRefused as refused:
                say(f"jury: {refused}")
    finally:
        if store is not None:
            store.close()
    return importing.found


class _Importing:
    def __init__(self, admission: CassetteAdmission, say: Say) -> None:
        self.found = Imported()
        self._admission = admission
        self._say = say

    def read(self, path: Path) -> Cassette | None:
        """The cassette, where it is admitted."""
        try:
            cassette = read_cassette(path)
            fault = trust_fault(
                cassette.history.portable.streams, cassette.seal, self._admission.keys, self._admission.checkpoint
            )
            if fault is None and cassette.lengths is not None:
                fault = trusted_lengths(cassette.lengths, self._admission.keys).fault
            if fault is not None:
                raise CassetteDamaged(f"{path}: {fault}")
        except CassetteError as error:
            self._refuse(path, error)
            return None
        return cassette

    def read_stream(self, path: Path) -> StreamCassette | None:
        """The file of a run or a baseline, where it is admitted."""
        try:
            cassette = read_stream_cassette(path)
            streams = {cassette.stream: cassette.events}
            fault = trust_fault(streams, cassette.seal, self._admission.keys, self._admission.checkpoint)
            if fault is not None:
                raise CassetteDamaged(f"{path}: {fault}")
        except CassetteError as error:
            self._refuse(path, error)
            return None
        return cassette

    def take_stream(self, store: EventStore, path: Path, cassette: StreamCassette) -> None:
        signer = None if cassette.seal is None else verifying_key(cassette.seal, self._admission.keys)
        try:
            missing = cassette.missing(store)
            events = import_stream(store, cassette, signer)
        except ReplayError as error:
            self._refuse(path, error)
            return
        self.found.events += events
        if isinstance(cassette.facts, DriftFacts):
            checks = len(cassette.facts.checks)
            self.found.drifts.append(ImportedDrift(cassette.name, checks, signer is not None, events))
        else:
            self.found.runs.append(ImportedRun(cassette.name, len(cassette.listed), tuple(missing), events))

    def take(self, store: EventStore, path: Path, cassette: Cassette) -> None:
        try:
            signer = None if cassette.seal is None else verifying_key(cassette.seal, self._admission.keys)
            lengths = None
            if cassette.lengths is not None:
                lengths = trusted_lengths(cassette.lengths, self._admission.keys).signed
            taken = import_cassette(store, cassette, erase=self._admission.erase, verified_with=signer, lengths=lengths)
        except ReplayError as error:
            self._refuse(path, error)
            return
        found = self.found
        found.imported += bool(taken.events or taken.erased)
        found.unchanged += not (taken.events or taken.erased)
        found.events += taken.events
        found.texts += taken.parts
        found.erased += taken.erased
        found.withheld += taken.withheld
        found.reviews_left += taken.reviews_left
        found.reviews_foreign += taken.reviews_foreign
        if taken.events and (lengths is None or taken.reviews_left):
            found.not_excluded += portable_streams(taken.debate_id)
        if cassette.lengths is not None and lengths is None:
            by = signer_of(cassette.lengths)
            found.unknown_signers += [] if by in found.unknown_signers else [by]

    def _refuse(self, path: Path, error: JuryError) -> None:
        """Say it at once: there may be many more."""
        said = str(error)
        self._say(f"jury: {said if said.startswith(str(path)) else f'{path}: {said}'}")
        self.found.refused.append(RefusedCassette(path, error))

"""The seal of a cassette: which log a debate was recorded in, shown by a signed checkpoint and inclusion proofs.

It stays with an imported debate as its origin; whether a trusted key signed it decides if the debate may be adopted.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from pydantic import ValidationError

from jury_events.debate_history import DebateHistory
from jury_events.envelope import StoredEvent
from jury_events.ids import review_stream
from jury_events.parts import decode_digest, encode_digest
from jury_replay.cassettes.lines import Included, SealLine, written
from jury_replay.errors import RecordDamaged
from jury_replay.integrity import IntegrityFailure, arrived_in, import_failures
from jury_store import sealer
from jury_store.errors import BadNote
from jury_store.event_store import EventStore
from jury_store.sealer import LogTree
from jury_store.seals.keys import PublicKey
from jury_store.seals.merkle import is_included
from jury_store.seals.note import Checkpoint, read_checkpoint, signature_fault

Streams = Mapping[str, Sequence[StoredEvent]]
"""The streams of a cassette by name."""


def seal_fault(streams: Streams, seal: SealLine) -> str | None:
    """Why the proofs of a seal do not show that the streams are in the checkpoint's tree; None: they do.

    Whose checkpoint that is stays open: see `trust_fault`.
    """
    try:
        checkpoint = read_checkpoint(seal.note.encode())
    except BadNote as error:
        return f"the note of its seal: {error}"
    if not seal.streams or not seal.streams.keys() <= streams.keys():
        return "its seal is not about the streams of this debate"
    for stream, place in seal.streams.items():
        events = streams[stream]
        if place.version > len(events):
            return f"its seal covers event {place.version} of {stream}, which has {len(events)}"
        proof = [decode_digest(one) for one in place.proof]
        if [encode_digest(one) for one in proof] != list(place.proof):
            return f"the proof of {stream} is not written as it should be"
        event_hash = events[place.version - 1].hash
        if not is_included(event_hash, place.leaf, checkpoint.tree_size, proof, checkpoint.root):
            return f"the proof of its seal does not show that event {place.version} of {stream} was sealed"
    return None


def trust_fault(
    streams: Streams, seal: SealLine | None, keys: Collection[PublicKey], kept: Checkpoint | None
) -> str | None:
    """Why a cassette does not satisfy these trusted keys, or this kept checkpoint; None: it does.

    Args:
        kept: the checkpoint of the same log that was kept elsewhere, which must be the seal's own.
    """
    if not keys and kept is None:
        return None
    if seal is None:
        return "it carries no seal, so nothing shows which log it comes from; seal the log and export it again"
    checkpoint = read_checkpoint(seal.note.encode())
    fault = signature_fault(checkpoint, keys) if keys else None
    if fault is not None:
        return f"the note of its seal: {fault}"
    if kept is not None and (kept_fault := _kept_fault(checkpoint, kept)) is not None:
        return kept_fault
    for stream, events in streams.items():
        sealed = seal.streams[stream].version if stream in seal.streams else 0
        if sealed < len(events):
            return (
                f"its seal covers {sealed} of {len(events)} events of {stream}, so nothing shows who wrote the rest; "
                "seal the log and export it again"
            )
    return None


def verifying_key(seal: SealLine, keys: Collection[PublicKey]) -> str | None:
    """The name of the first of these keys that signed a seal which `trust_fault` let pass; None: none of them did."""
    checkpoint = read_checkpoint(seal.note.encode())
    return next((key.name for key in keys if checkpoint.signatures_by(key)), None)


def _kept_fault(checkpoint: Checkpoint, kept: Checkpoint) -> str | None:
    if checkpoint.origin != kept.origin:
        return f"it was sealed in the log {checkpoint.origin!r}, the checkpoint given is of {kept.origin!r}"
    if checkpoint.tree_size != kept.tree_size:
        return (
            f"its seal is over {checkpoint.tree_size} events, the checkpoint given over {kept.tree_size}: only "
            "checkpoints of one size can be compared here"
        )
    if checkpoint.root != kept.root:
        return f"the checkpoint given has another root over {kept.tree_size} events: the log was changed"
    return None


class Provenance:
    """Seals for cassettes from one store: what an imported debate brought with it, else by the store's latest seal.

    The hashes of the log are read once, when the first debate needs them.
    """

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._seal = store.latest_seal()
        self._tree: LogTree | None = None
        self._fault: str | None = None

    def seal_of(self, history: DebateHistory) -> SealLine | None:
        """The seal for a debate's cassette; None where no seal covers any of its events.

        This log's own seal is for debates that ran here: over an imported one it would confirm another store's
        record.
        """
        origin = self._store.origin(history.debate_id)
        if (failure := next(import_failures(history, origin), None)) is not None:
            raise RecordDamaged(f"debate {history.debate_id}: {failure.what}; see jury verify {history.debate_id}")
        if origin is None:
            return None if history.local.imports else self.own(f"debate {history.debate_id}", history.portable.streams)
        fault = origin_fault(history, origin)
        if fault is not None:
            raise RecordDamaged(f"debate {history.debate_id}: the seal that it was imported with: {fault}")
        return SealLine.model_validate_json(origin)

    def own(self, name: str, streams: Streams) -> SealLine | None:
        """The latest seal of this log over streams that were recorded here; None where it covers nothing of them.

        `name`: of what they are, as `debate ID`. Raises as `seal_of`.
        """
        sealed = self._seal
        if sealed is None:
            return None
        last = {
            stream: covered[-1]
            for stream, events in streams.items()
            if (covered := [event for event in events if event.position <= sealed.tree_size])
        }
        if not last:
            return None
        if any(type(event.version) is not int for event in last.values()):  # a SQLite column may contain any type
            raise RecordDamaged(f"{name}: a column contains a value of the wrong type; see jury verify")
        if self._tree is None:
            self._tree = LogTree(self._store, sealed.tree_size)
            if self._tree.root != sealed.root:
                self._fault = "does not fit the log"
            elif (fault := sealer.seal_fault(sealed)) is not None:
                self._fault = f"is not as it was made: {fault}"
        if self._fault is not None:
            raise RecordDamaged(f"the seal over {sealed.tree_size} events {self._fault}; run jury verify --all")
        return SealLine(
            note=sealed.note.decode("utf-8"),
            streams={
                stream: Included(
                    version=event.version,
                    leaf=event.position - 1,
                    proof=tuple(map(encode_digest, self._tree.proof(event.position - 1))),
                )
                for stream, event in last.items()
            },
        )


def origin_fault(history: DebateHistory, origin: bytes) -> str | None:
    """What is wrong with the seal that the store keeps beside an imported debate; None: nothing."""
    try:
        seal = SealLine.model_validate_json(origin)
    except (ValidationError, TypeError):
        return "it is damaged"
    if written(seal).removesuffix(b"\n") != origin:
        return "it is not written as it was"
    return seal_fault(history.portable.streams, seal)


def origin_of(seal: SealLine) -> bytes:
    """A seal as the store keeps it beside an imported debate: its line of the cassette, without the end."""
    return written(seal)[:-1]


def origin_failures(history: DebateHistory, origin: bytes | None) -> Iterator[IntegrityFailure]:
    """Failures of the recorded imports of a debate; `origin` is the seal stored with it."""
    yield from import_failures(history, origin)
    if origin is not None and (fault := origin_fault(history, origin)) is not None:
        yield IntegrityFailure(f"debate/{history.debate_id}", f"the seal that it was imported with: {fault}")


def adoption_fault(history: DebateHistory, origin: bytes | None, keys: Collection[PublicKey]) -> str | None:
    """Why an imported debate may not be adopted under these trusted keys; None: it may.

    It may be adopted where the seal of its import is signed by one of them and covers every imported event.
    """
    if origin is None:
        return "it came without a seal"
    fault = next((one.what for one in import_failures(history, origin)), None) or origin_fault(history, origin)
    if fault is not None:
        return fault
    seal = SealLine.model_validate_json(origin)
    fault = signature_fault(read_checkpoint(seal.note.encode()), keys)
    if fault is not None:
        return f"the note of its seal: {fault}"
    for imported in history.local.imports:
        for name, arrived in arrived_in(history.debate_id, imported):
            if name == review_stream(history.debate_id):
                continue  # what people said of it elsewhere is no part of what the jury did
            covered = seal.streams[name].version if name in seal.streams else 0
            if covered < arrived:
                return f"its seal covers {covered} of the {arrived} events of {name} that were imported"
    return None

"""Imported debates: their recorded origin, and whether a trusted key verified them."""

from collections.abc import Collection, Iterator

from jury_events.debate_history import DebateHistory
from jury_events.ids import review_stream
from jury_replay.cassettes.lines import SealLine
from jury_replay.cassettes.provenance import origin_fault
from jury_replay.import_checks import arrived_in, import_failures
from jury_replay.integrity import IntegrityFailure
from jury_store.seals.keys import PublicKey
from jury_store.seals.note import read_checkpoint, signature_fault


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

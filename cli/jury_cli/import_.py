"""`jury import`: take debates from cassettes into a store."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from jury_cli.exits import Exit
from jury_cli.options import public_key_option, resolved_store, store_option

if TYPE_CHECKING:
    from jury_events.errors import JuryError
    from jury_replay.cassettes.cassette import Cassette
    from jury_store.event_store import EventStore
    from jury_store.seals.keys import PublicKey
    from jury_store.seals.note import Checkpoint


@click.command("import")
@click.argument(
    "paths", metavar="FILE|FOLDER...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path)
)
@public_key_option
@click.option(
    "--checkpoint",
    "note_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Take only debates sealed by this checkpoint, kept elsewhere.",
)
@click.option(
    "--erase", is_flag=True, help="Let a cassette erase texts here that its origin erased (--key allows it too)."
)
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print what was imported as JSON.")
def command(
    paths: tuple[Path, ...],
    *,
    keys: tuple[Path, ...],
    note_file: Path | None,
    erase: bool,
    store_url: str | None,
    as_json: bool,
) -> int:
    """Add these debates to the store. Importing again changes nothing.

    With --key or --checkpoint only debates go in that are whole under a seal by such a key, or by this checkpoint.
    Every cassette is verified first; one that does not verify, or that is another debate under a known id, is refused
    and named, the others go on, and the command exits with 5. A missing store is created.
    """
    from jury_cli.exits import code_of
    from jury_cli.terminal import Counting, note
    from jury_events.text.pluralize import pluralize
    from jury_judge.stores.stores import open_or_create
    from jury_replay.cassettes.library import cassettes_in

    files = list(cassettes_in(paths))
    admission = _admission(keys, note_file, erase=erase)
    url = resolved_store(store_url)
    results = _Results()
    counting = Counting("cassettes read")
    store: EventStore | None = None
    try:
        for path in files:
            cassette = _read(path, admission, results)
            if cassette is None:
                continue
            store = store or open_or_create(url, write=True, run="import")
            _take(store, path, cassette, results, admission)
            counting.count()
        if store is not None and results.erased:
            _scrub(store)
    finally:
        counting.close()
        if store is not None:
            store.close()
    if as_json:
        print(json.dumps(results.as_json(), ensure_ascii=False))
    else:
        said = f"{pluralize(results.imported, 'debate')} imported ({pluralize(results.events, 'event')})"
        said += f", {results.unchanged} there already" if results.unchanged else ""
        said += f", {pluralize(results.erased, 'text')} erased" if results.erased else ""
        said += (
            f", {pluralize(results.withheld, 'text')} not brought back, erased on record" if results.withheld else ""
        )
        if results.reviews_left:
            # A cassette without a trusted seal could withdraw what was said here.
            events = pluralize(results.reviews_left, "event")
            said += f", {events} of reviews left out: this store has reviews of its own"
        if results.reviews_foreign:
            events = pluralize(results.reviews_foreign, "event")
            said += (
                f", {events} of reviews still count for nothing: they were imported without --key before; "
                "import the cassettes into another store with --key to count them"
            )
        said += f", {pluralize(len(results.refused), 'cassette')} refused" if results.refused else ""
        note(said)
    return max((code_of(error) for _, error in results.refused), default=Exit.DONE)


class _Admission(NamedTuple):
    keys: tuple["PublicKey", ...]
    checkpoint: "Checkpoint | None"
    erase: bool


class _Results:
    """The counts over the cassettes."""

    def __init__(self) -> None:
        self.imported = self.unchanged = self.events = self.texts = self.erased = self.withheld = 0
        self.reviews_left = self.reviews_foreign = 0
        self.refused: list[tuple[Path, JuryError]] = []

    def refuse(self, path: Path, error: "JuryError") -> None:
        """Note a refused cassette at once: there may be many more."""
        from jury_cli.terminal import note

        said = str(error)
        note(f"jury: {said if said.startswith(str(path)) else f'{path}: {said}'}")
        self.refused.append((path, error))

    def as_json(self) -> dict[str, object]:
        """As JSON data."""
        return {
            "imported": self.imported,
            "unchanged": self.unchanged,
            "events": self.events,
            "texts": self.texts,
            "erased": self.erased,
            "withheld": self.withheld,
            "reviews_left": self.reviews_left,
            "reviews_foreign": self.reviews_foreign,
            "refused": [{"file": str(path), "problem": str(error)} for path, error in self.refused],
        }


def _admission(key_files: tuple[Path, ...], note_file: Path | None, *, erase: bool) -> _Admission:
    from jury_judge.seals.key_files import read_keys, read_note
    from jury_store.seals.note import read_checkpoint

    keys = read_keys(key_files)
    kept = None if note_file is None else read_checkpoint(read_note(note_file))
    return _Admission(keys, kept, erase or bool(keys))


def _read(path: Path, admission: _Admission, results: _Results) -> "Cassette | None":
    from jury_replay.cassettes.provenance import trust_fault
    from jury_replay.cassettes.reading import read_cassette
    from jury_replay.errors import CassetteDamaged, CassetteError

    try:
        cassette = read_cassette(path)
        fault = trust_fault(cassette.history, cassette.seal, admission.keys, admission.checkpoint)
        if fault is not None:
            raise CassetteDamaged(f"{path}: {fault}")
    except CassetteError as error:
        results.refuse(path, error)
        return None
    return cassette


def _take(store: "EventStore", path: Path, cassette: "Cassette", results: _Results, admission: _Admission) -> None:
    from jury_replay.cassettes.importing import import_cassette
    from jury_replay.cassettes.provenance import verifying_key
    from jury_replay.errors import ReplayError

    try:
        signer = None if cassette.seal is None else verifying_key(cassette.seal, admission.keys)
        taken = import_cassette(store, cassette, erase=admission.erase, verified_with=signer)
    except ReplayError as error:
        results.refuse(path, error)
        return
    results.imported += bool(taken.events or taken.erased)
    results.unchanged += not (taken.events or taken.erased)
    results.events += taken.events
    results.texts += taken.parts
    results.erased += taken.erased
    results.withheld += taken.withheld
    results.reviews_left += taken.reviews_left
    results.reviews_foreign += taken.reviews_foreign


def _scrub(store: "EventStore") -> None:
    from jury_cli.terminal import note
    from jury_store.errors import ScrubRefused

    try:
        store.scrub()
    except ScrubRefused as refused:
        note(f"jury: {refused}")

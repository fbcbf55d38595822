"""`jury seal`: signed roots over the log, and the keys that sign them."""

import json
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import click

from jury_cli.exits import Exit
from jury_cli.options import debate_ids as debate_id_form
from jury_cli.options import resolved_store, seal_last_option, store_option
from jury_cli.seal_attesting import timestamp, witness
from jury_events.text.timestamps import moment

if TYPE_CHECKING:
    from jury_store.seals.seal import Seal


@click.group("seal")
def command() -> None:
    """Seal the log, and prove its contents.

    A seal is a Merkle root over every event (RFC 6962), signed with a key that is kept outside the database. Keep its
    note elsewhere: jury verify --checkpoint then finds whatever was changed, cut or computed anew since.
    """


@command.command("keygen", short_help="Make a key: FILE and FILE.pub.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--name", metavar="NAME", help="The log's name in its notes, such as example.com/jury. [default: one drawn by lot]"
)
def keygen(file: Path, name: str | None) -> int:
    """Make a key: FILE, which only its owner may read, and FILE.pub for verification. Prints the public key."""
    from jury_cli.terminal import note
    from jury_store.seals.keys import make_key_files, public_path

    key = make_key_files(file, name or f"jury-judge/{token_hex(4)}")
    print(key.public.line)
    note(f"{file} seals, keep it outside the database and its backups; {public_path(file)} is for verification")
    return Exit.DONE


@command.command("now", short_help="Seal everything that is stored now; prints the note.")
@click.option(
    "--key",
    "key_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    envvar="JURY_SEAL_KEY",
    required=True,
    help="The private key. [$JURY_SEAL_KEY]",
)
@seal_last_option
@store_option
def now(key_file: Path, seal_last: Path | None, store_url: str | None) -> int:
    """Seal everything that is stored now, and print the note, to be kept elsewhere.

    Where nothing is new the latest note is printed again. A log that does not begin with what this key signed last is
    refused (exit code 5).
    """
    from jury_actors.effects import Effects
    from jury_cli.seal_reading import print_note
    from jury_cli.terminal import note
    from jury_judge.seals.key_files import signer
    from jury_store.opening import open_store
    from jury_store.sealer import Sealer

    store = open_store(resolved_store(store_url), write=True, run="seal")
    try:
        key, last = signer(key_file, seal_last, sealed=lambda: store.latest_seal() is not None, say=note)
        made = Sealer(store, key, Effects().clock, last).next()
        if made is not None:
            store.store_seal(made)
        latest = store.latest_seal()
    finally:
        store.close()
    if latest is None:
        note("nothing is stored yet, so there is nothing to seal")
    else:
        print_note(latest)
        note(f"{'sealed' if made is not None else 'nothing is new since the seal over'} {latest.tree_size} events")
    return Exit.DONE


@command.command("list", short_help="List the seals.")
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def list_(store_url: str | None, *, as_json: bool) -> int:
    """List the seals, the smallest first: events, when, root, name of the key."""
    from jury_events.text.visible_text import visible_line
    from jury_store.opening import open_store

    store = open_store(resolved_store(store_url), write=False)
    try:
        seals = store.seals()
    finally:
        store.close()
    rows = [_row(seal) for seal in seals]
    if as_json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return Exit.DONE
    for row in rows:
        line = f"{row['events']:>12,}  {row['sealed_at']}  {row['root'][:16]}…  {row['origin'] or 'no checkpoint'}"
        print(visible_line(line, 400))
    return Exit.DONE


def _row(seal: "Seal") -> dict[str, Any]:
    """A seal for the list, whole or not: `jury verify` says what is wrong with it."""
    from jury_store.errors import BadNote
    from jury_store.seals.merkle import is_hash
    from jury_store.seals.note import read_checkpoint

    # A SQLite column may have a value of any type.
    try:
        at = moment(seal.sealed_at)
    except TypeError:
        at = "at no time"
    try:
        origin = read_checkpoint(seal.note).origin
    except (BadNote, TypeError, AttributeError):
        origin = None
    root = seal.root.hex() if is_hash(seal.root) else ""
    return {"events": seal.tree_size, "sealed_at": at, "root": root, "origin": origin}


@command.command("show", short_help="Print the note of a seal.")
@click.argument("size", type=click.IntRange(min=1), required=False)
@store_option
def show(size: int | None, store_url: str | None) -> int:
    """Print the note of the seal over SIZE events, or of the latest one."""
    from jury_cli.seal_reading import print_note, seal_of
    from jury_store.opening import open_store

    store = open_store(resolved_store(store_url), write=False)
    try:
        print_note(seal_of(store, size), store.attestations())
    finally:
        store.close()
    return Exit.DONE


@command.command("prove", short_help="Prove that one seal's log begins with another's.")
@click.option("--from", "old", type=click.IntRange(min=1), required=True, metavar="SIZE", help="The older seal.")
@click.option("--to", "new", type=click.IntRange(min=1), metavar="SIZE", help="The newer one. [default: the latest]")
@store_option
def prove(old: int, new: int | None, store_url: str | None) -> int:
    """Print the consistency proof (RFC 6962, 2.1.2) between two seals, as JSON."""
    from jury_cli.seal_reading import all_there, hashes, other_log, seal_of
    from jury_store.opening import open_store
    from jury_store.seals.merkle import consistency_proof, is_consistent

    store = open_store(resolved_store(store_url), write=False)
    try:
        before, after = seal_of(store, old), seal_of(store, new)
        if before.tree_size > after.tree_size:
            raise click.UsageError(f"--from {before.tree_size} is the newer seal: exchange the two")
        proof = all_there(lambda: consistency_proof(hashes(store), before.tree_size, after.tree_size))
    finally:
        store.close()
    if not is_consistent(before.tree_size, before.root, after.tree_size, after.root, proof):
        raise other_log()
    found = {
        "from": {"tree_size": before.tree_size, "root": before.root.hex()},
        "to": {"tree_size": after.tree_size, "root": after.root.hex()},
        "proof": [node.hex() for node in proof],
    }
    print(json.dumps(found, indent=2))
    return Exit.DONE


@command.command("include", short_help="Prove that a debate is under the latest seal.")
@click.argument("debate_id", metavar="DEBATE", callback=debate_id_form)
@store_option
def include(debate_id: str, store_url: str | None) -> int:
    """Print the inclusion proofs (RFC 6962, 2.1.1) of a debate under the latest seal, as JSON.

    Of each stream it is the proof of the last event that the seal covers; the chain binds all before it.
    """
    from jury_cli.seal_reading import all_there, hashes, other_log, seal_of
    from jury_events.ids import portable_streams
    from jury_store.opening import open_store
    from jury_store.seals.merkle import inclusion_proofs, is_included

    store = open_store(resolved_store(store_url), write=False)
    try:
        seal = seal_of(store, None)
        streams = store.read_streams(portable_streams(debate_id))
        covered = {
            name: next((event for event in reversed(events) if event.position <= seal.tree_size), None)
            for name, events in sorted(streams.items(), reverse=True)
        }
        heads = {name: event for name, event in covered.items() if event is not None}
        if not heads:
            raise click.UsageError(
                f"no event of debate {debate_id} is under the latest seal (over {seal.tree_size} events)"
            )
        leaves = {event.position - 1 for event in heads.values()}
        proofs = all_there(lambda: inclusion_proofs(hashes(store), seal.tree_size, leaves))
    finally:
        store.close()
    for event in heads.values():
        leaf = event.position - 1
        if not is_included(event.hash, leaf, seal.tree_size, proofs[leaf], seal.root):
            raise other_log()
    found: dict[str, Any] = {"checkpoint": seal.note.decode(), "streams": {}}
    for name, event in heads.items():
        found["streams"][name] = {
            "version": event.version,
            "hash": event.hash.hex(),
            "leaf_index": event.position - 1,
            "proof": [node.hex() for node in proofs[event.position - 1]],
        }
    print(json.dumps(found, ensure_ascii=False, indent=2))
    return Exit.DONE


command.add_command(witness)
command.add_command(timestamp)

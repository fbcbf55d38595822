"""`jury seal witness` and `jury seal timestamp`: what others state of a seal."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jury_cli.exits import Exit
from jury_cli.options import resolved_store, store_option
from jury_events.text.timestamps import moment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jury_store.event_store import EventStore
    from jury_store.seals.cosignature import WitnessKey


@click.command("witness", short_help="Have a witness cosign the latest seal; prints the cosigned note.")
@click.argument("url")
@click.option(
    "--key",
    "key_files",
    metavar="FILE",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path),
    help="Keys of the witness, one a line (a C2SP vkey). Repeatable.",
)
@store_option
def witness(url: str, key_files: tuple[Path, ...], store_url: str | None) -> int:
    """Submit the latest seal to the witness at URL (C2SP tlog-witness), and keep its cosignature beside the seal.

    URL is the witness's submission prefix. A witness that saw a log which this one does not begin with refuses (exit
    code 5). Prints the cosigned note, to be kept elsewhere.
    """
    from jury_actors.effects import Effects
    from jury_cli.seal_reading import all_there, hashes, print_note, seal_of
    from jury_cli.terminal import note
    from jury_judge.seals.attesting import ask_witness
    from jury_judge.seals.key_files import read_witnesses
    from jury_store.opening import open_store
    from jury_store.seals.attestation import COSIGNATURE, Attestation
    from jury_store.seals.merkle import consistency_proof

    keys = read_witnesses(key_files)
    store = open_store(resolved_store(store_url), write=True, run="seal")
    try:
        seal = seal_of(store, None)
        cosigned = ask_witness(
            url,
            seal.note,
            _cosigned_before(store, keys),
            lambda old: all_there(lambda: consistency_proof(hashes(store), old, seal.tree_size)),
            keys,
        )
        for one in cosigned:
            store.store_attestation(Attestation(seal.tree_size, COSIGNATURE, one.line, Effects().clock()))
        print_note(seal, store.attestations())
    finally:
        store.close()
    for one in cosigned:
        note(f"cosigned by {one.witness} over {seal.tree_size} events, {moment(one.at * 1_000_000)}")
    return Exit.DONE


@click.command("timestamp", short_help="Have a time-stamping authority stamp the latest seal.")
@click.argument("url")
@click.option(
    "--tsa-cert",
    "certificate_files",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Take only an answer under these certificates (PEM), as jury verify does. Repeatable.",
)
@store_option
def timestamp(url: str, certificate_files: tuple[Path, ...], store_url: str | None) -> int:
    """Have the authority at URL time-stamp the note of the latest seal (RFC 3161), and keep its answer beside the seal.

    Prints when that was. The stamp is over the note as jury seal now printed it, without cosignatures.
    """
    from jury_actors.effects import Effects
    from jury_cli.seal_reading import seal_of
    from jury_cli.terminal import note
    from jury_judge.seals.attesting import ask_authority
    from jury_judge.seals.key_files import read_authorities
    from jury_store.opening import open_store
    from jury_store.seals.attestation import TIMESTAMP, Attestation

    authorities = read_authorities(certificate_files)
    store = open_store(resolved_store(store_url), write=True, run="seal")
    try:
        seal = seal_of(store, None)
        answer, stamp = ask_authority(url, seal.note, authorities)
        store.store_attestation(Attestation(seal.tree_size, TIMESTAMP, answer, Effects().clock()))
    finally:
        store.close()
    print(stamp.at.isoformat())
    checked = "" if authorities else "; its signature was not checked: name the authority's certificate with --tsa-cert"
    note(f"the seal over {seal.tree_size} events is time-stamped{checked}")
    return Exit.DONE


def _cosigned_before(store: "EventStore", keys: "Iterable[WitnessKey]") -> int:
    """The largest size that a witness is known to have cosigned, 0: none. It knows better itself."""
    from jury_store.errors import BadNote
    from jury_store.seals.note import read_signature_line

    largest = 0
    for one in store.attestations():
        with suppress(BadNote):
            line = read_signature_line(one.content)
            if any(key.claims(line) for key in keys):
                largest = max(largest, one.tree_size)
    return largest

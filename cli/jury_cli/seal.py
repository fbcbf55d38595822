"""The log sealed with a key, proofs of what is in it, and what others say of its seals: jury seal."""

import json
from pathlib import Path

import click

from jury_cli.calls import call, read_from, stored
from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import STORE, fields, file_option
from jury_cli.options import debate_ids as debate_id_form
from jury_cli.streams import note
from jury_cli.terminal import print_json
from jury_events.text import moment, pluralize, visible_line

_PRIVATE_KEY = file_option(
    "--key", "key_file", envvar="JURY_SEAL_KEY", required=True, help="The private key. [$JURY_SEAL_KEY]"
)


@click.command("witness", short_help="Have a witness cosign the latest seal; prints the cosigned note.")
@click.argument("url")
@file_option(
    "--key",
    "key_files",
    multiple=True,
    required=True,
    help="Keys of the witness, one a line (a C2SP vkey). Repeatable.",
)
@options(STORE)
def witness(url: str, key_files: tuple[Path, ...], store_url: str | None) -> int:
    """Submit the latest seal to the witness at URL (C2SP tlog-witness), and keep its cosignature beside the seal.

    URL is the witness's submission prefix. A witness that saw a log which this one does not begin with refuses (exit
    code 5). Prints the cosigned note, to be kept elsewhere.
    """
    from jury_judge.seals.key_files import read_witnesses

    keys = read_witnesses(key_files)
    found = call(stored(store_url).witness(url, keys))
    print(found.note, end="")
    for one in found.cosigned:
        note(f"cosigned by {one.witness} over {pluralize(found.events, 'event')}, {moment(one.at * 1_000_000)}")
    return Exit.DONE


@click.command("timestamp", short_help="Have a time-stamping authority stamp the latest seal.")
@click.argument("url")
@file_option(
    "--tsa-cert",
    "certificate_files",
    multiple=True,
    help="Take only an answer under these certificates (PEM), as jury verify does. Repeatable.",
)
@options(STORE)
def timestamp(url: str, certificate_files: tuple[Path, ...], store_url: str | None) -> int:
    """Have the authority at URL time-stamp the note of the latest seal (RFC 3161), and keep its answer beside the seal.

    Prints when that was. The stamp is over the note as jury seal now printed it, without cosignatures.
    """
    from jury_judge.seals.key_files import read_authorities

    authorities = read_authorities(certificate_files)
    found = call(stored(store_url).timestamp(url, authorities))
    print(found.at.isoformat())
    checked = "" if authorities else "; its signature was not checked: name the authority's certificate with --tsa-cert"
    note(f"the seal over {pluralize(found.events, 'event')} is time-stamped{checked}")
    return Exit.DONE


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
    from jury_judge.seals.key_files import make_key

    key = make_key(file, name)
    print(key.public_line)
    note(f"{file} seals, keep it outside the database and its backups; {key.public_file} is for verification")
    return Exit.DONE


@command.command("now", short_help="Seal everything that is stored now; prints the note.")
@_PRIVATE_KEY
@options(fields("SealSettings", "seal_last"), STORE)
def now(key_file: Path, seal_last: Path | None, store_url: str | None) -> int:
    """Seal everything that is stored now, and print the note, to be kept elsewhere.

    Where nothing is new the latest note is printed again. A log that does not begin with what this key signed last is
    refused (exit code 5).
    """
    latest = call(stored(store_url).seal(key_file, seal_last, say=note))
    if latest is None:
        note("nothing is stored yet, so there is nothing to seal")
    else:
        print(latest.note, end="")
        note(
            f"{'sealed' if latest.is_new else 'nothing is new since the seal over'} {pluralize(latest.events, 'event')}"
        )
    return Exit.DONE


@command.command("calibration", short_help="Sign a calibration file.")
@click.argument("file", type=click.Path(path_type=Path))
@_PRIVATE_KEY
def calibration(file: Path, key_file: Path) -> int:
    """Sign a calibration file (`jury calibrate -o`): a signed note over its digest goes into FILE.

    `jury run --trust KEY.pub` then applies it, and refuses calibrations that no such key signed. A calibration that
    contradicts itself is not signed.
    """
    from jury_judge.seals.key_files import sign_calibration

    note(f"{file} is signed by {sign_calibration(file, key_file, note)}")
    return Exit.DONE


@command.command("list", short_help="List the seals.")
@options(STORE)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def list_(store_url: str | None, *, as_json: bool) -> int:
    """List the seals, the smallest first: events, when, root, name of the key."""
    seals = read_from(store_url, lambda records: records.seals())
    if as_json:
        print_json([seal._asdict() for seal in seals])
        return Exit.DONE
    for seal in seals:
        line = f"{seal.events:>12,}  {seal.sealed_at}  {seal.root[:16]}…  {seal.origin or 'no checkpoint'}"
        print(visible_line(line, 400))
    return Exit.DONE


@command.command("show", short_help="Print the note of a seal.")
@click.argument("size", type=click.IntRange(min=1), required=False)
@options(STORE)
def show(size: int | None, store_url: str | None) -> int:
    """Print the note of the seal over SIZE events, or of the latest one."""
    print(read_from(store_url, lambda records: records.seal_note(size)), end="")
    return Exit.DONE


@command.command("prove", short_help="Prove that one seal's log begins with another's.")
@click.option("--from", "old", type=click.IntRange(min=1), required=True, metavar="SIZE", help="The older seal.")
@click.option("--to", "new", type=click.IntRange(min=1), metavar="SIZE", help="The newer one. [default: the latest]")
@options(STORE)
def prove(old: int, new: int | None, store_url: str | None) -> int:
    """Print the consistency proof (RFC 6962, 2.1.2) between two seals, as JSON."""
    found = read_from(store_url, lambda records: records.prove(old, new))
    shown = {
        "from": {"tree_size": found.old.tree_size, "root": found.old.root.hex()},
        "to": {"tree_size": found.new.tree_size, "root": found.new.root.hex()},
        "proof": [node.hex() for node in found.proof],
    }
    print(json.dumps(shown, indent=2))
    return Exit.DONE


@command.command("include", short_help="Prove that a debate is under the latest seal.")
@click.argument("debate_id", metavar="DEBATE", callback=debate_id_form)
@options(STORE)
def include(debate_id: str, store_url: str | None) -> int:
    """Print the inclusion proofs (RFC 6962, 2.1.1) of a debate under the latest seal, as JSON.

    Of each stream it is the proof of the last event that the seal covers; the chain binds all before it.
    """
    found = read_from(store_url, lambda records: records.prove_included(debate_id))
    streams = {
        name: {
            "version": event.version,
            "hash": event.hash.hex(),
            "leaf_index": event.leaf_index,
            "proof": [node.hex() for node in event.proof],
        }
        for name, event in found.streams.items()
    }
    print_json({"checkpoint": found.checkpoint, "streams": streams})
    return Exit.DONE


command.add_command(witness)
command.add_command(timestamp)

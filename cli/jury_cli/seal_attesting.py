"""`jury seal witness` and `jury seal timestamp`: what others state of a seal."""

from pathlib import Path

import click

from jury_cli.calls import call, stored
from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import STORE
from jury_events.text import moment, pluralize


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
@options(STORE)
def witness(url: str, key_files: tuple[Path, ...], store_url: str | None) -> int:
    """Submit the latest seal to the witness at URL (C2SP tlog-witness), and keep its cosignature beside the seal.

    URL is the witness's submission prefix. A witness that saw a log which this one does not begin with refuses (exit
    code 5). Prints the cosigned note, to be kept elsewhere.
    """
    from jury_cli.terminal import note
    from jury_judge.seals.key_files import read_witnesses

    keys = read_witnesses(key_files)
    found = call(stored(store_url).witness(url, keys))
    print(found.note, end="")
    for one in found.cosigned:
        note(f"cosigned by {one.witness} over {pluralize(found.events, 'event')}, {moment(one.at * 1_000_000)}")
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
@options(STORE)
def timestamp(url: str, certificate_files: tuple[Path, ...], store_url: str | None) -> int:
    """Have the authority at URL time-stamp the note of the latest seal (RFC 3161), and keep its answer beside the seal.

    Prints when that was. The stamp is over the note as jury seal now printed it, without cosignatures.
    """
    from jury_cli.terminal import note
    from jury_judge.seals.key_files import read_authorities

    authorities = read_authorities(certificate_files)
    found = call(stored(store_url).timestamp(url, authorities))
    print(found.at.isoformat())
    checked = "" if authorities else "; its signature was not checked: name the authority's certificate with --tsa-cert"
    note(f"the seal over {pluralize(found.events, 'event')} is time-stamped{checked}")
    return Exit.DONE

"""The log sealed now, with a key that is kept outside the database."""

from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

from jury_actors.effects import Effects
from jury_events.text import visible_line
from jury_judge.panels.calibration_files import read_calibration, read_content
from jury_judge.panels.digest_files import signed_bytes, write_file
from jury_judge.panels.ladder_files import is_ladder, read_ladder, read_ladder_content
from jury_judge.seals.key_files import Say, read_private_key, signer
from jury_judge.seals.stored_seals import note_text
from jury_store.event_store import EventStore
from jury_store.sealer import Sealer
from jury_store.seals.keys import make_key_files, public_path


class NewKey(NamedTuple):
    """A key that was made: the line of its public key, and the file with that line."""

    public_line: str
    public_file: Path


def make_key(file: Path, name: str | None = None) -> NewKey:
    """Make a key: `file`, which only its owner may read, and `file`.pub for verification.

    Args:
        file: of the private key.
        name: the log's name in its notes; None: one drawn by lot.
    """
    key = make_key_files(file, name or f"jury-judge/{token_hex(4)}")
    return NewKey(key.public.line, public_path(file))


class SealedLog(NamedTuple):
    """The latest seal: how many events it covers, its note, and whether it was made now."""

    events: int
    note: str
    is_new: bool


def seal_now(store: EventStore, key_file: Path, last_file: Path | None, say: Say) -> SealedLog | None:
    """Seal everything that is stored; None where that is nothing.

    Args:
        store: open for writing.
        key_file: of the private key.
        last_file: of the key's last signature; None: beside the key.
        say: takes warnings.
    """
    key, last = signer(key_file, last_file, sealed=lambda: store.latest_seal() is not None, say=say)
    made = Sealer(store, key, Effects().clock, last).next()
    if made is not None:
        store.store_seal(made)
    latest = store.latest_seal()
    return None if latest is None else SealedLog(latest.tree_size, note_text(latest), made is not None)


def sign_calibration(file: Path, key_file: Path, say: Say) -> str:
    """Sign a calibration or ladder file: a note over its digest goes into it, in place of one that is there.

    Args:
        file: as `jury calibrate -o` writes it.
        key_file: of the private key.
        say: takes warnings.

    Returns:
        The key, by name and id.
    """
    name = visible_line(str(file), 1000)
    key = read_private_key(key_file, say)
    if is_ladder(file):
        read_ladder(file, name)
        document = read_ladder_content(file, name)
    else:
        read_calibration(file, name)
        document = read_content(file, name)
    write_file(file, signed_bytes(document, key))
    return f"{key.public.name}+{key.public.key_id.hex()}"

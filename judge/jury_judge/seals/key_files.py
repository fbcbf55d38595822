"""Keys in files, and what is signed with them."""

import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, NamedTuple

from jury_actors.effects import Effects
from jury_events.regular_files import FileTooLarge, read_failure, read_regular
from jury_events.text import visible_line
from jury_judge.errors import SettingsRefused
from jury_judge.panels.calibration_files import CALIBRATIONS, read_calibration, signed_bytes, write_file
from jury_judge.panels.ladders import LADDERS, is_ladder, read_ladder
from jury_judge.seals.stored_seals import note_text
from jury_judge.store_access.stores import Say
from jury_store.errors import BadNote
from jury_store.event_store import EventStore
from jury_store.sealer import Sealer
from jury_store.seals.keys import (
    PublicKey,
    SealKey,
    last_signed_path,
    make_key_files,
    public_path,
    read_public_keys,
    read_seal_key,
)

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

    from jury_replay.sealed import Trust
    from jury_store.seals.last_signed import LastSigned
    from jury_store.seals.note import WitnessKey


def read_keys(paths: Iterable[Path]) -> tuple[PublicKey, ...]:
    """The public keys of all these files."""
    keys: list[PublicKey] = []
    for path in paths:
        keys += read_public_keys(path)
    return tuple(keys)


def read_witnesses(paths: Iterable[Path]) -> "tuple[WitnessKey, ...]":
    """The keys of witnesses of all these files, each once."""
    from jury_store.seals.note import read_witness_keys

    return tuple(dict.fromkeys(key for path in paths for key in read_witness_keys(path)))


def read_trust(witnesses: Iterable[Path], required: int | None, certificates: Iterable[Path]) -> "Trust":
    """Trusted keys beside the log's key."""
    from jury_replay.sealed import NO_TRUST, Trust

    keys = read_witnesses(witnesses)
    if required is not None and required > len({key.raw for key in keys}):
        raise SettingsRefused(f"{{required}} {required}: only {len(keys)} are named by {{witnesses}}")
    files = tuple(certificates)
    if not keys and not files:
        return NO_TRUST
    return Trust(keys, required, read_authorities(files))


def read_authorities(paths: Iterable[Path]) -> "tuple[Certificate, ...]":
    """The certificates of all these files, each once."""
    from jury_store.seals.timestamp import read_certificates

    return tuple(dict.fromkeys(one for path in paths for one in read_certificates(path)))


def read_note(path: Path) -> bytes:
    """The bytes of a checkpoint."""
    from jury_store.seals.note import MAX_BYTES, read_checkpoint

    try:
        content = read_regular(path, MAX_BYTES)
        read_checkpoint(content)
    except FileTooLarge as error:
        raise BadNote(f"{path}: {error.strerror}, which is not a note; name the file with the note") from None
    except (OSError, ValueError) as error:
        raise BadNote(f"{path} cannot be read: {read_failure(error)}; check the path and its rights") from None
    except BadNote as error:
        raise BadNote(f"{path}: {error}") from None
    return content


def signer(
    key_file: Path, last_file: Path | None, *, sealed: Callable[[], bool], say: Say
) -> "tuple[SealKey, LastSigned]":
    """The sealing key, and the file of its last signature; a missing file is said.

    Args:
        last_file: where it is kept; None: beside the key.
        sealed: whether the log has seals already.
    """
    from jury_store.seals.last_signed import LastSigned

    key = read_private_key(key_file, say)
    last = LastSigned(last_file or last_signed_path(key_file), key.public)
    last.check()
    if not last.path.exists() and sealed():
        say(
            f"jury: warning: the log has seals, and {last.path}, the file of its last signature, is missing: "
            "it begins with this log as it is. If the key sealed elsewhere, bring that file along"
        )
    return key, last


def read_private_key(path: Path, say: Say) -> SealKey:
    """The sealing key; a file that others may read is said."""
    key = read_seal_key(path)
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        say(f"jury: warning: others than its owner may read {path}, and seal in your name; chmod 600 mends that")
    return key


class NewKey(NamedTuple):
    """A key that was made: the line of its public key, and the file with that line."""

    public_line: str
    public_file: Path


def make_key(file: Path, name: str | None = None) -> NewKey:
    """Make a key: `file`, which only its owner may read, and `file`.pub for verification.

    Args:
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
        last_file: of the key's last signature; None: beside the key.
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

    Returns:
        The key, by name and id.
    """
    name = visible_line(str(file), 1000)
    key = read_private_key(key_file, say)
    if is_ladder(file):
        read_ladder(file, name)
        document = LADDERS.document(file, name)
    else:
        read_calibration(file, name)
        document = CALIBRATIONS.document(file, name)
    write_file(file, signed_bytes(document, key))
    return f"{key.public.name}+{key.public.key_id.hex()}"

"""Keys and checkpoints in files of the user."""

import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from jury_events.regular_files import FileTooLarge, read_failure, read_regular
from jury_judge.errors import SettingsRefused
from jury_store.errors import BadNote
from jury_store.seals.keys import PublicKey, SealKey, last_signed_path, read_public_keys, read_seal_key

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

    from jury_replay.attested import Trust
    from jury_store.seals.last_signed import LastSigned
    from jury_store.seals.note import WitnessKey

Say = Callable[[str], None]


def read_keys(paths: Iterable[Path]) -> tuple[PublicKey, ...]:
    """The public keys of all these files."""
    return tuple(key for path in paths for key in read_public_keys(path))


def read_witnesses(paths: Iterable[Path]) -> "tuple[WitnessKey, ...]":
    """The keys of witnesses of all these files, each once."""
    from jury_store.seals.note import read_witness_keys

    return tuple(dict.fromkeys(key for path in paths for key in read_witness_keys(path)))


def read_trust(witnesses: Iterable[Path], required: int | None, certificates: Iterable[Path]) -> "Trust":
    """Trusted keys beside the log's key."""
    from jury_replay.attested import NO_TRUST, Trust

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
        key_file: of the private key.
        last_file: where it is kept; None: beside the key.
        sealed: whether the log has seals already.
        say: takes warnings.
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

"""Keys and checkpoints in files, as commands are given them."""

import stat
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from jury_judge.cli.terminal import note

if TYPE_CHECKING:
    from jury_store.seals.keys import PublicKey, SealKey


def read_keys(paths: Iterable[Path]) -> "tuple[PublicKey, ...]":
    """The public keys of all these files.

    Raises:
        SealError: a file cannot be read, or is no key file.
    """
    from jury_store.seals.keys import read_public_keys

    return tuple(key for path in paths for key in read_public_keys(path))


def read_note(path: Path) -> bytes:
    """The bytes of a checkpoint.

    Raises:
        BadNote: the file cannot be read, or holds something else.
    """
    from jury_store.errors import BadNote
    from jury_store.named_files import FileTooLarge, cause_of, read_regular
    from jury_store.seals.note import MAX_BYTES, read_checkpoint

    try:
        content = read_regular(path, MAX_BYTES)
        read_checkpoint(content)
    except FileTooLarge as error:
        raise BadNote(f"{path}: {error.strerror}, which no note is; name the file that holds the note") from None
    except (OSError, ValueError) as error:
        raise BadNote(f"{path} cannot be read: {cause_of(error)}; check the path and its rights") from None
    except BadNote as error:
        raise BadNote(f"{path}: {error}") from None
    return content


def read_private_key(path: Path) -> "SealKey":
    """The key that seals; where others may read its file, that is said.

    Raises:
        SealError: the file cannot be read, or is no private key.
    """
    from jury_store.seals.keys import read_seal_key

    key = read_seal_key(path)
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        note(f"jury: warning: others than its owner may read {path}, and seal in your name; chmod 600 mends that")
    return key

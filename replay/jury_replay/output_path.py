"""Which paths a command may write to: a free one, or an older file of the same kind."""

from pathlib import Path

from jury_replay.errors import OutputPathTaken


def check_output_path(path: Path, begins: bytes) -> None:
    """Refuse to overwrite a file of another kind: a mistyped path must not replace a store.

    Args:
        begins: the first bytes of files of that kind; empty: any file may be replaced, but no folder or device.
    """
    if not path.exists():
        return
    if not path.is_file():
        raise OutputPathTaken(f"{path}: exists and is not a file; name another path")
    with path.open("rb") as file:
        found = file.read(len(begins))
    if found and found != begins:
        raise OutputPathTaken(f"{path}: contains other data and is not replaced; name another file, or move it away")

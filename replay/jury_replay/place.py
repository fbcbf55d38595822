"""Where a command may put a file: at a free place, or over an older file of the same kind."""

from pathlib import Path

from jury_replay.errors import OutputPathTaken


def check_output_path(path: Path, begins: bytes) -> None:
    """Whether a file that begins so may be put at `path`: a mistyped path must not cost a store.

    With `begins` empty any file may be replaced, but neither a folder nor a device.

    Raises:
        OutputPathTaken: something else stands there: a folder, a device, or a file that begins otherwise and is not empty.
        OSError: it cannot be looked at.
    """
    if not path.exists():
        return
    if not path.is_file():
        raise OutputPathTaken(f"{path}: is there already, and is no file; name another place")
    with path.open("rb") as file:
        found = file.read(len(begins))
    if found and found != begins:
        raise OutputPathTaken(
            f"{path}: holds something else, which is not replaced; name another file, or move it away"
        )

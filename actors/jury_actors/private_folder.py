"""A folder for Ray's files that no other user of the machine can enter.

Ray makes its folders, with sockets, logs and spilled objects, writable by all users; so they are put into a folder that
only its owner can enter.
"""

import os
import stat
import sys
import tempfile
from pathlib import Path

from jury_actors.errors import ClusterNotStarted, FolderNotPrivate

_LONGEST_SOCKET = 107 if sys.platform == "linux" else 103
"""Bytes of a socket's path."""

_SOCKET_OF_RAY = len("/session_2026-11-28_12-00-00_000000_1234567/sockets/plasma_store")
"""Of the longest path below Ray's folder; the last number is that of a process."""


def ray_folder() -> Path:
    """The folder for the files of a local Ray cluster, in `private_folder`."""
    path = private_folder() / "ray"
    most = _LONGEST_SOCKET - _SOCKET_OF_RAY
    if (size := len(os.fsencode(path))) > most:
        variable = "RAY_TMPDIR" if os.environ.get("RAY_TMPDIR") else "TMPDIR"
        raise ClusterNotStarted(
            f"Ray cannot make its sockets in {path} ({variable}): the path has {size} bytes, and {most} are the most; "
            "set RAY_TMPDIR to a shorter folder (RAY_TMPDIR=/tmp), or do without Ray: --in-process (in Python "
            "in_process=True)"
        )
    return path


def private_folder() -> Path:
    """The folder of this user in `RAY_TMPDIR`, else in the folder for temporary files; made where there is none."""
    # The paths of sockets may have 107 bytes, and the folder for temporary files of macOS alone takes half of them.
    usual = tempfile.gettempdir() if sys.platform == "linux" else "/tmp"  # noqa: S108  (the folder in it is private)
    path = Path(os.environ.get("RAY_TMPDIR") or usual).resolve() / f"jury-{os.getuid()}"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise FolderNotPrivate(
                f"{path} must be a folder of your own without permissions for other users (chmod 700); "
                "move it away, or name another place for it in RAY_TMPDIR"
            ) from None
    return path

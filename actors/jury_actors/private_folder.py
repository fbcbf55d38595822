"""A folder for what Ray writes that no other user of the machine can enter.

Ray makes its own folders writable by everybody, with its sockets, its logs and objects that do not fit into memory in
them; so they are kept in a folder that only its owner enters.
"""

import os
import stat
import sys
import tempfile
from pathlib import Path

from jury_actors.errors import FolderNotPrivate


def private_folder() -> Path:
    """The folder of this user, made where there is none, in `RAY_TMPDIR`, else where temporary files go.

    Raises:
        FolderNotPrivate: somebody else made it, or may enter it.
    """
    # The sockets' paths may have 107 bytes, and macOS has a long one for temporary files.
    usual = tempfile.gettempdir() if sys.platform == "linux" else "/tmp"  # noqa: S108
    path = Path(os.environ.get("RAY_TMPDIR") or usual).resolve() / f"jury-{os.getuid()}"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise FolderNotPrivate(
                f"{path} must be a folder that you own and nobody else may enter; "
                "move it away, or name another place for it in RAY_TMPDIR"
            ) from None
    return path

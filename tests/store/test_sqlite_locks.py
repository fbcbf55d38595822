"""The locks of SQLite connections outlive other stores that the same process opens and closes on the same file."""

import subprocess
import sys
from pathlib import Path

import pytest

from jury_migrations import upgrading
from jury_store import open_store

WRITES_AND_ENDS = """
import sys
from jury_store.opening import open_store

store = open_store(sys.argv[1], write=True)
store.next_epoch()
store.close()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="open files are listed by the kernel in /proc/self/fd")
@pytest.mark.parametrize(
    "again",
    ["open for writing", *(pytest.param(one, marks=pytest.mark.full) for one in ("open for reading", "upgrade"))],
)
def test_another_process_does_not_delete_the_log_of_a_reader(sqlite_url: str, again: str) -> None:
    reader = open_store(sqlite_url, write=False)
    reader.last_position()
    if again == "upgrade":
        upgrading.upgrade(sqlite_url)
    else:
        open_store(sqlite_url, write=again == "open for writing").close()

    subprocess.run([sys.executable, "-c", WRITES_AND_ENDS, sqlite_url], check=True)

    open_files = [str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    database = sqlite_url.removeprefix("sqlite:///")
    assert [] == [path for path in open_files if path.startswith(database) and path.endswith("(deleted)")]
    reader.close()

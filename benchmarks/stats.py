"""What `jury stats` costs over many debates, beside the plain read of the same rows.

    uv run python benchmarks/stats.py [--debates 100000] [--folder PATH]

A store with the lists of debates of three seats, a first evaluation and two rounds, whose log is empty. Each part is a
new process: the rows of ballots read one by one, and the whole command with intervals. Seconds of the clock and of the
processors, and the peak of memory.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from ballots import fill, plain_read

JURY = str(Path(sys.executable).parent / "jury")


def measured(name: str, command: list[str], output: Path) -> None:
    """Run a command and print what it cost."""
    start = time.perf_counter()
    with output.open("wb") as out:
        child = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)])
        _, status, used = os.wait4(child, 0)
    wall = time.perf_counter() - start
    if code := os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{' '.join(command)} ended with {code}")
    peak = used.ru_maxrss / 1024
    print(f"{name:24} {wall:6.2f} s  {used.ru_utime + used.ru_stime:6.2f} CPU-s  {peak:4.0f} MB")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--debates", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, default=Path.cwd())
    parser.add_argument("--read", metavar="URL", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        print(plain_read(options.read))
        return
    folder = Path(tempfile.mkdtemp(prefix="stats-", dir=options.folder))
    try:
        url = f"sqlite:///{folder / 'stats.db'}"
        fill(url, options.debates)
        found = folder / "out.json"
        measured("rows of ballots, plain", [sys.executable, __file__, "--read", url], found)
        measured("jury stats --json", [JURY, "stats", "--all", "--store", url, "--json"], found)
        panels = json.loads(found.read_text())["panels"]
        print(f"{sum(one['debates'] for one in panels)} debates, {sum(one['clusters'] for one in panels)} clusters")
        without = ["--resamples", "0"]
        measured("without intervals", [JURY, "stats", "--all", "--store", url, "--json", *without], found)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()

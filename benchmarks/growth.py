"""How cost and memory grow with the size of a run: 100 to 100,000 debates, and a stored run of a million to read.

    uv run python benchmarks/growth.py [--sizes 100,1000,10000,100000] [--reading 1000000] [--judged 100,1000,10000]
                                       [--seats 1] [--folder PATH] [--keep] [--json FILE] [--jury PATH]

For each of `--sizes` a store is made with a finished run of so many debates, by appending the events of one recorded
debate under other ids: every chain and text is as a run would have written it. Measured on it, each in a new process:

- the same command again (`jury run`): seconds to the first result line, and to the end, with the peak of memory;
- the same with the last half of the debates missing: seconds to the first recorded new call;
- `jury list` (a page, all, runs), `jury export --parquet`: seconds and the peak of memory.

For each of `--reading` the finished run alone is made: first line, page, runs and totals of it. A million debates of
one seat take 17 GB of disk and about 20 CPU-minutes to make. With `--keep` the stores stay in `PATH/SIZE`, and are used
again.

For each of `--judged` a new run is judged with scripted answers in this process' child: CPU-ms a debate and the peak of
memory.

Every process finds its modules compiled, as after any earlier call: PYTHONDONTWRITEBYTECODE is not passed on.
"""

import argparse
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

from growth_cases import RUN, case, panel

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

STORED_RUNS = str(Path(__file__).parent / "stored_runs.py")


class Command:
    """A `jury` command in a process of its own."""

    def __init__(self, jury: str, *options: str, output: Path | None = None) -> None:
        self._line = [jury, *options]
        self._output = output
        self.found: dict[str, float] = {}

    def run(self, *, first_line: bool = False, until: Any = None) -> dict[str, float]:
        """Seconds and CPU seconds, to the end or to the first line of stdout or until `until()`; peak of MB."""
        started = time.perf_counter()
        with tempfile.TemporaryFile() as errors, Path(self._output or os.devnull).open("wb") as out:
            piped = subprocess.PIPE if first_line else out
            child = subprocess.Popen(self._line, stdout=piped, stderr=errors, env=ENVIRONMENT)
            if first_line:
                assert child.stdout is not None
                line = child.stdout.readline()
                seconds = time.perf_counter() - started
                child.stdout.close()
                ended = not line
            elif until is not None:
                while child.poll() is None and not until():
                    time.sleep(0.01)
                seconds, ended = time.perf_counter() - started, child.poll() is not None
            else:
                ended = False
            if first_line or until is not None:
                with suppress(ProcessLookupError):
                    child.send_signal(signal.SIGKILL)
            _, status, used = os.wait4(child.pid, 0) if child.returncode is None else (0, 0, None)
            child.returncode = os.waitstatus_to_exitcode(status) if child.returncode is None else child.returncode
            if ended or (not first_line and until is None and child.returncode):
                errors.seek(0)
                raise SystemExit(
                    f"{' '.join(self._line)} ended with {child.returncode}: {errors.read().decode()[-2000:]}"
                )
        if not first_line and until is None:
            seconds = time.perf_counter() - started
        assert used is not None
        return {"seconds": seconds, "cpu": used.ru_utime + used.ru_stime, "mb": used.ru_maxrss / 1024}


def shown(name: str, found: dict[str, float]) -> None:
    """Print a measurement."""
    print(f"  {name:34} {found['seconds']:8.2f} s {found['cpu']:8.2f} CPU-s {found['mb']:6.0f} MB", flush=True)


def fill(store: Path, first: int, last: int, seats: int) -> None:
    """Append finished debates of a run to a store."""
    line = (sys.executable, STORED_RUNS, store, first, last, seats)
    subprocess.run(tuple(map(str, line)), check=True, stderr=subprocess.DEVNULL)


def make_stored(folder: Path, size: int, seats: int, *, half_done: bool) -> None:
    """The stores of a run of so many debates, unless they are there: a finished one, and one that is half done."""
    whole, half, cases = folder / "whole.db", folder / "half.db", folder / "cases.jsonl"
    if cases.exists():
        return
    started = time.perf_counter()
    (folder / "panel.yaml").write_text(panel(seats))
    if half_done:
        fill(half, 0, size // 2, seats)
        shutil.copy(half, whole)
        fill(whole, size // 2, size, seats)
    else:
        fill(whole, 0, size, seats)
    with cases.open("w") as file:  # the last of the files: without it the stores are made anew
        file.writelines(json.dumps(case(number)) + "\n" for number in range(size))
    print(f"{size:,} debates, {whole.stat().st_size / size / 1000:.1f} KB each, made in", end=" ")
    print(f"{time.perf_counter() - started:.0f} s", flush=True)


def measure_half_done(folder: Path, resume: tuple[str, ...], jury: str) -> dict[str, float]:
    """To the first recorded new call of a run that is half done; in a copy of its store."""
    half = folder / "copy" / "half.db"
    half.parent.mkdir()
    shutil.copy(folder / "half.db", half)
    with closing(sqlite3.connect(half)) as database:
        before = database.execute("SELECT max(position) FROM events").fetchone()[0]

        def called() -> bool:
            query = "SELECT 1 FROM events WHERE position > ? AND type = 'exchange_recorded' LIMIT 1"
            return database.execute(query, (before,)).fetchone() is not None

        store = ("--in-process", "--store", f"sqlite:///{half}", "--simulate", "answers=scripted")
        found = Command(jury, *resume, *store).run(until=called)
    shutil.rmtree(half.parent)
    return found


def measure_stored(folder: Path, size: int, seats: int, jury: str, *, half_done: bool) -> dict[str, Any]:
    """The reading side of a run of so many debates; `half_done`: also what needs a half-done store, or every debate."""
    folder.mkdir(exist_ok=True)
    print(f"{size:,} debates", flush=True)
    make_stored(folder, size, seats, half_done=half_done)
    resume = ("run", str(folder / "cases.jsonl"), "--run", RUN, "--panel", str(folder / "panel.yaml"))
    resume = (*resume, "--jsonl", "--display", "none")
    store = ("--store", f"sqlite:///{folder / 'whole.db'}")
    tables = ("export", "--all", "--parquet", str(folder / "tables"))
    wanted: dict[str, Callable[[], dict[str, float]]] = {
        "jury list --limit 200": Command(jury, "list", "--limit", "200", *store).run,
        "jury list --runs": Command(jury, "list", "--runs", *store).run,
        "jury list --totals": Command(jury, "list", "--totals", *store).run,
        "resume, first line": partial(Command(jury, *resume, *store).run, first_line=True),
    }
    if half_done:
        wanted |= {
            "half done, first new call": partial(measure_half_done, folder, resume, jury),
            "resume, all lines": Command(jury, *resume, *store).run,
            "jury list --json, all": Command(jury, "list", "--json", *store).run,
            "jury export --parquet": Command(jury, *tables, *store).run,
        }
    Command(jury, *resume, *store).run(first_line=True)  # compiles modules
    measured = {}
    for name, measure in wanted.items():
        measured[name] = measure()
        shown(name, measured[name])
    shutil.rmtree(folder / "tables", ignore_errors=True)
    return measured


def measure_judged(folder: Path, size: int, jury: str) -> dict[str, float]:
    """A new run of so many debates."""
    cases, store = folder / "cases.jsonl", folder / "judged.db"
    with cases.open("w") as file:
        file.writelines(json.dumps(case(number)) + "\n" for number in range(size))
    panel_file = str(folder / "panel.yaml")
    found = Command(
        jury,
        *("run", str(cases), "--run", RUN, "--panel", panel_file, "--jsonl", "--display", "none", "--in-process"),
        *("--simulate", "answers=scripted", "--store", f"sqlite:///{store}"),
    ).run()
    shown(f"{size:,} judged: {found['cpu'] * 1000 / size:.2f} CPU-ms each", found)
    for path in folder.glob("judged.db*"):
        path.unlink()
    return found


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="100,1000,10000,100000", help="stored runs; 0: none")
    parser.add_argument("--judged", default="100,1000,10000", help="new runs; 0: none")
    parser.add_argument("--reading", default="0", help="stored runs that are finished, and only read; 0: none")
    parser.add_argument("--seats", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path.cwd())
    parser.add_argument("--keep", action="store_true", help="use the stores in the folder, and leave them there")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    parser.add_argument("--jury", default=str(Path(sys.executable).parent / "jury"), help="of another installation")
    options = parser.parse_args()
    folder = options.folder if options.keep else Path(tempfile.mkdtemp(prefix="growth-", dir=options.folder))
    figures: dict[str, Any] = {"seats": options.seats, "stored": {}, "judged": {}}
    try:
        (folder / "panel.yaml").write_text(panel(options.seats))
        for sizes, half_done in ((options.sizes, True), (options.reading, False)):
            for size in filter(None, map(int, sizes.split(","))):
                at = folder / str(size)
                measured = measure_stored(at, size, options.seats, options.jury, half_done=half_done)
                figures["stored"][size] = measured
                if not options.keep:
                    shutil.rmtree(at)
        for size in filter(None, map(int, options.judged.split(","))):
            figures["judged"][size] = measure_judged(folder, size, options.jury)
    finally:
        if not options.keep:
            shutil.rmtree(folder)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()

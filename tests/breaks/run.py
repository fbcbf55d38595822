"""Which test finds each seeded break: `uv run --group test python tests/breaks/run.py [NAME...]`.

For each break the test that found it last runs first, then those that the patch names, then those that `--record`
found to execute the changed lines, the cheapest first. `kills.csv` keeps what found it. A break that no test finds, or
that no longer applies, ends the command with 1.
"""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import NamedTuple

import click
from coverage import CoverageData

sys.path.insert(0, str(Path(__file__).parents[1]))

from breaks.patched import FOLDER, ROOT, Break, NotApplied, breaks, patched

TABLE = FOLDER / "kills.csv"
RECORDED = ROOT / ".breaks"
PYTEST = str(Path(sys.executable).with_name("pytest"))
SECONDS = 600.0
"""For the tests of one break."""

NOT_FOUND = {4, 5}
"""What pytest returns if the test that is named is no longer there, or every one is left out."""


class Kill(NamedTuple):
    """A row of the table: the break, the first test that failed, its tier, and the CPU-seconds of that run."""

    name: str
    test: str
    tier: str
    seconds: float


def kills() -> dict[str, Kill]:
    """The table, by break."""
    if not TABLE.exists():
        return {}
    with TABLE.open(newline="", encoding="utf-8") as file:
        return {
            row["name"]: Kill(row["name"], row["test"], row["tier"], float(row["seconds"]))
            for row in csv.DictReader(file)
        }


def keep(found: dict[str, Kill]) -> None:
    """Write the table."""
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(Kill._fields)
        rows.writerows(found[name] for name in sorted(found))


class Interrupted(Exception):
    """The command was stopped while tests ran."""


def kill_of(one: Break, tests: Iterator[str], stopping: Event) -> Kill | None:
    """The first of the tests that fails with the break; None: none does.

    Raises:
        NotApplied: the patch does not apply.
        Interrupted: `stopping` was set.
    """
    until = time.monotonic() + SECONDS
    tried: set[str] = set()
    with patched(one) as rooms:
        for test in tests:
            if test not in tried:
                tried.add(test)
                failed, seconds = failing(rooms, [test, "-x"], until, stopping)
                if failed:
                    return Kill(one.name, *failed[0], round(seconds, 1))
    return None


def failing(
    rooms: list[Path], arguments: list[str], until: float, stopping: Event
) -> tuple[list[tuple[str, str]], float]:
    """The tests that fail over patched rooms, each with its tier, and the CPU-seconds of the run."""
    with TemporaryDirectory() as folder, Path(folder, "out").open("w+b") as out:
        kills = Path(folder, "kills")
        names = os.pathsep.join(map(str, rooms))
        environ = os.environ | {"JURY_BREAK": names, "JURY_BREAK_KILLS": str(kills)}
        environ["PYTHONPATH"] = os.pathsep.join([names, str(FOLDER.parent)])
        plugins = ["-p", "no:cacheprovider", "-p", "breaks.plugin"]
        process = subprocess.Popen(
            [PYTEST, "-q", "-n", "0", *plugins, *arguments],
            cwd=ROOT,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
        try:
            while not ended:
                if stopping.wait(0.1):
                    raise Interrupted
                if time.monotonic() > until:
                    kills.write_text(json.dumps([f"{arguments[0]} (does not end)", "default"]))
                    break
                ended, status, used = os.wait4(process.pid, os.WNOHANG)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if not ended:
                _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in {0, 1, -signal.SIGKILL, *NOT_FOUND} and not kills.exists():
            out.seek(0)
            said = out.read().decode(errors="replace")[-3000:]
            raise click.ClickException(f"pytest {arguments} ended with {process.returncode}:\n{said}")
        found = kills.read_text().splitlines() if kills.exists() else []
        return [tuple(json.loads(line)) for line in found], used.ru_utime + used.ru_stime


class Recorded:
    """Which tests execute which lines, from `--record`; without it, none is known to."""

    def __init__(self) -> None:
        self._data: CoverageData | None = None
        self._seconds: dict[str, float] = {}
        if (RECORDED / "lines").exists():
            self._data = CoverageData(basename=str(RECORDED / "lines"))
            self._data.read()
            self._seconds = json.loads((RECORDED / "times.json").read_text())

    def tests(self, one: Break) -> list[str]:
        """Test functions that execute a line which the patch shows, the cheapest first."""
        if self._data is None:
            return []
        lines = self._data.contexts_by_lineno(str(ROOT / one.file))
        found = {test for line in one.lines for test in lines.get(line, ()) if test}
        return sorted(found, key=lambda test: (self._seconds.get(test, 0.0), test))


def record() -> None:
    """Run all tests of both tiers once, and keep which lines each of them executes."""
    shutil.rmtree(RECORDED, ignore_errors=True)
    RECORDED.mkdir()
    environ = os.environ | {"JURY_BREAK_RECORD": str(RECORDED), "PYTHONPATH": str(FOLDER.parent)}
    subprocess.run(
        [PYTEST, "-q", "-p", "breaks.plugin", "-m", "full or not full"],
        cwd=ROOT, env=environ, check=False,
    )  # fmt: skip
    data = CoverageData(basename=str(RECORDED / "lines"))
    for path in RECORDED.glob("lines.*"):
        part = CoverageData(basename=str(path))
        part.read()
        data.update(part)
        path.unlink()
    data.write()
    seconds: dict[str, float] = {}
    for path in RECORDED.glob("*.times"):
        for line in path.read_text(encoding="utf-8").splitlines():
            test, took = json.loads(line)
            seconds[test] = seconds.get(test, 0.0) + took
        path.unlink()
    (RECORDED / "times.json").write_text(json.dumps(seconds))


def candidates(one: Break, last: Kill | None, recorded: Recorded) -> Iterator[str]:
    """Tests that may find a break, in the order in which they are tried."""
    if last is not None:
        yield last.test
    yield from one.tests
    yield from recorded.tests(one)


@click.command()
@click.argument("names", nargs=-1)
@click.option("--from", "first", default="", help="Go on from this break.")
@click.option("--jobs", default=2, show_default=True, help="Breaks at a time.")
@click.option("--record", "recording", is_flag=True, help="First find out which tests execute which lines (minutes).")
def main(names: tuple[str, ...], first: str, jobs: int, recording: bool) -> None:
    """Find each break, or those that begin with NAMES, by the tests, and keep what found it in kills.csv."""
    if recording:
        record()
    recorded, table, stopping = Recorded(), kills(), Event()
    chosen = [one for one in breaks() if one.name >= first and (not names or one.name.startswith(names))]
    problems: list[str] = []

    def look(one: Break) -> Kill | str:
        try:
            found = kill_of(one, candidates(one, table.get(one.name), recorded), stopping)
        except NotApplied as error:
            return str(error)
        return found or f"{one.name} is found by no test: {one.change}"

    pool = ThreadPoolExecutor(jobs)
    waiting = [(one, pool.submit(look, one)) for one in chosen]
    try:
        for number, (one, answer) in enumerate(waiting, 1):
            found = answer.result()
            if isinstance(found, str):
                problems.append(found)
                table.pop(one.name, None)
                click.echo(f"{number}/{len(chosen)} {found}", err=True)
            else:
                table[one.name] = found
                click.echo(f"{number}/{len(chosen)} {one.name}: {found.test} ({found.tier}, {found.seconds} s)")
            keep({name: kill for name, kill in table.items() if (FOLDER / f"{name}.patch").exists()})
    except KeyboardInterrupt:
        stopping.set()
        pool.shutdown(cancel_futures=True)
        click.echo(f"stopped; go on with: --from {one.name}", err=True)
        sys.exit(130)
    click.echo(f"{len(chosen) - len(problems)} of {len(chosen)} breaks found")
    for problem in problems:
        click.echo(problem, err=True)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()

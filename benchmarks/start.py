"""The start of the command: CPU time of short commands, beside the interpreter alone and SQLAlchemy alone.

The store has one debate on SQLite, so nearly all of it is what the commands import. They are run in turn, and each
figure is a median: user and system time together, as the kernel counts it.

    uv run python benchmarks/start.py --rounds 20
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CASE = {"id": "refund-17", "question": "Refund order 17.", "response": "Refunded to the card ending 4242."}
DEBATE = "first~refund-17"
JURY = (sys.executable, "-c", "from jury_cli.entry import main; main()")
COMMANDS = {
    "python -c pass": (sys.executable, "-c", "pass"),
    "import sqlalchemy": (sys.executable, "-c", "import sqlalchemy"),
    "jury --help": (*JURY, "--help"),
    "jury list": (*JURY, "list"),
    "jury show": (*JURY, "show", DEBATE),
}
BASE = "import sqlalchemy"


def main() -> None:
    """Print a line a command: CPU-ms, and its ratio to the import of SQLAlchemy in the same run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12, help="how often each command is run")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
        for _ in range(options.rounds):
            for name, command in COMMANDS.items():
                taken[name].append(cpu_seconds(command, Path(folder)))
    medians = {name: statistics.median(seconds) for name, seconds in taken.items()}
    if options.json:
        print(json.dumps({"rounds": options.rounds, "cpu_seconds": medians}))
        return
    print(f"{options.rounds} rounds, in turn; medians")
    for name, median in medians.items():
        print(f"{name:<20} {median * 1000:6.0f} CPU-ms  {median / medians[BASE]:5.2f} of {BASE!r}")


def prepare(folder: Path) -> None:
    """A store with one debate, and compiled modules."""
    (folder / "cases.jsonl").write_text(json.dumps(CASE) + "\n", "utf-8")
    run((*JURY, "run", "cases.jsonl", "--run", "first", "--in-process"), folder)
    for command in COMMANDS.values():
        run(command, folder)


def cpu_seconds(command: tuple[str, ...], folder: Path) -> float:
    """User and system time of a process from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(command, folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def run(command: tuple[str, ...], folder: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("JURY_")}
    ended = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {ended.returncode}: {ended.stderr}")


if __name__ == "__main__":
    main()

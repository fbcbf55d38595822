"""What a debate costs here and in inspect_ai, in turn: the figures that the documentation gives.

    uv run python benchmarks/compare.py [--rounds 3] [--debates 400] [--json FILE]

The same 13 calls (three jurors alone and in three rounds, a final judge) with models that answer at once: by
`benchmarks/debates.py` in one process, and by `benchmarks/inspect_debates.py` in an environment of its own that uv
makes for inspect_ai at the version below, with its log in real time, as by default, and without. A round runs each
once. Prints CPU-ms a debate and debates/s of each round, and the ratios by rounds: the median, the least and the most.
"""

import argparse
import json
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

INSPECT = "inspect-ai==0.3.285"
FOLDER = Path(__file__).parent
HERE = "jury judge"


def ours(debates: int) -> dict[str, Any]:
    """The figures of one round of this project."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "figures.json"
        command = [sys.executable, FOLDER / "debates.py", "--debates", str(debates), "--json", found]
        subprocess.run(command, check=True, capture_output=True)
        return dict(json.loads(found.read_text()))


def inspects(debates: int, *options: str) -> dict[str, Any]:
    """The figures of one round of inspect_ai."""
    isolated = ["uv", "run", "--isolated", "--no-project", "--python", platform.python_version(), "--with", INSPECT]
    command = [*isolated, "python", FOLDER / "inspect_debates.py", "--debates", str(debates), *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def spread(numbers: Sequence[float], digits: int) -> str:
    """The median, the least and the most."""
    low, high = min(numbers), max(numbers)
    return f"{statistics.median(numbers):.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


def main() -> None:
    """Measure in turn, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--debates", type=int, default=400)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    measured: dict[str, list[dict[str, Any]]] = {HERE: [], "inspect": [], "inspect, log at the end": []}
    for _ in range(options.rounds):
        measured[HERE].append(ours(options.debates))
        measured["inspect"].append(inspects(options.debates // 4))
        measured["inspect, log at the end"].append(inspects(options.debates // 4, "--log-at-end"))
    print(
        f"{INSPECT}, {platform.machine()}, {psutil.cpu_count()} CPUs, Python {platform.python_version()}, "
        f"{datetime.now(UTC):%d %B %Y}, {options.rounds} rounds in turn: median (least-most)"
    )
    cpu = {name: [1000 * one["cpu_seconds"] / one["debates"] for one in rounds] for name, rounds in measured.items()}
    rate = {name: [one["debates"] / one["seconds"] for one in rounds] for name, rounds in measured.items()}
    for name in measured:
        ratios = [one / own for one, own in zip(cpu[name], cpu[HERE], strict=True)]
        faster = [own / one for one, own in zip(rate[name], rate[HERE], strict=True)]
        print(
            f"{name:<24} {spread(cpu[name], 1):>22} CPU-ms, {spread(rate[name], 1):>22} debates/s; "
            f"CPU {spread(ratios, 2)} times ours, our rate {spread(faster, 2)} times"
        )
    if options.json is not None:
        options.json.write_text(json.dumps(measured, indent=2) + "\n")


if __name__ == "__main__":
    main()

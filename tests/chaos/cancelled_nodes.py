"""A node dies and runs are cancelled at once: the cancellation comes back, every debate is over, the run has ended.

`uv run python -m chaos.cancelled_nodes --strikes N --report FILE`, from the folder `tests`. A strike is a run that is
detached to a cluster of two nodes, and cancelled as the second node is killed. Where Ray put the process of the run, a
coordinator or the clerk is Ray's choice: so is what dies.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path

import click

from chaos.ground import Ground, shared_ground
from jury_events.ids import debate_stream
from jury_store.event_store import EventStore
from jury_store.opening import open_store
from support.command_line import CommandLine
from support.waiting import eventually

CASES = 8
_COMES_BACK = 300.0
"""Seconds for which a cancellation is waited for: it says every 15 s what it waits for."""

_ENDS = {"debate_completed", "debate_failed", "debate_cancelled"}
_SLOW = ("--simulate", "latency=2", "--simulate", "sigma=0")
_PANEL = {
    "seats": [{"juror_id": name, "model": "simulated/juror"} for name in ("one", "two")],
    "final": {"method": "majority_vote"},
}


@dataclass
class CancelReport:
    """One death of a node: runs cancelled, how their debates ended, seconds that cancellations took, what failed."""

    seed: int
    runs: int
    order: str = ""
    ended: dict[str, int] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)


def strike(ground: Ground, seed: int, runs: int) -> CancelReport:
    """Detach runs, kill the second node, and cancel the runs in the same moment; another node joins afterwards.

    Args:
        ground: the cluster and the server.
        seed: draws the moment, and whether the death or the cancellation comes first.
        runs: how many are cancelled at once, each of a store of its own.
    """
    rng = random.Random(seed)
    folder = Path(tempfile.mkdtemp(dir=ground.folder))
    report = CancelReport(seed, runs, "death first" if rng.random() < 0.5 else "cancellation first")
    with ExitStack() as ends:
        these = [_Run(folder, f"s{seed}n{number}", ground) for number in range(runs)]
        for one in these:
            one.begin(report)
            ends.callback(one.reader.close)
        begun = [one for one in these if one.is_begun]
        moment = rng.randrange(2 * CASES, 8 * CASES)
        eventually(lambda: all(one.reader.last_position() > moment or one.is_over for one in begun), _COMES_BACK)
        _strike(ground, begun, report)
        ground.nodes.do("add {}")
        for one in begun:
            report.violations += one.broken(report, detaches=one is begun[seed % len(begun)])
    return report


class _Run:
    """A run that is detached to the cluster."""

    def __init__(self, folder: Path, run_id: str, ground: Ground) -> None:
        self.run_id = run_id
        self.url = ground.postgres_store()
        self.jury = CommandLine(folder)
        self.env = ground.nodes.env
        self.reader: EventStore = open_store(self.url, write=False)
        self.is_begun = False
        names = [f"c{number}" for number in range(CASES)]
        self._cases = self.jury.write(
            "cases.jsonl", *({"case_id": name, "question": f"{name}?", "response": "Yes."} for name in names)
        )
        panel = self.jury.write("panel.json", _PANEL)
        at = ("--store", self.url, "--ray-address", ground.nodes.address, "--panel", panel, "--replicas", "1")
        self._options = (*at, *_SLOW)

    def begin(self, report: CancelReport) -> None:
        """Detach it, and wait until its debates are open."""
        code, said = self._detach()
        self.is_begun = code == 0
        if not self.is_begun:
            report.violations.append(f"{self.run_id} was not begun ({code}): {said[-300:]}")

    @property
    def is_over(self) -> bool:
        ended = self.debates()
        return len(ended) == CASES and all(ended.values())

    def debates(self) -> dict[str, list[str]]:
        """The ends of each debate that was opened."""
        opened = [f"{self.run_id}~c{number}" for number in range(CASES)]
        found = {debate: self.reader.read_stream(debate_stream(debate)) for debate in opened}
        return {debate: [one.type for one in events if one.type in _ENDS] for debate, events in found.items() if events}

    def broken(self, report: CancelReport, *, detaches: bool) -> Iterator[str]:
        """What does not hold of it now; `detaches`: the command is called once more, which joins the cluster."""
        ended = self.debates()
        report.ended = dict(Counter(report.ended) + Counter(end for ends in ended.values() for end in ends))
        yield from (f"{debate} ended {len(ends)} times: {ends}" for debate, ends in ended.items() if len(ends) != 1)
        listed = self.jury("runs", "--json", "--store", self.url)
        if listed.code or [row for row in listed.json if row["state"] == "running"]:
            yield f"jury runs ended with {listed.code}: {listed.out[-300:]}{listed.err[-300:]}"
        code, said = self._detach() if detaches else (0, "")
        if "goes on already" in said or "Traceback" in said:
            yield f"detached again, {self.run_id} ended with {code}: {said[-500:]}"
        if (done := self.jury("verify", "--all", "--store", self.url)).code:
            yield f"jury verify ended with {done.code}: {done.out[-300:]}{done.err[-300:]}"

    def _detach(self) -> tuple[int, str]:
        process = self.jury.start("run", self._cases, "--run", self.run_id, "--detach", *self._options, env=self.env)
        _, said = process.communicate()
        return process.returncode, said.decode()


def _strike(ground: Ground, runs: list[_Run], report: CancelReport) -> None:
    if report.order == "death first":
        ground.nodes.do("kill 1")
    began = time.monotonic()
    cancels = [one.jury.start("cancel", one.run_id, "--by", "chaos", "--store", one.url) for one in runs]
    if report.order != "death first":
        ground.nodes.do("kill 1")
    for one, process in zip(runs, cancels, strict=True):
        try:
            _, said = process.communicate(timeout=max(1.0, began + _COMES_BACK - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            report.violations.append(f"jury cancel {one.run_id} did not come back in {_COMES_BACK:g} s")
            continue
        report.seconds.append(round(time.monotonic() - began, 1))
        if process.returncode:
            report.violations.append(f"jury cancel {one.run_id} ended with {process.returncode}: {said[-300:]!r}")


@click.command()
@click.option("--strikes", default=50, show_default=True, help="Ends once so many runs were cancelled.")
@click.option("--runs", default=2, show_default=True, help="Runs cancelled as one node dies.")
@click.option("--seed", default=1, show_default=True)
@click.option("--minutes", type=float, help="Begins no strike after so long.")
@click.option("--report", "path", type=click.Path(path_type=Path), required=True, help="The JSON report, as it grows.")
def campaign(*, strikes: int, runs: int, seed: int, minutes: float | None, path: Path) -> None:
    """Cancel runs while a node dies, again and again."""
    until = time.monotonic() + 60 * (minutes or 10**6)
    found: list[CancelReport] = []
    with tempfile.TemporaryDirectory(prefix="chaos-", dir="/tmp") as folder, shared_ground(Path(folder)) as ground:
        while sum(len(one.seconds) for one in found) < strikes and time.monotonic() < until:
            found.append(strike(ground, seed * 1000 + len(found), runs))
            click.echo(json.dumps(asdict(found[-1])), err=True)
            path.write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n")
    sys.exit(any(one.violations for one in found))


if __name__ == "__main__":
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    campaign()

"""A node dies and runs are cancelled at once: the cancellation comes back, every debate is over, the run has ended.

`uv run --group test python -m chaos.cancelled_nodes --strikes N --report FILE`, from the folder `tests`. A strike is a
run that is detached to a cluster of two nodes, and cancelled as the second node is killed. Where Ray put the process of
the run, a coordinator or the clerk is Ray's choice: so is what dies.
"""

import json
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
from jury_events import debate_stream
from jury_store import EventStore, open_store
from support.command_line import CommandLine
from support.waiting import eventually

CASES = 8
_COMES_BACK = 300.0
"""Seconds for which a cancellation, and then the end of the run's process, is waited for."""

_ENDS = {"debate_completed", "debate_failed", "debate_cancelled"}
_SLOW = ("--simulate", "latency=8", "--simulate", "sigma=0")
_PANEL = {
    "seats": [{"juror_id": name, "model": "simulated/juror"} for name in ("one", "two")],
    "final": {"method": "majority_vote"},
}


@dataclass
class CancelReport:
    """One death of a node.

    `struck` of the runs had debates that were cancelled. Then how all debates ended, the seconds that each cancellation
    took, and what does not hold.
    """

    seed: int
    runs: int
    struck: int = 0
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
    report = CancelReport(seed, runs, order="death first" if rng.random() < 0.5 else "cancellation first")
    with ExitStack() as ends:
        these = [_Run(folder, f"s{seed}n{number}", ground) for number in range(runs)]
        for one in these:
            ends.callback(one.reader.close)
        detached = [one.detach() for one in these]
        begun = [one for one, process in zip(these, detached, strict=True) if one.is_begun(process, report)]
        moment = rng.randrange(CASES, 6 * CASES)
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
        names = [f"c{number}" for number in range(CASES)]
        self._cases = self.jury.write(
            "cases.jsonl", *({"case_id": name, "question": f"{name}?", "response": "Yes."} for name in names)
        )
        panel = self.jury.write("panel.json", _PANEL)
        at = ("--store", self.url, "--ray-address", ground.nodes.address, "--panel", panel, "--replicas", "1")
        self._options = (*at, *_SLOW)

    def detach(self) -> "subprocess.Popen[bytes]":
        """The command that hands it to the cluster."""
        return self.jury.start("run", self._cases, "--run", self.run_id, "--detach", *self._options, env=self.env)

    def is_begun(self, process: "subprocess.Popen[bytes]", report: CancelReport) -> bool:
        """Whether that command has handed it over, once it has ended."""
        _, said = process.communicate()
        if process.returncode:
            report.violations.append(f"{self.run_id} was not begun ({process.returncode}): {said[-300:]!r}")
        return process.returncode == 0

    @property
    def is_over(self) -> bool:
        ended = self.debates()
        return len(ended) == CASES and all(ended.values())

    def debates(self) -> dict[str, list[str]]:
        """The ends of each debate that was opened."""
        opened = [f"{self.run_id}~c{number}" for number in range(CASES)]
        found = {debate: self.reader.read_stream(debate_stream(debate)) for debate in opened}
        return {debate: [one.type for one in events if one.type in _ENDS] for debate, events in found.items() if events}

    def _is_listed_as_running(self) -> bool:
        listed = self.jury("runs", "--json", "--store", self.url)
        assert listed.code == 0, listed.err
        return any(row["state"] == "running" for row in listed.json)

    def broken(self, report: CancelReport, *, detaches: bool) -> Iterator[str]:
        """What does not hold of it now; `detaches`: the command is called once more, which joins the cluster."""
        ended = self.debates()
        report.struck += any("debate_cancelled" in ends for ends in ended.values())
        report.ended = dict(Counter(report.ended) + Counter(end for ends in ended.values() for end in ends))
        yield from (f"{debate} ended {len(ends)} times: {ends}" for debate, ends in ended.items() if len(ends) != 1)
        try:
            eventually(lambda: not self._is_listed_as_running(), _COMES_BACK)
        except AssertionError:
            yield f"{self.run_id} is still listed as running"
        if detaches:
            _, said = (again := self.detach()).communicate()
            if b"goes on already" in said or b"Traceback" in said:
                yield f"detached again, {self.run_id} ended with {again.returncode}: {said[-500:]!r}"
        if (done := self.jury("verify", "--all", "--store", self.url)).code:
            yield f"jury verify ended with {done.code}: {done.out[-300:]}{done.err[-300:]}"


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
        while sum(one.struck for one in found) < strikes and time.monotonic() < until:
            found.append(strike(ground, seed * 1000 + len(found), runs))
            click.echo(json.dumps(asdict(found[-1])), err=True)
            path.write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n")
    sys.exit(any(one.violations for one in found))


if __name__ == "__main__":
    campaign()

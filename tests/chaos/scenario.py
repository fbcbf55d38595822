"""One scenario: a run, strikes of one kind at moments drawn by a seed, and what must hold when it has ended."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from chaos.counted_models import RUN
from chaos.ground import Ground, small_disk
from chaos.strikes import KINDS, Kind, Target
from chaos.warm_start import WarmProcess
from jury_events import calls_stream, debate_stream
from jury_store import EventStore, StoreError, open_store
from support.command import Command, Started
from support.command_line import CommandLine
from support.runtime_harness import broken_promises, repeated_steps
from support.waiting import eventually

HOUR = 3_600_000_000
"""In microseconds, as events record times. Every jump is one of a day or two."""

EVENTS_OF_A_DEBATE = 13
"""About as many are in its streams; the moments of strikes are spread over them."""

_MOST_CALLS = 30
RESUMABLE = (4, 130)
"""Exit codes after which the same command goes on."""
_TOO_BUSY = "did not answer in"
"""What a command says, with the code 2 and before it records anything, of nodes that were too busy to be looked at."""

_ENDS = {"debate_completed", "debate_failed", "debate_cancelled"}


class WarmCommand(Command):
    """The same command, forked from a process that has imported it."""

    def spawn(self, arguments: list[str], out: Path, err: Path) -> psutil.Popen:
        out.touch()  # it may be killed before it opens them
        err.touch()
        return WarmProcess(arguments, self.folder, self.environment(), out, err)  # type: ignore[return-value]  (what a Started uses of it)


@dataclass(frozen=True)
class Scenario:
    """A kind, the seed of its moments, its number in a campaign, and how many cases and strikes it has."""

    kind: str
    seed: int
    number: int = 0
    cases: int = 8
    strikes: int = 1
    warm: bool = False


@dataclass
class ScenarioReport:
    """What happened: the log's length at each strike, calls of the command, requests that the server counted.

    `asked_again` are the steps that events name as asked again; `violations` are what does not hold, none when all is
    well.
    """

    scenario: Scenario
    moments: list[int] = field(default_factory=list)
    calls: int = 0
    served: int = 0
    recorded: int = 0
    asked_again: int = 0
    violations: list[str] = field(default_factory=list)

    @property
    def struck(self) -> int:
        return len(self.moments)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "ScenarioReport":
        return cls(**values | {"scenario": Scenario(**values["scenario"])})


def play(ground: Ground, scenario: Scenario) -> ScenarioReport:
    """Run it to its end, and look at everything that it left.

    Raises:
        CannotStrike: this machine cannot make the fault; says why.
    """
    kind = KINDS[scenario.kind]
    folder = ground.folder / f"s{scenario.number}"
    folder.mkdir()
    rng = random.Random(scenario.seed)
    report = ScenarioReport(scenario)
    with ExitStack() as ends:
        disk = ends.enter_context(small_disk(folder)) if kind.store == "disk" else folder
        url = ground.postgres_store() if kind.store == "postgres" else ground.sqlite_store(disk)
        clock = folder / "clock"
        clock.write_text("+0\n")
        make = WarmCommand if scenario.warm and not kind.moves_clock and kind.where == "process" else Command
        command = make(folder, case_file(folder, case_rows(scenario)), url, RUN, env=_environment(ground, kind, clock))
        reader = open_store(url, write=False)
        ends.callback(reader.close)
        started = _disturbed(Course(command, _options(ground, kind), reader), ground, kind, report, disk, clock, rng)
        report.calls = len(started)
        report.violations += _broken(ground, report, reader, started)
        report.violations += unsound(folder, url)
        if kind.moves_clock and report.struck and not _clock_was_moved(reader):
            report.violations.append("the clock did not move: no event has another day")
    return report


class Course:
    """Calls of one command, and how far its log is."""

    def __init__(self, command: Command, options: tuple[str, ...], reader: EventStore) -> None:
        self._command = command
        self._options = options
        self._reader = reader
        self.started: list[Started] = []

    def call(self, *more: str) -> Started:
        self.started.append(self._command.start(*self._options, *more))
        assert len(self.started) <= _MOST_CALLS, f"not done after so many calls: {self.started[-2].stderr}"
        return self.started[-1]

    def goes_on_for(self, events: int) -> bool:
        """Wait until the log has so many events more; whether the command still goes on then."""
        running = self.started[-1]
        until = self.events() + events
        eventually(lambda: running.process.poll() is not None or self.events() >= until, seconds=600)
        return running.process.poll() is None

    def events(self) -> int:
        """How many the log has; 0 while it cannot be read."""
        with suppress(StoreError):
            return self._reader.last_position()
        return 0


def _disturbed(
    course: Course, ground: Ground, kind: Kind, report: ScenarioReport, disk: Path, clock: Path, rng: random.Random
) -> list[Started]:
    """Every call of the command until one ends with 0."""
    running = course.call()
    apart = report.scenario.cases * EVENTS_OF_A_DEBATE // (report.scenario.strikes + 1)
    while len(report.moments) < report.scenario.strikes:
        if course.goes_on_for(rng.randrange(2 * apart)):
            at = course.events()
            if kind.strike(Target(running, ground, disk, clock, rng, report.struck)):
                report.moments.append(at)
        elif resumable(running):
            running = course.call()
        else:
            break
    while resumable(running):
        running = course.call()
    return course.started


def resumable(running: Started) -> bool:
    """Wait for the end of a command; whether the same command goes on."""
    code = running.ends(600)
    return code < 0 or code in RESUMABLE or (code == 2 and _TOO_BUSY in running.stderr)


def _options(ground: Ground, kind: Kind) -> tuple[str, ...]:
    shared = ("--panel", str(ground.panel), "--concurrency", "4", "--display", "none")
    return (
        *shared,
        *{
            "process": ("--in-process",),
            "ray": ("--ray", "--replicas", "1"),
            "nodes": ("--ray-address", ground.nodes.address) if kind.where == "nodes" else (),
        }[kind.where],
    )


def _environment(ground: Ground, kind: Kind, clock: Path) -> dict[str, str]:
    env = dict(ground.models.variables)
    if kind.moves_clock:
        env |= {"LD_PRELOAD": str(ground.clock_library), "JURY_MOVED_CLOCK": str(clock)}
    return env | (ground.nodes.env if kind.where == "nodes" else {})


def case_rows(scenario: Scenario) -> list[dict[str, str]]:
    """Its cases, whose questions name them for the simulated models."""
    names = [f"s{scenario.number}c{number}" for number in range(scenario.cases)]
    return [{"case_id": name, "question": f"Refund order {name} .", "response": "Refunded."} for name in names]


def case_file(folder: Path, rows: list[dict[str, str]]) -> Path:
    """A file of cases."""
    path = folder / "cases.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _broken(ground: Ground, report: ScenarioReport, reader: EventStore, started: list[Started]) -> Iterator[str]:
    """Debates that did not end once, calls that were not recorded or repeated, lines that differ."""
    debates = debates_of(report.scenario)
    yield from broken_debates(ground, report, reader, debates)
    yield from differing(debates, started)
    if started[-1].process.returncode:
        yield f"the last call ended with {started[-1].process.returncode}: {started[-1].stderr[-500:]}"


def debates_of(scenario: Scenario) -> list[str]:
    """The ids of its debates."""
    return [f"{RUN}~s{scenario.number}c{case}" for case in range(scenario.cases)]


def broken_debates(ground: Ground, report: ScenarioReport, reader: EventStore, debates: list[str]) -> Iterator[str]:
    """Debates that did not end once, and calls that were not recorded or repeated; counts calls in the report."""
    yield from ended_otherwise(debates, reader)
    for debate in debates:
        served = ground.models.by_debate.get(f"{RUN}~{debate.partition('~')[2]}", Counter())
        yield from (f"{debate} {broken}" for broken in broken_promises(reader, debate, served))
        report.served += served.total()
        report.recorded += len(reader.read_stream(calls_stream(debate)))
        report.asked_again += repeated_steps(reader, debate).total()


def ended_otherwise(debates: list[str], reader: EventStore) -> Iterator[str]:
    """Debates that did not end once."""
    for debate in debates:
        ended = [event.type for event in reader.read_stream(debate_stream(debate)) if event.type in _ENDS]
        if ended != ["debate_completed"]:
            yield f"{debate} ended {len(ended)} times: {ended}"


def differing(debates: list[str], started: list[Started], seats: int = 2) -> Iterator[str]:
    """Results that were printed twice and differ; the last call prints each once, with every seat's own vote."""
    printed: dict[str, set[str]] = {}
    last: Counter[str] = Counter()
    for one in started:
        last.clear()
        for line in one.whole_lines:
            result = json.loads(line)
            printed.setdefault(result["debate_id"], set()).add(line)
            last[result["debate_id"]] += 1
            if set(result["vote_kinds"].values()) != {"own"} or len(result["vote_kinds"]) != seats:
                yield f"{result['debate_id']}: not every seat has a vote of its own: {result['vote_kinds']}"
        if "Traceback" in one.stderr:
            yield f"a traceback: {one.stderr[-800:]}"
    differing = [(debate, len(found)) for debate, found in printed.items() if len(found) > 1]
    yield from (f"{debate} was printed with {results} results" for debate, results in differing)
    if last != Counter(debates):
        yield f"the last call printed {dict(last)}"


def unsound(folder: Path, url: str) -> Iterator[str]:
    """What `jury replay` and `jury verify` find."""
    jury = CommandLine(folder)
    for arguments in (("replay", "--run", RUN, "--processes", "1"), ("verify", "--all")):
        done = jury(*arguments, "--store", url)
        if done.code:
            yield f"jury {arguments[0]} ended with {done.code}: {done.out[-300:]}{done.err[-300:]}"


def _clock_was_moved(reader: EventStore) -> bool:
    times = [event.recorded_at for event in reader.read_all()]
    return max(times) - min(times) > HOUR

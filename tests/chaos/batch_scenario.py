"""One scenario of `jury run --batch`: killed at drawn moments, it submits nothing twice that may be answered.

A moment is a length of the log, or a call to a provider that gets no answer: before it was done, or after.
"""

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psutil

from chaos.counted_models import RUN
from chaos.ground import Ground
from chaos.scenario import (
    Course,
    Scenario,
    ScenarioReport,
    WarmCommand,
    case_file,
    case_rows,
    debates_of,
    differing,
    ended_otherwise,
    resumable,
    unsound,
)
from chaos.strikes import KINDS, Target
from chaos.warm_start import WarmProcess
from jury_judge.runs import batch_plan
from jury_providers import Script
from jury_store import EventStore, open_store
from support.simulation_thread import simulation_thread
from support.vendors.batch_lives import ScriptedJobs
from support.vendors.batch_script import BatchScript
from support.waiting import eventually

SEATS = {"one": "openai/one", "two": "anthropic/two", "three": "google/three", "live": "simulated/four"}
"""Of the last one the calls are made live, in the same waves."""

PANEL = {
    "preset": "parallel-rounds",
    "seats": [{"model": model, "juror_id": seat, "fallbacks": []} for seat, model in SEATS.items()],
    "discussion": {"max_rounds": 1, "threshold": 2.0},
    "final": {"method": "majority_vote", "quorum": 1},
}
KEYS = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), "of-no-provider")
_PATIENCE = 3.0
"""Seconds in which a submission may be on its way, 300 in the product, and after which results are missed again, 60."""

_CALLS = ("upload", "submit", "state", "results")
"""Those that every run makes."""

_HARDEST = ("submit", "lost_timeout")
"""The first moment of every scenario: the provider has a batch, and only its list can say so."""

_EVENTS_OF_BATCHES = 40
_HANGING = 0.5
"""How often a moment is a call without an answer."""


class BatchCommand(WarmCommand):
    """`jury run --batch`, which waits less long for a submission that may be on its way."""

    def spawn(self, arguments: list[str], out: Path, err: Path) -> psutil.Popen:
        out.touch()
        err.touch()
        return WarmProcess(arguments, self.folder, self.environment(), out, err, soon_arrived)  # type: ignore[return-value]  (as of a WarmCommand)


def soon_arrived() -> None:
    """Let this process wait less long for a submission that may be on its way."""
    patience = batch_plan.BatchPatience
    batch_plan.BatchPatience = lambda deadline: patience(deadline, arrival=_PATIENCE, again=_PATIENCE)  # type: ignore[assignment,misc]  (it is called alone)


def play_batched(ground: Ground, scenario: Scenario) -> ScenarioReport:
    """Run it to its end, and look at everything that it left."""
    folder = ground.folder / f"s{scenario.number}"
    folder.mkdir()
    panel = folder / "panel.json"
    panel.write_text(json.dumps(PANEL))
    url = ground.sqlite_store(folder)
    report = ScenarioReport(scenario)
    with batch_models() as (jobs, variables):
        command = BatchCommand(folder, case_file(folder, case_rows(scenario)), url, RUN, env=variables)
        reader = open_store(url, write=False)
        try:
            course = Course(command, ("--panel", str(panel), "--batch", "--display", "none"), reader)
            _struck(course, ground, jobs, report, random.Random(scenario.seed))
            report.calls = len(course.started)
            report.violations += _broken(report, reader, jobs)
            report.violations += differing(debates_of(scenario), course.started, len(SEATS))
            if code := course.started[-1].process.returncode:
                report.violations.append(f"the last call ended with {code}: {course.started[-1].stderr[-500:]}")
            report.violations += unsound(folder, url)
        finally:
            reader.close()
    return report


@contextmanager
def batch_models(clock: Callable[[], float] = time.time) -> Iterator[tuple[ScriptedJobs, dict[str, str]]]:
    """The batches of a server of simulated models in a thread of this process, and the variables that lead to it.

    `clock`: the provider's, seconds since 1970.
    """
    batches = partial(ScriptedJobs, script=BatchScript(), clock=clock)
    with simulation_thread(Script(answers="scripted"), batches=batches) as simulation:
        assert isinstance(simulation.batches, ScriptedJobs)
        yield simulation.batches, {**simulation.variables, **KEYS}


def _struck(course: Course, ground: Ground, jobs: ScriptedJobs, report: ScenarioReport, rng: random.Random) -> None:
    """Calls of the command until one ends with 0."""
    scenario = report.scenario
    events = scenario.cases * 20 + _EVENTS_OF_BATCHES
    running = course.call()
    while len(report.moments) < scenario.strikes:
        if not report.moments:
            going = _left_hanging(course, jobs, rng, *_HARDEST)
        elif rng.random() < _HANGING:
            going = _left_hanging(course, jobs, rng, rng.choice(_CALLS), rng.choice(["timeout", "lost_timeout"]))
        else:
            going = course.goes_on_for(rng.randrange(2 * events // (scenario.strikes + 1)))
        at = course.events()
        if going and KINDS[scenario.kind].strike(Target(running, ground, ground.folder, ground.folder, rng, 0)):
            report.moments.append(at)
        jobs.script.calls = {}
        if not resumable(running):
            return
        running = course.call()
    while resumable(running):
        running = course.call()


def _left_hanging(course: Course, jobs: ScriptedJobs, rng: random.Random, call: str, how: str) -> bool:
    """Wait until a call gets no answer; whether the command still goes on then."""
    jobs.left_hanging.clear()
    before = ("none",) * (jobs.calls[call] + rng.randrange(3))
    jobs.script.calls = {call: (*before, how)}
    process = course.started[-1].process
    eventually(lambda: process.poll() is not None or jobs.left_hanging.is_set(), seconds=600)
    return process.poll() is None


def _broken(report: ScenarioReport, reader: EventStore, jobs: ScriptedJobs) -> Iterator[str]:
    debates = debates_of(report.scenario)
    yield from ended_otherwise(debates, reader)
    made = [one for history in reader.histories(debates) for one in history.exchanges]
    recorded = [one for one in made if one.via is not None]
    batches = jobs.described()
    answered = Counter(body for batch in batches for body in batch["answered_bodies"])
    submitted = sum(batch["items"] for batch in batches)
    report.served, report.recorded = answered.total(), len(recorded)
    if twice := sum(count > 1 for count in answered.values()):
        yield f"{twice} calls were answered more than once in batches"
    if answered.total() != len(recorded) or submitted != len(recorded):
        yield f"{submitted} calls were submitted, {answered.total()} answered, {len(recorded)} recorded"
    seats = Counter((one.juror_id, one.via is None) for one in made)
    if seats != {(seat, seat == "live"): 2 * len(debates) for seat in SEATS}:
        yield f"calls by seat, and whether they were live: {dict(seats)}"

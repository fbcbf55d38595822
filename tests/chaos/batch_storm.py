"""One scenario of a run in batches over many nights: nothing is paid twice, and nothing of a stranger is touched.

In every night answers may be ready, late, doubled, missing, lost or expired, calls to a provider may fail, both clocks
may jump, the process may be killed, and other people of the same account submit batches of as many items.
"""

import json
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import psutil

from chaos.batch_scenario import KEYS, PANEL, batch_models, soon_arrived
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
    ended_otherwise,
    unsound,
)
from chaos.strikes import KINDS, Target
from chaos.warm_start import WarmProcess
from jury_actors import batches_of
from jury_events import BatchFacts, BatchItemsUnanswered, batch_stream, decode_batch
from jury_store import EventStore, open_store
from support.vendors.batch_lives import KEPT, ScriptedJob, ScriptedJobs

_HOUR = 3600.0
_LASTS = (0.0, 0.0, _HOUR, 30 * _HOUR)
"""Seconds from the submission of a batch to its last answer."""

_PASSES = (0.0, _HOUR, 7 * _HOUR, 27 * _HOUR, 50 * _HOUR)
"""Seconds from one night to the next, at the provider."""

_ASTRAY = (0.0, 0.0, 0.0, 400.0, -400.0, 50 * _HOUR, -50 * _HOUR)
"""By how much the clock of the command differs from the provider's."""

_JOB_FAULTS = (
    *("none",) * 8,
    "expired",
    "missing",
    "doubled_ids",
    "unknown_ids",
    "cancelled",
    "overdue",
    "bad_line",
    "failed",
    "truncated_lines",
)
_CALL_FAULTS = {
    "upload": ("connection", "lost", "overloaded", "quota"),
    "submit": ("connection", "lost", "lost", "overloaded", "quota", "bad_request", "html", "cut"),
    "list": ("connection", "overloaded", "html", "cut"),
    "state": ("connection", "lost", "overloaded", "html", "cut", "authentication"),
    "results": ("connection", "lost", "overloaded", "cut", "short"),
    "cancel": ("connection", "lost", "overloaded"),
}
_UNREADABLE = {"missing", "truncated_lines"}
"""With these the provider does not deliver all that it answered."""

_CALM = 60 * _HOUR
_EVENTS_OF_A_NIGHT = 40


class Sky:
    """The clocks: the provider's, and that of the command, whose moves stand in a file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.passed = 0.0
        self.set_astray(0.0)

    def __call__(self) -> float:
        """Seconds since 1970, at the provider."""
        return time.time() + self.passed

    def set_astray(self, seconds: float) -> None:
        """Let the command's clock differ from the provider's."""
        self.file.write_text(f"{self.passed + seconds}")


class StormedCommand(WarmCommand):
    """`jury run --batch` whose clock is moved, and which waits less long for a submission that may be on its way."""

    clock: Path

    def spawn(self, arguments: list[str], out: Path, err: Path) -> psutil.Popen:
        out.touch()
        err.touch()
        first = partial(_set_out, str(self.clock))
        return WarmProcess(arguments, self.folder, self.environment(), out, err, first)  # type: ignore[return-value]  (as of a WarmCommand)


def _set_out(clock: str) -> None:
    soon_arrived()
    moved = float(Path(clock).read_text())
    seconds, nanoseconds = time.time, time.time_ns
    time.time = lambda: seconds() + moved
    time.time_ns = lambda: nanoseconds() + round(moved * 1e9)


class Stranger(NamedTuple):
    """Somebody else with the same key."""

    url: str
    items: int

    def submits(self) -> str:
        """A batch at Anthropic, where nothing of a client's stands in the list; its id."""
        requests = [
            {
                "custom_id": f"theirs-{number}",
                "params": {"model": "two", "max_tokens": 9, "messages": [{"role": "user", "content": f"{number}"}]},
            }
            for number in range(self.items)
        ]
        sent = httpx2.post(
            f"{self.url}/v1/messages/batches",
            json={"requests": requests},
            headers={"authorization": f"Bearer {KEYS['ANTHROPIC_API_KEY']}", "x-api-key": KEYS["ANTHROPIC_API_KEY"]},
        )
        return str(sent.raise_for_status().json()["id"])


def play_stormed(ground: Ground, scenario: Scenario) -> ScenarioReport:
    """Run it to its end, and look at everything that it left."""
    folder = ground.folder / f"s{scenario.number}"
    folder.mkdir()
    panel = folder / "panel.json"
    panel.write_text(json.dumps(PANEL))
    url = ground.postgres_store() if KINDS[scenario.kind].store == "postgres" else ground.sqlite_store(folder)
    report, rng = ScenarioReport(scenario), random.Random(scenario.seed)
    sky = Sky(folder / "clock")
    with batch_models(sky) as (jobs, variables):
        command = StormedCommand(folder, case_file(folder, case_rows(scenario)), url, RUN, env=variables)
        command.clock = sky.file
        reader = open_store(url, write=False)
        try:
            options = ("--panel", str(panel), "--batch", "--display", "none")
            stranger = Stranger(variables["ANTHROPIC_BASE_URL"], scenario.cases)
            storm = Storm(Course(command, options, reader), reader, ground, jobs, sky, stranger, report)
            storm.rages(rng)
            report.calls = storm.calls
            report.violations += storm.broken()
            report.violations += unsound(folder, url)
        finally:
            reader.close()
    return report


class Storm:
    """The nights of one run, and what they left."""

    def __init__(
        self,
        course: Course,
        reader: EventStore,
        ground: Ground,
        jobs: ScriptedJobs,
        sky: Sky,
        stranger: Stranger,
        report: ScenarioReport,
    ) -> None:
        self._course = course
        self._reader = reader
        self._ground = ground
        self._jobs = jobs
        self._sky = sky
        self._stranger = stranger
        self._report = report
        self._theirs: list[str] = []
        self._gone: set[str] = set()

    def rages(self, rng: random.Random) -> None:
        """One pass a night, then calm until the run is done."""
        while len(self._report.moments) < self._report.scenario.strikes:
            self._night(rng)
        jobs, sky = self._jobs, self._sky
        jobs.script.jobs, jobs.script.calls, jobs.script.seconds = (), {}, 0.0
        sky.passed += _CALM
        sky.set_astray(0.0)
        while self._ends(self._course.call()) != 0:
            sky.passed += _HOUR
            sky.set_astray(0.0)

    def _night(self, rng: random.Random) -> None:
        course, jobs, sky = self._course, self._jobs, self._sky
        sky.passed += rng.choice(_PASSES)
        sky.set_astray(rng.choice(_ASTRAY))
        if rng.random() < 0.5:
            self._theirs.append(self._stranger.submits())
        jobs.script.seconds = rng.choice(_LASTS)
        jobs.script.jobs = ("none",) * jobs.submitted + tuple(rng.choice(_JOB_FAULTS) for _ in range(4))
        jobs.script.calls = {
            call: ("none",) * (jobs.calls[call] + rng.randrange(3)) + (rng.choice(faults),)
            for call, faults in _CALL_FAULTS.items()
            if rng.random() < 0.3
        }
        running = course.call("--once")
        at = course.events()
        if rng.random() < 0.4 and course.goes_on_for(rng.randrange(_EVENTS_OF_A_NIGHT)):
            target = Target(running, self._ground, sky.file, sky.file, rng, 0)
            KINDS["driver killed"].strike(target)
        self._report.moments.append(at)
        self._ends(running)
        jobs.script.jobs, jobs.script.calls = (), {}
        if rng.random() < 0.5:
            self._theirs.append(self._stranger.submits())

    def _ends(self, running: Any) -> int:
        """The exit code of a command that ended; what it may not be is a violation."""
        code = int(running.ends(600))
        if code not in {0, 4} and code >= 0:
            self._report.violations.append(f"a call ended with {code}: {running.stderr[-500:]}")
        if "Traceback" in running.stderr or "a defect" in running.stderr:
            self._report.violations.append(f"a traceback: {running.stderr[-800:]}")
        for facts in self._facts():
            if _gone(facts) and facts.prepared.batch_id not in self._gone:
                self._gone.add(facts.prepared.batch_id)
                job = self._job(facts.submitted.provider_id) if facts.submitted is not None else None
                if job is None or not (job.faults & _UNREADABLE or self._are_gone(job)):
                    self._report.violations.append(f"the results of {facts.prepared.batch_id} are there, not gone")
        return code

    def _are_gone(self, job: ScriptedJob) -> bool:
        """Whether the provider does not keep the results any more; only Google's are gone so soon."""
        return job.identity.startswith("batches/") and self._sky() >= job.ended_at + KEPT["batches/"]

    @property
    def calls(self) -> int:
        """How often the command was started."""
        return len(self._course.started)

    def _facts(self) -> Sequence[BatchFacts]:
        return list(batches_of(self._reader, RUN))

    def _job(self, identity: str) -> ScriptedJob:
        return next(job for job in self._jobs.lives if job.identity == identity)

    def broken(self) -> Iterator[str]:
        """Debates that did not end once, calls that were paid twice or not recorded, strangers that were touched."""
        debates = debates_of(self._report.scenario)
        yield from ended_otherwise(debates, self._reader)
        facts = {one.submitted.provider_id: one for one in self._facts() if one.submitted is not None}
        ours = [job for job in self._jobs.lives if job.identity not in self._theirs]
        recorded = Counter(
            one.via.batch
            for history in self._reader.histories(debates)
            for one in history.exchanges
            if one.via is not None
        )
        paid: Counter[str] = Counter()
        for job in ours:
            paid.update(job.bodies)
            if job.identity not in facts:
                yield f"{job.identity} is not known to the log; it answered {len(job.bodies)} calls"
                continue
            yield from self._unaccounted(job, facts[job.identity], recorded)
        excused = {body for job in ours for body in job.bodies if self._excused(job, facts)}
        if twice := [body for body, count in paid.items() if count > 1 and body not in excused]:
            yield f"{len(twice)} calls were answered and paid more than once"
        for job in self._jobs.lives:
            if job.identity in self._theirs:
                if job.cancelled_at is not None:
                    yield f"{job.identity} of a stranger was cancelled"
                if job.identity in facts:
                    yield f"{job.identity} of a stranger was taken for one of ours"
        self._report.served, self._report.recorded = paid.total(), recorded.total()

    def _unaccounted(self, job: ScriptedJob, facts: BatchFacts, recorded: Counter[str]) -> Iterator[str]:
        """What a batch answered and the log does not have."""
        if facts.closed is None:
            yield f"{facts.prepared.batch_id} is still open"
            return
        kept = recorded[facts.prepared.batch_id] + self._unused(facts.prepared.batch_id)
        errors = job.ends.get("errored", 0)
        if job.faults & _UNREADABLE or _gone(facts):
            return
        if not len(job.bodies) - errors <= kept <= len(job.bodies) + len(job.items):
            how = f"{sorted(job.faults)}, {facts.closed.cause}: {facts.closed.detail}"
            yield f"{facts.prepared.batch_id}: {len(job.bodies)} calls were answered, {kept} are recorded ({how})"

    def _unused(self, batch: str) -> int:
        """Answers that decide nothing, and are recorded."""
        pages = [decode_batch(one) for one in self._reader.read_stream(batch_stream(batch))]
        items = [one for page in pages if isinstance(page, BatchItemsUnanswered) for one in page.unanswered]
        return sum(one.text is not None for one in items)

    def _excused(self, job: ScriptedJob, facts: dict[str, BatchFacts]) -> bool:
        known = facts.get(job.identity)
        return bool(job.faults & _UNREADABLE) or (known is not None and _gone(known))


def _gone(facts: BatchFacts) -> bool:
    """Whether the provider did not have the results any more."""
    return facts.closed is not None and facts.closed.cause == "results_gone"

"""A run that was compared with its store, and can be executed."""

import os
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from itertools import chain, islice

from jury_actors.admission.budget import Ceiling
from jury_actors.effects import Effects
from jury_actors.observation.metric_totals import MetricTotals
from jury_cases.omissions import omissions_text
from jury_events.text.pluralize import pluralize
from jury_events.text.visible_text import visible_line
from jury_judge.batches.batch_plan import batch_plan, live_lines, tier_lines
from jury_judge.running.supervision import RunSupervision
from jury_judge.runs.allowance import Allowance
from jury_judge.runs.budgets import ceiling, check_priced
from jury_judge.runs.judged_again import judged_again
from jury_judge.runs.observation import Observation
from jury_judge.runs.preflight import PREFLIGHT_SECONDS, PreflightReport, preflight, preflighted
from jury_judge.runs.run_progress import NoListener, ProgressListener
from jury_judge.runs.runtime_choice import in_process_for
from jury_judge.runs.writing import Writing
from jury_judge.seals.key_files import signer
from jury_judge.seals.sealing import Sealing
from jury_judge.sessions.announced_jury import announced_jury
from jury_judge.sessions.planned_run import PlannedRun
from jury_judge.sessions.run_session import RunSession
from jury_judge.settings.budget import Budget
from jury_judge.settings.runtime import RuntimeSettings
from jury_judge.stores.stores import Say, lock_run, open_writer
from jury_providers.prices import Prices
from jury_providers.registry import check_models
from jury_store.errors import StoreMissing
from jury_store.event_store import EventStore
from jury_store.opening import open_store, parse_store_url
from jury_store.sealer import Sealer

LOCK_SECONDS = 20
"""How long to wait for another writer of a SQLite store, or another process that executes the run."""

_NAMED = 6

_SAID = "jury: "
"""What lines about key files begin with."""


@contextmanager
def prepared_run(
    planned: PlannedRun, say: Say, *, in_process: bool | None = None, detached: bool = False, keys: bool = True
) -> "Iterator[PreparedRun]":
    """The run, compared with its store; no other process may execute it meanwhile.

    Blocks while cases are read. A missing store is created after every case could be read.

    Args:
        planned: the run.
        say: takes lines for the user.
        in_process: where debates run if the settings do not say; None: as many debates as there are decide.
        detached: this process belongs to no terminal.
        keys: whether the providers' keys have to be here.

    Raises:
        SettingsRefused: the simulated jurors or the budget cannot be used.
        StoreLocked: another process executes the run, and did not end in time.
        RunRefused, CaseFileError, UnknownProvider, KeyMissing: see `preflighted`.
    """
    settings, url, loaded = planned.settings, planned.store_url, planned.loaded
    seconds = None if settings.strict else PREFLIGHT_SECONDS
    settings.script(loaded.models)
    prices, today = settings.price_list(planned.environ).at_clouds(loaded.endpoints), datetime.now(UTC).date()
    for panel in loaded.panels:
        if settings.max_cost is not None:
            check_priced(panel.models, prices, today)
    asked = settings.asked_in_process
    environ = os.environ if keys and settings.ray_address is None else None
    reopens = planned.cancellations()
    with (
        _locked(planned, url, say, detached=detached),
        preflighted(
            planned.run,
            url,
            loaded.endpoints,
            environ,
            seconds=seconds,
        ) as (store, first),
        _writing(planned, url, say, first) as writer,
    ):
        # Where another process wrote meanwhile, what it ended and spent is not of this session.
        if first.left:
            for panel in loaded.panels[1:]:
                check_models(panel, loaded.endpoints, environ)
        changed = writer is not None and store.last_position() != first.position
        checked = first
        if changed:
            checked = preflight(planned.run, store, seconds=seconds, endpoints=loaded.endpoints, before=first)
        yield PreparedRun(
            planned=planned,
            url=url,
            store=store,
            checked=checked,
            prices=prices,
            today=today,
            say=say,
            in_process=in_process if asked is None else asked,
            detached=detached,
            reopens=reopens,
            writer=writer,
        )


@contextmanager
def _locked(planned: PlannedRun, url: str, say: Say, *, detached: bool) -> Iterator[None]:
    """Exclude other processes from a run on PostgreSQL; a generated id needs no lock."""
    lock = None
    if not planned.is_new:
        lock = lock_run(url, planned.run.run_id, wait=LOCK_SECONDS, say=say, detached=detached)
        _judge_again(planned, url, say)
    try:
        yield
    finally:
        if lock is not None:
            lock.release()


def _judge_again(planned: PlannedRun, url: str, say: Say) -> None:
    """The cases of the run that were judged again, and those that are to be now, count by their last debate."""
    again = planned.again
    try:
        store = open_store(url, write=False)
    except StoreMissing:
        return
    with closing(store):
        found = judged_again(store, planned.run.run_id, again)
    planned.run = replace(planned.run, successors=found.successors, replacing=found.replacing)
    if again is not None:
        judged = pluralize(len(found.replacing), "case")
        say(f"{judged} that ended without an evaluation {'is' if len(found.replacing) == 1 else 'are'} judged again")


@contextmanager
def _writing(planned: PlannedRun, url: str, say: Say, checked: PreflightReport) -> Iterator[EventStore | None]:
    """Exclude other writers from a SQLite store while a debate is left; a generated id needs it only later."""
    if planned.is_new or not checked.left or parse_store_url(url).get_backend_name() != "sqlite":
        yield None
        return
    with closing(open_writer(url, run=planned.run.run_id, wait=LOCK_SECONDS, say=say)) as writer:
        yield writer


@dataclass(frozen=True, kw_only=True)
class PreparedRun:
    """Of use in the context of `prepared_run`.

    Attributes:
        planned: the run as it was asked for.
        url: of the store.
        store: open for reading.
        checked: the report of the preflight.
        prices: of the models.
        today: the day of the prices.
        say: takes lines for the user.
        in_process: where debates run; None: as many as there are decide.
        detached: this process belongs to no terminal.
        reopens: how many cancellations of the run were known when it was asked for.
        writer: of a SQLite store, open until the actors write; None where others may write, or nothing is left.
    """

    planned: PlannedRun
    url: str
    store: EventStore
    checked: PreflightReport
    prices: Prices
    today: date
    say: Say
    in_process: bool | None
    detached: bool
    reopens: int
    writer: EventStore | None = None

    def session(self, progress: ProgressListener | None = None, metrics: MetricTotals | None = None) -> RunSession:
        """What executes the run; says where debates run, who receives the cases, and what is odd about the panel.

        Args:
            progress: called for what happens.
            metrics: gets what the actors count.

        Raises:
            SealError: the key that seals cannot be used.
            SettingError: the panel or a setting cannot be used.
        """
        planned, run, settings = self.planned, self.planned.run, self.planned.settings
        batches = batch_plan(settings, planned.loaded) if settings.batch else None
        if batches is not None:
            live = live_lines(planned.loaded.models, planned.loaded.endpoints)
            tiers = (line for panel in planned.loaded.panels for line in tier_lines(panel, batches.providers))
            for line in chain(live, tiers):
                self.say(line)
        if planned.loaded.ladder is not None and planned.loaded.ladder.certificate is None:
            self.say("the ladder has no certificate: every case goes through every stage, to be calibrated on")
        sealing = self._sealing()
        in_process = self._in_process()
        if self.writer is not None and not in_process:
            self.writer.close()  # the writer is an actor's process
        bounds = ceiling(
            self.store,
            run.run_id,
            self.prices,
            self.today,
            max_calls=settings.max_calls,
            max_cost=settings.max_cost,
        )
        jury = announced_jury(
            planned.loaded,
            self.url,
            _placed(planned, in_process=in_process),
            Observation(say=self.say, metrics=metrics, otel=settings.otel),
            self.say,
            budget=Budget(
                max_calls=settings.max_calls,
                max_cost=settings.max_cost,
                prices=self.prices,
                spent=bounds.spent,
                lease_of=bounds.run,
            ),
            writing=Writing(name=run.run_id, lock_wait=LOCK_SECONDS, patience=settings.store_patience, sealing=sealing),
            environ=planned.environ,
        )
        return RunSession(
            run,
            self.checked,
            self.store,
            progress or NoListener(),
            jury=jury,
            allowance=self._allowance(bounds),
            in_process=in_process,
            sealing=sealing,
            unreadable=planned.cases.unreadable,
            prices=self.prices,
            batches=batches,
            supervision=RunSupervision(
                self.url, run.run_id, detached=self.detached, reopens=self.reopens, say=self.say
            ),
        )

    def remarks(self) -> Iterator[str]:
        """Lines about the cases: further repeats, columns that nearly have a name that is read, what is not shown, what
        is too long.
        """
        checked = self.checked
        if checked.beyond:
            further = "1 further repeat" if checked.beyond == 1 else f"{checked.beyond} further repeats"
            yield f"the run has {further} of its cases from an earlier call; they stay recorded and are not printed"
        yield from self.planned.cases.notes.lines()
        if checked.total is not None:
            yield from self.planned.cases.notes.unmatched_roles()
        if (blind := checked.omissions.blind_line()) is not None:
            yield blind
        line = checked.omissions.line()
        if line is not None and checked.total is None:
            line += f" (of the first {pluralize(checked.omissions.cases, 'case')}; jury cases reads them all)"
        if line is not None:
            yield line
        more = "" if checked.total is not None else " (of the cases read so far; jury cases --summary reads them all)"
        yield from self._changed()
        if checked.fit.too_long is not None:
            yield f"warning: {checked.fit.too_long}{more}"
        if checked.fit.not_whole is not None:
            yield f"{checked.fit.not_whole}{more}"

    def closing_remarks(self, *, whole: bool) -> Iterator[str]:
        """Lines about the cases at the end of a run; `whole`: it was not interrupted."""
        yield from self._changed()
        if erased := self.planned.cases.notes.erased:
            yield f"{pluralize(len(erased), 'case')} left out, whose texts were erased: {_named(erased)}"
        # Of a resumed run not all cases are built, so that a role may occur in the others.
        if whole and self.checked.total is None and self.checked.recorded is None:
            yield from self.planned.cases.notes.unmatched_roles()

    def _changed(self) -> Iterator[str]:
        return (f"warning: {line}" for line in self.checked.changed.lines())

    def not_shown(self) -> Iterator[tuple[str, str]]:
        """The cases that were read and have parts that jurors are not shown: the id, and these parts."""
        if self.checked.omissions.line() is None:
            return
        for case in self.checked.cases.kept():
            if omissions := self.checked.omissions.of(case):
                yield case.case_id, omissions_text(omissions)

    def _in_process(self) -> bool:
        if self.planned.settings.batch:
            return True
        if self.in_process is not None:
            return self.in_process
        chosen, line = in_process_for(self.checked.expected, self.checked.read)
        if self.checked.left:
            self.say(line)
        return chosen

    def _allowance(self, bounds: Ceiling) -> Allowance | None:
        if not bounds.bounded:
            return None
        endpoints = self.planned.loaded.endpoints
        return Allowance(bounds, self.store, prices=self.prices, endpoints=endpoints, on=self.today)

    def _sealing(self) -> Sealing | None:
        settings, store = self.planned.settings, self.store
        if settings.seal_key is None:
            return None
        key, last = signer(
            settings.seal_key,
            settings.seal_last,
            sealed=lambda: store.latest_seal() is not None,
            say=lambda line: self.say(line.removeprefix(_SAID)),
        )
        return Sealing(Sealer(store, key, Effects().clock, last), settings.seal_every, self.say)


def _named(ids: Iterable[str]) -> str:
    first = [visible_line(one, 60) for one in islice(ids, _NAMED + 1)]
    return ", ".join(first[:_NAMED]) + (" …" if len(first) > _NAMED else "")


def _placed(planned: PlannedRun, *, in_process: bool) -> RuntimeSettings:
    """Where debates run, chosen."""
    settings = planned.settings
    return RuntimeSettings(
        in_process=in_process,
        ray=not in_process,
        ray_address=settings.ray_address,
        ray_open_cluster=settings.ray_open_cluster,
        replicas=settings.replicas,
        coordinators=settings.coordinators,
        simulate=settings.simulate,
    )

"""The actors of a panel over one store, in this process or on Ray: set up once for many callers, again when lost."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from secrets import token_hex
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from jury_actors.admission.budget import RunBudget
from jury_actors.background import has_failed
from jury_actors.juror import ProviderFactory
from jury_actors.load import ModelLoad, RuntimeLoad, merged
from jury_actors.notices import Notice
from jury_actors.observation.json_lines import log_event
from jury_actors.observation.process_observation import observation_settings, observed_here
from jury_actors.observation.tallies import MetricTotals
from jury_actors.runtime import Runtime, RuntimeConfig, in_process_runtime
from jury_actors.store_retry import STORE_PATIENCE
from jury_events.text import duration, pluralize, visible_line
from jury_judge.errors import JuryClosed
from jury_judge.panels.files import LoadedPanel, panel_remarks, recipient_lines
from jury_judge.settings.jury import Budget, RuntimeSettings
from jury_judge.store_access.stores import Say, open_writer
from jury_providers.registry import check_models
from jury_store.event_store import EventStore

if TYPE_CHECKING:
    from jury_judge.seals.stored_seals import Sealing


_MOST_NAMED = 5
"""Models that are named."""

_MODEL_NAME = 60


def waits_text(load: RuntimeLoad) -> str:
    """Such as `3 calls: gpt-5 (openai) 12 s, gemini-3-pro (google) 2 calls, 4 s; 5 appends to store`."""
    calls = merged(seat.calls for seat in load.seats if seat.calls is not None)
    calling, permits = sum(one.calling for one in calls), sum(one.waiting for one in calls)
    away = ["the final judge" if seat.juror_id is None else seat.juror_id for seat in load.seats if seat.calls is None]
    between = sum(seat.steps for seat in load.seats if seat.calls is not None) - calling - permits
    said = [
        f"{pluralize(calling, 'call')}: {_models(calls)}" if calling else "",
        f"a permit for {pluralize(permits, 'call')}" if permits else "",
        # Between two attempts of a call, or an answer that is being recorded.
        f"{pluralize(between, 'step')} between two calls" if between > 0 else "",
        f"{pluralize(load.appends, 'append')} to store" if load.appends else "",
        f"jurors that do not answer: {visible_line(', '.join(away), 200)}" if away else "",
    ]
    return "; ".join(filter(None, said)) or f"{pluralize(load.debates, 'debate')} between two steps"


def _models(calls: tuple[ModelLoad, ...]) -> str:
    """The models with calls in flight, the one with the longest call first."""
    slowest = sorted((one for one in calls if one.calling), key=lambda one: -one.seconds)
    named = [_named(one) for one in slowest[:_MOST_NAMED]]
    if more := len(slowest) - len(named):
        named.append(pluralize(more, "more model"))
    return ", ".join(named)


def _named(one: ModelLoad) -> str:
    provider, _, model = one.model.partition("/")
    calls = "" if one.calling == 1 else f"{one.calling} calls, "
    return f"{visible_line(f'{model} ({provider})', _MODEL_NAME)} {calls}{duration(one.seconds)}"


_log = logging.getLogger(__name__)

_ANSWERS_WITHIN = 5.0
"""Seconds that the actors have to say what they do."""


@dataclass(frozen=True, kw_only=True)
class Observation:
    """Lines, figures and traces (`docs/observability.md`).

    Attributes:
        say: takes lines for the user: a juror died, the store is away, a model retires; None writes them to the log.
        metrics: gets what the actors count; None: they count nothing.
        otel: send a trace of each debate that ends, as the standard variables of OpenTelemetry say.
    """

    say: Say | None = None
    metrics: MetricTotals | None = None
    otel: bool = False


UNOBSERVED = Observation()


@dataclass(frozen=True, kw_only=True)
class Writing:
    """Whom it waits for, how long it tries, and who seals.

    Attributes:
        name: names the writer in the store's lock; None generates a name.
        lock_wait: seconds to wait for another process that writes to the same SQLite store, or executes the same run.
        patience: seconds for which a store that cannot be written is tried again, while answers are kept.
        sealing: seals the log while debates run.
    """

    name: str | None = None
    lock_wait: float = 0.0
    patience: float = STORE_PATIENCE
    sealing: "Sealing | None" = None


PLAIN_WRITING = Writing()


OpenRuntime = Callable[[], AbstractAsyncContextManager[Runtime]]
"""Sets up the actors."""


class RuntimePool:
    """A runtime, open from its first caller until the pool is closed."""

    def __init__(self, open_runtime: OpenRuntime) -> None:
        self._open_runtime = open_runtime
        self._context: AbstractAsyncContextManager[Runtime] | None = None
        self._opening: asyncio.Task[Runtime] | None = None
        self._closed: Exception | None = None

    async def runtime(self) -> Runtime:
        """The runtime; a new one where there is none or its cluster was lost."""
        opening = self._opening
        if opening is not None and opening.done() and (has_failed(opening) or opening.result().problem):
            self._opening = None
            if self._context is not None and not has_failed(opening):
                with suppress(Exception):  # a lost cluster cannot be closed in order
                    await self._context.__aexit__(None, None, None)
        if self._closed is not None:
            raise self._closed
        if self._opening is None:
            self._context = self._open_runtime()
            self._opening = asyncio.create_task(self._context.__aenter__())
        # Shared by all callers: one of them may be cancelled.
        return await asyncio.shield(self._opening)

    async def waits_for(self) -> str:
        """What keeps the callers of the runtime waiting, as a phrase for people (see `waits_text`)."""
        if self._closed is not None:
            return "the actors to end"
        if self._opening is None:
            return "cases and results to be read"
        if not self._opening.done():
            return "the actors to start"
        try:
            async with asyncio.timeout(_ANSWERS_WITHIN):
                return waits_text(await self._opening.result().coordinators.load(None))
        except Exception:  # noqa: BLE001  (whatever is wrong with the actors, their users report it)
            return "the coordinator, which does not answer now"

    async def close(self, problem: Exception) -> None:
        """Close the runtime; what runs stops where it is, and every caller that still waits gets `problem`."""
        self._closed = problem
        if self._opening is not None and self._context is not None:
            with suppress(Exception):
                runtime = await self._opening
                runtime.fail(problem)
                await self._context.__aexit__(None, None, None)


ANYWHERE = RuntimeSettings()
UNBOUNDED = Budget()


class PanelActors(RuntimePool):
    """Says who gets which keys and what is odd about the models, then runs debates of a panel, in `async with`.

    It may be entered again, in another event loop too.

    Args:
        loaded: the panel, or the first of a ladder.
        environ: where prices are named. Keys are always the process's own.
        runtime: where debates run; in this process if it asks for nothing else.
        run_budget: the bounds of a run with what its earlier sessions spent; None: `budget` is for these actors alone.
        wrap_providers: wraps what makes the providers of jurors in this process.

    Attributes:
        config: how they are set up.

    Raises:
        SettingError, UnknownProvider, SettingNotTaken, ExtraMissing: as `Jury`.
    """

    def __init__(
        self,
        loaded: LoadedPanel,
        store_url: str,
        *,
        environ: Mapping[str, str],
        runtime: RuntimeSettings = ANYWHERE,
        budget: Budget = UNBOUNDED,
        run_budget: RunBudget | None = None,
        writing: Writing = PLAIN_WRITING,
        observation: Observation = UNOBSERVED,
        wrap_providers: Callable[[ProviderFactory], ProviderFactory] = lambda providers: providers,
    ) -> None:
        self._loaded, self._runtime, self._writing, self._totals = loaded, runtime, writing, observation.metrics
        self._wrap_providers = wrap_providers
        self._say = observation.say or log_line
        prices, today = budget.price_list(environ).at_clouds(loaded.endpoints), datetime.now(UTC).date()
        for one in loaded.panels:
            check_models(one, loaded.endpoints)
        budget.check_priced(loaded.models, prices, today)
        said = observation.say or _log_once  # what nobody is there to hear is logged once
        remarks = panel_remarks(loaded, os.environ, today)
        for line in (*loaded.outside, *remarks.notes):
            said(line)
        for warning in remarks.warnings:
            said(warning if observation.say is None else f"warning: {warning}")
        self.config = RuntimeConfig(
            tuple(loaded.panels),
            store_url,
            writing.name or f"jury-{token_hex(4)}",
            runtime.script(loaded.models),
            runtime.replicas,
            loaded.endpoints,
            prices=prices,
            budget=RunBudget(budget.bounds) if run_budget is None else run_budget,
            store_patience=writing.patience,
            coordinators=runtime.coordinators,
        )
        opened: OpenRuntime = self._on_ray if runtime.asked_in_process is False else self._in_process
        if observation.otel:
            from jury_judge.telemetry.trace_export import TraceExport

            opened = TraceExport(store_url, self._say).around(opened)
        super().__init__(opened if writing.sealing is None else writing.sealing.around(opened))

    async def __aenter__(self) -> Self:
        """The actors are set up at their first use."""
        self._opening = self._closed = None
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """What runs stops where it is."""
        await self.close(JuryClosed("the Jury was left while this debate ran; the same call resumes it"))

    def check_keys(self) -> None:
        """Refuse models whose keys are not here; on a cluster they are the cluster's.

        Raises:
            KeyMissing: one is not.
        """
        if self._runtime.ray_address is None:
            for one in self._loaded.panels:
                check_models(one, self._loaded.endpoints, os.environ)

    def open_writer(self) -> EventStore:
        """The store for writing, shared by the writers of this process. Raises as `stores.open_writer`."""
        config = self.config
        return open_writer(config.store_url, run=config.run_id, wait=self._writing.lock_wait, say=self._say)

    @asynccontextmanager
    async def _in_process(self) -> AsyncIterator[Runtime]:
        """In this event loop; other runtimes of the process may write to the same store."""
        with observed_here(self._totals) as observer:
            async with in_process_runtime(
                self.config, self.open_writer, wrap_providers=self._wrap_providers, say=self._say, observer=observer
            ) as runtime:
                yield runtime

    @asynccontextmanager
    async def _on_ray(self) -> AsyncIterator[Runtime]:
        """On a local cluster or the one at an address. Ray is started if it does not run, and stopped after."""
        from jury_actors import ray_runtime

        address, totals = self._runtime.ray_address, self._totals
        started = await asyncio.to_thread(ray_runtime.start_ray, address, open_cluster=self._runtime.ray_open_cluster)
        try:
            observed = self.config._replace(
                shared_cluster=address is not None, observation=observation_settings(totals)
            )
            with nullcontext() if totals is None else totals.runtime_open():
                async with ray_runtime.ray_runtime(observed, say=self._say, totals=totals) as runtime:
                    yield runtime
        finally:
            if started:
                await asyncio.to_thread(ray_runtime.stop_ray)


def log_line(line: str) -> None:
    """Takes a line for the user where nobody is there to hear it."""
    log_event(_log, logging.WARNING, line.event if isinstance(line, Notice) else "notice", line)


_log_once = cache(log_line)


RAY_FROM = 10_000
"""Debates from which a local Ray cluster is the default, with `RAY_CPUS`."""

RAY_FROM_READ = 100
"""The same of the cases that the preflight reads where it does not come to their end: fewer of them are long."""

RAY_CPUS = 4
"""With fewer, Ray runs hardly more debates a second than one process, and spends more CPU (`benchmarks/README.md`)."""


def in_process_for(left: int | None, read: int, cpus: int | None = None) -> tuple[bool, str]:
    """Whether the debates that are left run in this process, and a line with the reason.

    Args:
        left: how many these are; None: it is not known.
        read: how many debates the cases have that the preflight read.
        cpus: that Ray could use; None: those of this machine.
    """
    few_cpus = (os.cpu_count() or 1 if cpus is None else cpus) < RAY_CPUS
    if left is None:
        debates = f"at least {pluralize(read, 'debate')}"
        if few_cpus or read < RAY_FROM_READ:
            return True, f"{debates}: in this process (with --ray on a local Ray cluster)"
        return False, f"{debates}: on a local Ray cluster (--in-process does without)"
    debates = pluralize(left, "debate")
    if few_cpus:
        return True, f"{debates} to run: in this process (with --ray on a local Ray cluster)"
    if left < RAY_FROM:
        return True, f"{debates} to run: in this process (from {RAY_FROM:,} on, or with --ray, on a local Ray cluster)"
    return False, f"{debates} to run: on a local Ray cluster, as from {RAY_FROM:,} on (--in-process does without)"


def announced_actors(
    loaded: LoadedPanel, store_url: str, say: Say, *, runtime: RuntimeSettings, **options: Any
) -> PanelActors:
    """The actors; says who receives the cases, and who signed the calibration.

    Args:
        runtime: where debates run. On a cluster calls are made on its machines, whose environment has the base URLs.
        options: see `PanelActors`.
    """
    if not loaded.is_simulated:
        for line in recipient_lines(loaded, None if runtime.ray_address else os.environ):
            say(line)
    if loaded.signed_by is not None:
        say(f"the calibration is signed by {loaded.signed_by}")
    return PanelActors(loaded, store_url, runtime=runtime, **options)


def start_ray(address: str | None, *, open_cluster: bool) -> bool:
    """Start a local cluster, or join the one at `address`; returns whether it was not running here before.

    Raises:
        ActorError: it cannot be started, joined, or required no token (`open_cluster` accepts that).
    """
    from jury_actors import ray_runtime

    return ray_runtime.start_ray(address, open_cluster=open_cluster)


def stop_ray() -> None:
    """Stop what `start_ray` started, or leave the cluster that it joined."""
    from jury_actors import ray_runtime

    ray_runtime.stop_ray()

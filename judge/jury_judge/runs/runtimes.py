"""How the actors of a Jury are set up, in this process or on Ray: once for many callers, again when lost."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from functools import partial

from jury_actors.failing import has_failed
from jury_actors.juror import ProviderFactory
from jury_actors.observation.process_observation import observation_settings, observed_here
from jury_actors.observation.tallies import MetricTotals
from jury_actors.runtime import Runtime, RuntimeConfig, in_process_runtime
from jury_events.text import pluralize
from jury_judge.running.waits import waits_text
from jury_judge.runs.observation import Observation, Writing
from jury_judge.settings.judging import RuntimeSettings
from jury_judge.stores.stores import Say, open_writer

_ANSWERS_WITHIN = 5.0
"""Seconds that the actors have to say what they do."""

OpenRuntime = Callable[[], AbstractAsyncContextManager[Runtime]]
"""Sets up the actors."""


class RuntimePool:
    """A runtime, open from its first caller until the pool is closed."""

    def __init__(self, open_runtime: OpenRuntime) -> None:
        self._open_runtime = open_runtime
        self._opening: asyncio.Task[_Opened] | None = None
        self._closed: Exception | None = None

    async def runtime(self) -> Runtime:
        """The runtime; a new one where there is none or its cluster was lost."""
        opening = self._opening
        if opening is not None and opening.done() and (has_failed(opening) or opening.result().runtime.problem):
            self._opening = None
            with suppress(Exception):  # a lost cluster cannot be closed in order
                await opening.result().context.__aexit__(None, None, None)
        if self._closed is not None:
            raise self._closed
        if self._opening is None:
            self._opening = asyncio.create_task(_Opened.open(self._open_runtime()))
        # Shared by all callers: one of them may be cancelled.
        return (await asyncio.shield(self._opening)).runtime

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
                return waits_text(await self._opening.result().runtime.coordinators.load(None))
        except Exception:  # noqa: BLE001  (whatever is wrong with the actors, their users report it)
            return "the coordinator, which does not answer now"

    async def close(self, problem: Exception) -> None:
        """Close the runtime; what runs stops where it is, and every caller that still waits gets `problem`."""
        self._closed = problem
        if self._opening is not None:
            with suppress(Exception):
                opened = await self._opening
                opened.runtime.fail(problem)
                await opened.context.__aexit__(None, None, None)


class _Opened:
    def __init__(self, runtime: Runtime, context: AbstractAsyncContextManager[Runtime]) -> None:
        self.runtime = runtime
        self.context = context

    @classmethod
    async def open(cls, context: AbstractAsyncContextManager[Runtime]) -> "_Opened":
        return cls(await context.__aenter__(), context)


def runtime_of(
    config: RuntimeConfig,
    settings: RuntimeSettings,
    writing: Writing,
    observation: Observation,
    say: Say,
    *,
    wrap_providers: Callable[[ProviderFactory], ProviderFactory],
) -> OpenRuntime:
    """What sets up the actors of a Jury, which seal and are observed as it asks.

    Args:
        settings: where debates run.
        wrap_providers: wraps what makes the providers of jurors in this process.
    """
    if settings.asked_in_process is False:
        runtime = runtime_on_ray(
            config,
            settings.ray_address,
            open_cluster=settings.ray_open_cluster,
            say=say,
            totals=observation.metrics,
        )
    else:
        runtime = runtime_in_process(
            config, wrap_providers, wait=writing.lock_wait, say=say, totals=observation.metrics
        )
    if observation.otel:
        from jury_judge.traces.trace_export import TraceExport

        runtime = TraceExport(config.store_url, say).around(runtime)
    return runtime if writing.sealing is None else writing.sealing.around(runtime)


def runtime_in_process(
    config: RuntimeConfig,
    wrap_providers: Callable[[ProviderFactory], ProviderFactory],
    *,
    wait: float,
    say: Say,
    totals: MetricTotals | None = None,
) -> OpenRuntime:
    """A runtime in this process and event loop; other runtimes of the process may write to the same store.

    Args:
        wait: seconds to wait for another process that writes to the same SQLite store.
        say: takes lines for the user: the store is away, another process writes to it.
        totals: get what the actors count; None: they count nothing.
    """
    opened = partial(open_writer, config.store_url, run=config.run_id, wait=wait, say=say)

    @asynccontextmanager
    async def open_runtime() -> AsyncIterator[Runtime]:
        with observed_here(totals) as observer:
            runtime = in_process_runtime(config, opened, wrap_providers=wrap_providers, say=say, observer=observer)
            async with runtime as opened_runtime:
                yield opened_runtime

    return open_runtime


def runtime_on_ray(
    config: RuntimeConfig,
    address: str | None,
    *,
    open_cluster: bool,
    say: Say,
    totals: MetricTotals | None = None,
) -> OpenRuntime:
    """A runtime on a local cluster, or on the one at `address`. Ray is started if it does not run, and stopped after.

    See `start_ray` for `open_cluster`, `runtime_in_process` for `totals`.
    """

    @asynccontextmanager
    async def open_runtime() -> AsyncIterator[Runtime]:
        from jury_actors import ray_runtime

        started = await asyncio.to_thread(ray_runtime.start_ray, address, open_cluster=open_cluster)
        try:
            observed = config._replace(shared_cluster=address is not None, observation=observation_settings(totals))
            with nullcontext() if totals is None else totals.runtime_open():
                async with ray_runtime.ray_runtime(observed, say=say, totals=totals) as runtime:
                    yield runtime
        finally:
            if started:
                await asyncio.to_thread(ray_runtime.stop_ray)

    return open_runtime


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

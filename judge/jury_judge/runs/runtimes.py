"""How the actors of a Jury are set up: in this process, or on Ray."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from functools import partial

from jury_actors.juror import ProviderFactory
from jury_actors.observation.process_observation import observation_settings, observed_here
from jury_actors.observation.tallies import MetricTotals
from jury_actors.runtime import Runtime, RuntimeConfig, in_process_runtime
from jury_judge.runs.observation import Observation
from jury_judge.runs.runtime_pool import OpenRuntime
from jury_judge.runs.writing import Writing
from jury_judge.settings.judging import RuntimeSettings
from jury_judge.stores.stores import Say, open_writer
from jury_judge.traces.trace_export import TraceExport


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
        config: of the runtime.
        settings: where debates run.
        writing: how the store is written to.
        observation: who hears what is done.
        say: takes lines for the user.
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
        config: of the runtime.
        wrap_providers: wraps what makes the providers of the jurors.
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
        from jury_actors import ray_runtime  # noqa: PLC0415  (its import costs seconds)

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

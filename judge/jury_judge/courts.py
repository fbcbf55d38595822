"""How a court is set up for callers of the Python API: in this process, or on Ray."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

from jury_actors.juror import ProviderFactory
from jury_actors.runtime import Runtime, RuntimeConfig, in_process_runtime
from jury_judge.writers import lend_writer

Court = Callable[[], AbstractAsyncContextManager[Runtime]]
"""Sets up the actors."""


_log = logging.getLogger(__name__)


def _say(text: str) -> None:
    _log.warning("%s", text)


def court_in_process(
    plan: RuntimeConfig, around: Callable[[ProviderFactory], ProviderFactory], *, wait: float
) -> Court:
    """A court in this process and event loop; its store may be written by other courts of the process too.

    Args:
        plan: of the court.
        around: what is put before the providers.
        wait: seconds to wait for another process that writes the same SQLite store.
    """
    opened = partial(lend_writer, plan.store_url, run=plan.run_id, wait=wait)
    return lambda: in_process_runtime(plan, opened, wrap_providers=around, say=_say)


def court_on_ray(plan: RuntimeConfig, address: str | None, *, open_cluster: bool = False) -> Court:
    """A court on a local cluster, or on the one at `address`; Ray is started where it does not run, and ended then.

    See `start_ray` for `open_cluster`.
    """

    @asynccontextmanager
    async def court() -> AsyncIterator[Runtime]:
        from jury_actors import ray_runtime  # noqa: PLC0415  (its import costs seconds)

        ours = await asyncio.to_thread(ray_runtime.start_ray, address, open_cluster=open_cluster)
        try:
            async with ray_runtime.ray_runtime(plan._replace(shared_cluster=address is not None), say=_say) as runtime:
                yield runtime
        finally:
            if ours:
                await asyncio.to_thread(ray_runtime.stop_ray)

    return court

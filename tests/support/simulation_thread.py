"""A server of simulated models in a thread of this process, for clients in other processes."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jury_providers import Script, Simulation, simulation_server


@contextmanager
def simulation_thread(script: Script, **options: Any) -> Iterator[Simulation]:
    """The server, for as long as the context lasts; options as of `simulation_server`."""
    ready = threading.Event()
    served: list[tuple[Simulation, asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def serve() -> None:
        ended = asyncio.Event()
        async with simulation_server(script, **options) as simulation:
            served.append((simulation, asyncio.get_running_loop(), ended))
            ready.set()
            await ended.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), name="models")
    thread.start()
    assert ready.wait(60), "the simulated models do not start"
    [(simulation, loop, ended)] = served
    try:
        yield simulation
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(60)

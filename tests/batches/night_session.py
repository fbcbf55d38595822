"""One session of a run in waves as a process of its own, which a test kills: STORE PANEL."""

import asyncio
import sys

from batches.test_waves_over_servers import AT_ONCE, Clients
from support.nights import Night


async def session(url: str, panel: str) -> None:
    clients = Clients()
    night = Night(url, clients, 3, panel)  # type: ignore[arg-type]  # it is asked for providers alone
    await night.session(patience=AT_ONCE)
    await clients.close()


if __name__ == "__main__":
    asyncio.run(session(*sys.argv[1:]))

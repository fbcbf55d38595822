"""A debate told on stderr while it is held."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from jury_events.codec import decode
from jury_events.envelope import StoredEvent
from jury_events.ids import debate_stream
from jury_judge.views.live_lines import LiveLines

_LOOK_EVERY = 0.1
"""Seconds between looks at the log."""


@asynccontextmanager
async def told_live(
    read_stream: Callable[[str, int], list[StoredEvent]], debate_id: str, tell: Callable[[str], None], after: int = 0
) -> AsyncIterator[None]:
    """Tell each event as it is recorded, but for the first `after`; on leaving, the rest."""
    lines = LiveLines()
    version = 0

    async def look() -> None:
        nonlocal version
        for stored in await asyncio.to_thread(read_stream, debate_stream(debate_id), version):
            version = stored.version
            for line in lines.tell(decode(stored)):
                if version > after:
                    tell(line)

    async def keep_looking() -> None:
        while True:
            await look()
            await asyncio.sleep(_LOOK_EVERY)

    task = asyncio.create_task(keep_looking())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await look()

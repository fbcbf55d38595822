"""The events of a debate on stderr while it runs."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from jury_judge.feed import Feed
from jury_views.live_events import LOG_EVENTS
from jury_views.terminal.live_lines import LiveLines


@asynccontextmanager
async def events_shown(
    feed: Feed, debate_id: str, show: Callable[[str], None], *, after: int = 0, reasons: bool = False
) -> AsyncIterator[None]:
    """Call `show` with the lines of each new event, without the first `after` events; on leaving, with the rest.

    With `reasons` a juror's line is followed by the first sentence of its reason, and the judgment by its reason.
    """

    async def follow() -> None:
        lines = LiveLines()
        version = 0
        async with feed.follow(debate_id, LOG_EVENTS) as reader:
            async for event, texts in reader:
                version += 1
                for line in lines.lines(event, texts if reasons else {}):
                    if version > after:
                        show(line)

    task = asyncio.create_task(follow())
    try:
        yield
    finally:
        await feed.caught_up()
        feed.end()
        await task

"""The time of an event loop, moved by a test: what waits for a time waits for the test."""

import asyncio
from collections.abc import Callable


class LoopClock:
    """Passes as the real one does, unless it is held; `forward` adds to it.

    Of use from any thread. Timers of the loop that become due are called at once.
    """

    def __init__(self, *, held: bool = False) -> None:
        self._held = held
        self._added = 0.0
        self._stands = 0.0
        self._loop: asyncio.AbstractEventLoop
        self._real: Callable[[], float]

    def of(self, loop: asyncio.AbstractEventLoop) -> "LoopClock":
        """Become the clock of this loop."""
        self._loop, self._real = loop, loop.time
        self._stands = self._real()
        loop.time = self._time  # type: ignore[method-assign]
        return self

    def forward(self, seconds: float) -> None:
        """Let so much time have passed."""
        self._added += seconds
        self._loop.call_soon_threadsafe(lambda: None)

    def release(self) -> None:
        """Let time pass, from where it was held."""
        if self._held:
            self._added += self._stands - self._real()
            self._held = False
            self._loop.call_soon_threadsafe(lambda: None)

    def _time(self) -> float:
        return (self._stands if self._held else self._real()) + self._added

"""What actors have to say to the person while a run goes on: one line each, on its way to the driver's stderr."""

from collections.abc import Callable
from secrets import token_hex

from jury_actors.mailbox import Outbox
from jury_actors.messages import Delivery

Say = Callable[[str], None]
"""Takes one line for the person."""

ANYBODY = "?"
"""Polled with, it is answered at once with the name of the actor's present life."""


def unheard(_text: str) -> None:
    """Nobody is told."""


class Notices:
    """The lines of one actor, for whoever watches it; made when the first of them is said or polled for."""

    def __init__(self) -> None:
        self._outbox: Outbox[str] | None = None

    def say(self, text: str) -> None:
        """Have a line told, once."""
        self._kept().put(text)

    async def poll(self, life: str, ack: int) -> Delivery[str]:
        """See `Outbox.poll`; a watcher that hears nothing for long learns of the actor's death by it."""
        return await self._kept().poll(life, ack)

    def _kept(self) -> Outbox[str]:
        if self._outbox is None:
            self._outbox = Outbox(token_hex(8))
        return self._outbox


class Recurrence:
    """How often something happened lately, by name.

    Args:
        most: times.
        within: seconds.
    """

    def __init__(self, most: int, within: float) -> None:
        self._most = most
        self._within = within
        self._times: dict[str, list[float]] = {}

    def happened(self, name: str, now: float) -> bool:
        """It happened once more; whether that is too often."""
        times = [one for one in self._times.get(name, ()) if now - one <= self._within]
        self._times[name] = [*times, now]
        return len(times) + 1 >= self._most

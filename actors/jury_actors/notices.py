"""Lines from actors to the user while a run goes on; the driver writes them to stderr."""

from collections.abc import Callable
from secrets import token_hex

from jury_actors.mailbox import Delivery, Outbox

Say = Callable[[str], None]
"""Takes one line for the user."""


def say_nothing(_text: str) -> None:
    """Drop the line."""


class Notices:
    """The lines of one actor; its outbox is made inside the actor's event loop."""

    def __init__(self) -> None:
        self._made: Outbox[str] | None = None

    def say(self, text: str) -> None:
        """Have a line written, once."""
        self._outbox.put(text)

    async def poll(self, incarnation: str, ack: int) -> Delivery[str]:
        """See `Outbox.poll`; the driver notices the actor's death by it."""
        return await self._outbox.poll(incarnation, ack)

    @property
    def _outbox(self) -> Outbox[str]:
        if self._made is None:
            self._made = Outbox(token_hex(8))
        return self._made


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
        """Count one more; returns whether that is too often."""
        times = [one for one in self._times.get(name, ()) if now - one <= self._within]
        self._times[name] = [*times, now]
        return len(times) + 1 >= self._most

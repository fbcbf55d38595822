"""Lines from actors to the user while a run goes on; the driver writes them to stderr."""

from collections.abc import Callable, Hashable
from secrets import token_hex
from typing import Self

from jury_actors.mailbox import Delivery, Outbox

Say = Callable[[str], None]
"""Takes one line for the user."""


class Notice(str):
    """A line for the user that names what happened, for structured logs.

    Attributes:
        event: the name, of lower-case words joined by underscores.
        fields: further values.
    """

    __slots__ = ("event", "fields")

    event: str
    fields: dict[str, object]

    def __new__(cls, text: str, event: str = "notice", **fields: object) -> Self:
        made = super().__new__(cls, text)
        made.event = event
        made.fields = fields
        return made

    def __reduce__(self) -> tuple[Callable[..., "Notice"], tuple[str, str, dict[str, object]]]:
        """Pickles with its name."""
        return _notice, (str(self), self.event, self.fields)


def _notice(text: str, event: str, fields: dict[str, object]) -> Notice:
    return Notice(text, event, **fields)


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
        within: seconds.
    """

    def __init__(self, most: int, within: float) -> None:
        self._most = most
        self._within = within
        self._times: dict[Hashable, list[float]] = {}

    def happened(self, name: Hashable, now: float) -> bool:
        """Count one more; returns whether that is too often."""
        times = [one for one in self._times.get(name, ()) if now - one <= self._within]
        self._times[name] = [*times, now]
        return len(times) + 1 >= self._most

"""The numbers of a source's messages: a step that people or another tool name is a message, not an item as shown."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class MessageNumbers:
    """Counts the messages that are read, from 0, in the order of the source's lists.

    Attributes:
        current: the number of the message that is being read; None: between messages.
        following: the number of the next one.
    """

    def __init__(self) -> None:
        self.current: int | None = None
        self.following = 0
        self._paused = False

    def of_list(self, messages: Iterable[tuple[int, T]], count: int) -> Iterator[tuple[int, T]]:
        """The messages with their indices in a list of `count`, each current while it is used.

        The numbers go on where the list before ended. A list inside a message, as of a sub-agent, belongs to it.
        """
        if self._paused or self.current is not None:
            yield from messages
            return
        first = self.following
        try:
            for index, message in messages:
                self.current = first + index
                yield index, message
        finally:
            self.current, self.following = None, first + count

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count one message, which is current meanwhile; inside a message nothing is counted."""
        for _ in self.of_list([(0, None)], 1):
            yield

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Count nothing meanwhile: what is read stands beside the messages."""
        before, self._paused = self._paused, True
        try:
            yield
        finally:
            self._paused = before

    def placed(self, number: int | None) -> int | None:
        """The number here of a message that another counter gave a number."""
        if self.current is not None or number is None:
            return self.current
        return self.following + number

"""The events of a streamed reply (server-sent events), as its bytes arrive."""

import re
from typing import Any

from jury_providers.sdk.json_fields import json_object

_LINE_END = re.compile(rb"\r\n|\n|\r")


class EventReader:
    """An incremental parser; `events` are all events so far, in order.

    Data that is not a JSON object (`[DONE]`, keep-alives) is skipped: the final event shows whether a stream is
    complete.
    """

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self._rest = bytearray()
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[dict[str, Any]]:
        """The events completed by `piece`."""
        known = len(self.events)
        # A piece may end between CR and LF: the CR is kept for the next piece.
        # Only new bytes are searched and nothing is copied: a long line may arrive in very many pieces.
        rest, new = self._rest, max(len(self._rest) - 1, 0)
        rest += piece
        cut = max(rest.rfind(b"\n", new), rest.rfind(b"\r", new, len(rest) - 1)) + 1
        if cut:
            lines = _LINE_END.split(bytes(rest[:cut]))[:-1]
            del rest[:cut]
            for line in lines:
                self._take(line)
        return self.events[known:]

    def end(self) -> list[dict[str, Any]]:
        """The event completed by the end of the stream, if any."""
        known = len(self.events)
        self._take(bytes(self._rest).rstrip(b"\r"))
        self._take(b"")
        self._rest.clear()
        return self.events[known:]

    def _take(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            self._data.append(line[5:])
        elif not line and self._data:
            data, self._data = b"\n".join(self._data), []
            event = json_object(data)
            if event is not None:
                self.events.append(event)


def events_of(stream: bytes) -> list[dict[str, Any]]:
    reader = EventReader()
    reader.feed(stream)
    reader.end()
    return reader.events

"""The encodings of live events."""

import json
import re
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from jury_events.codec import DebateEvent
from jury_events.text import visible_line
from jury_views.debate_fold import Texts
from jury_views.errors import BadPoint
from jury_views.live.live_events import Frames, Live, ProgressEvents, SseEvents

_WHOLE = 2**31
_PIECE, _CHUNK = 0, 1
_FORM = re.compile(r"([0-9]{1,18})(?:([.~])([0-9]{1,9}))?", re.ASCII)


# The live event of the log event at position 17 is `17`. If there are several, those before the last are `17.0`, `17.1`
# …; chunks that the final judge writes after it, which are not in the log, are `17~1`, `17~2` ….
class Point(NamedTuple):
    """Ordered as the live events. Made by the functions below."""

    position: int
    kind: int = _PIECE
    number: int = _WHOLE

    def __str__(self) -> str:
        if self.kind == _CHUNK:
            return f"{self.position}~{self.number}"
        return str(self.position) if self.number == _WHOLE else f"{self.position}.{self.number}"


START = Point(0)
"""Before every live event."""


def pieces(position: int, count: int) -> list[Point]:
    """The points of the `count` live events of one log event."""
    return [Point(position, _PIECE, number if number < count - 1 else _WHOLE) for number in range(count)]


def chunk_point(position: int, number: int) -> Point:
    """The point of the `number`th chunk of the final judge's answer after the log event at `position`."""
    return Point(position, _CHUNK, number)


def parse_point(text: str) -> Point:
    """The inverse of `str`."""
    found = _FORM.fullmatch(text)
    if found is None:
        raise BadPoint(
            f"{visible_line(text, 60)!r} is not the id of a live event; send that of the last event received, as 17"
        )
    position, mark, number = found.groups()
    if mark is None:
        return Point(int(position))
    return Point(int(position), _CHUNK if mark == "~" else _PIECE, int(number))


T = TypeVar("T")


class Fold(Protocol):
    """Turns the events of one debate, in order, into live events."""

    def take(self, event: DebateEvent, texts: Texts) -> list[Any]:
        """The live events of `event`; `texts` has its texts that are not erased."""
        ...

    def chunk(self, text: str) -> list[Any]:
        """The live events of a chunk of the final judge's answer."""
        ...

    def call(self) -> list[Any]:
        """The live events of a recorded model call."""
        ...


class Encoding(NamedTuple, Generic[T]):
    """`fold` creates the fold of a debate; `write` encodes one live event and its point."""

    name: str
    fold: Callable[[], Fold]
    write: Callable[[Point, Any], T]


class LiveEvent(NamedTuple):
    """A live event of `SseEvents`, and its point as the id."""

    id: str
    event: Live


def _as_it_is(point: Point, event: Live) -> LiveEvent:
    return LiveEvent(str(point), event)


def _sse(point: Point, event: Live) -> bytes:
    # One line of JSON, so that no text can end the line and begin another event.
    return f"id: {point}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def _frame(point: Point, event: Live) -> str:
    placed = {"type": event["type"], "position": point.position, **event}
    return json.dumps(placed, ensure_ascii=False)


class LoggedEvent(NamedTuple):
    """An event of the log, and its texts that are not erased."""

    event: DebateEvent
    texts: Texts


class _LogEvents:
    """The events of the log, unchanged."""

    def take(self, event: DebateEvent, texts: Texts) -> list[Any]:
        return [LoggedEvent(event, texts)]

    def chunk(self, _text: str) -> list[Any]:
        return []

    def call(self) -> list[Any]:
        return []


def _log_event(_point: Point, logged: LoggedEvent) -> LoggedEvent:
    return logged


LIVE_EVENTS: Encoding[LiveEvent] = Encoding("live-events", SseEvents, _as_it_is)
"""For callers in this process."""
PROGRESS: Encoding[bytes] = Encoding("progress", ProgressEvents, _sse)
"""The types of new events, as server-sent events: the pages read the debate itself."""
SSE: Encoding[bytes] = Encoding("sse", SseEvents, _sse)
"""Server-sent events, UTF-8 bytes."""
FRAMES: Encoding[str] = Encoding("frames", Frames, _frame)
"""WebSocket frames, JSON."""
LOG_EVENTS: Encoding[LoggedEvent] = Encoding("log-events", _LogEvents, _log_event)
"""The events of the log, for `cli.views.live_lines`."""

"""In which forms the log of a debate is told, and how each is written."""

import json
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from jury_events.codec import DebateEvent
from jury_judge.present.debate_record import Texts
from jury_judge.present.live.frames import Frames
from jury_judge.present.live.points import Point
from jury_judge.present.live.progress import ProgressEvents
from jury_judge.present.live.sse_events import Live, SseEvents

T = TypeVar("T")


class Fold(Protocol):
    """Turns the events of one debate, in order, into what is told of them."""

    def tell(self, event: DebateEvent, texts: Texts) -> list[Any]:
        """What `event` gives; `texts` holds those of its texts that are not erased."""
        ...

    def chunk(self, text: str) -> list[Any]:
        """What a piece of the final judge's answer gives."""
        ...

    def call(self) -> list[Any]:
        """What a model call that was recorded gives."""
        ...


class Encoding(NamedTuple, Generic[T]):
    """A way of telling. `fold` begins a debate, `write` makes what readers get of one thing told, and its place."""

    name: str
    fold: Callable[[], Fold]
    write: Callable[[Point, Any], T]


class LiveEvent(NamedTuple):
    """A live event of `sse_events`, and the place to go on from."""

    id: str
    event: Live


def _as_it_is(point: Point, event: Live) -> LiveEvent:
    return LiveEvent(str(point), event)


def _sse(point: Point, event: Live) -> bytes:
    # One line of JSON, so that no text can end the line and begin an event of its own.
    return f"id: {point}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def _frame(point: Point, event: Live) -> str:
    placed = {"type": event["type"], "position": point.position, **event}
    return json.dumps(placed, ensure_ascii=False)


class _LogEvents:
    """The events themselves."""

    def tell(self, event: DebateEvent, _texts: Texts) -> list[Any]:
        return [event]

    def chunk(self, _text: str) -> list[Any]:
        return []

    def call(self) -> list[Any]:
        return []


def _log_event(_point: Point, event: DebateEvent) -> DebateEvent:
    return event


LIVE_EVENTS: Encoding[LiveEvent] = Encoding("live-events", SseEvents, _as_it_is)
"""For callers in this process."""
PROGRESS: Encoding[bytes] = Encoding("progress", ProgressEvents, _sse)
"""That something was recorded, for whoever reads the debate itself, as server-sent events."""
SSE: Encoding[bytes] = Encoding("sse", SseEvents, _sse)
"""Server-sent events as they go over the wire, UTF-8."""
FRAMES: Encoding[str] = Encoding("frames", Frames, _frame)
"""WebSocket frames, JSON."""
LOG_EVENTS: Encoding[DebateEvent] = Encoding("log-events", _LogEvents, _log_event)
"""The events of the log, for `views.live_lines`."""

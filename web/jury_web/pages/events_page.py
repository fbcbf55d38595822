"""All events of a debate, of all its streams, in the order of recording, each with a link."""

from typing import NamedTuple

from jury_events.debate_history import DebateHistory
from jury_events.panel import Language
from jury_views.event_words import DescribedEvent, event_lines, hash_text

PAGE = 200
"""Events on one page."""

_ANCHORS = {"debate": "e", "calls": "c", "review": "r"}


class EventRow(NamedTuple):
    """An event, its 32-byte hash in hexadecimal, and its anchor: `e-17` in the debate stream, `c-3` in the calls,
    `r-2` in the reviews."""

    line: DescribedEvent
    hash: str
    anchor: str


class EventsPage(NamedTuple):
    """Some of the events; `after` is the position after which the next page begins, None on the last page."""

    debate_id: str
    case_id: str
    rows: tuple[EventRow, ...]
    total: int
    after: int | None


def events_page(reading: DebateHistory, case_id: str, language: Language, after: int = 0) -> EventsPage:
    """The events after position `after`, described in `language`."""
    stored = sorted(
        (*reading.stored_events, *reading.stored_exchanges, *reading.stored_reviews), key=lambda one: one.position
    )
    beyond = [one for one in stored if one.position > after]
    shown = beyond[:PAGE]
    rows = (
        EventRow(line, hash_text(one.hash), f"{_ANCHORS[line.stream]}-{line.version}")
        for line, one in zip(event_lines(stored, after=after, limit=PAGE, language=language), shown, strict=True)
    )
    return EventsPage(
        reading.debate_id,
        case_id,
        tuple(rows),
        len(stored),
        shown[-1].position if len(beyond) > len(shown) else None,
    )

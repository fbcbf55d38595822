"""Every event of a debate, both streams in the order in which they were recorded, each under its own link."""

from typing import NamedTuple

from jury_events.panel import Language
from jury_judge.present.events_view import DescribedEvent, event_lines, hash_text
from jury_judge.web.pages.debate_reading import PageReading

PAGE = 200
"""Events on one page."""


class EventRow(NamedTuple):
    """An event, its 32-byte hash in hexadecimal, and its anchor: `e-17` in the debate, `c-3` among its calls."""

    line: DescribedEvent
    hash: str
    anchor: str


class EventsPage(NamedTuple):
    """A slice of the events; `after` is the position beyond which the next one begins, None at the end."""

    debate_id: str
    case_id: str
    rows: tuple[EventRow, ...]
    total: int
    after: int | None


def events_page(reading: PageReading, case_id: str, language: Language, after: int = 0) -> EventsPage:
    """The events beyond position `after`, told in `language`.

    Raises:
        EventError: a stored body does not decode.
    """
    stored = sorted((*reading.stored, *reading.stored_calls), key=lambda one: one.position)
    beyond = [one for one in stored if one.position > after]
    shown = beyond[:PAGE]
    rows = (
        EventRow(line, hash_text(one.hash), f"{'e' if line.stream == 'debate' else 'c'}-{line.version}")
        for line, one in zip(event_lines(stored, after=after, limit=PAGE, language=language), shown, strict=True)
    )
    return EventsPage(
        reading.debate_id,
        case_id,
        tuple(rows),
        len(stored),
        shown[-1].position if len(beyond) > len(shown) else None,
    )

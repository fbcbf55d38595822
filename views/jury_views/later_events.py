"""Whether the origin of an imported debate may have later events, for every form of result."""

from typing import TYPE_CHECKING

from jury_events.text import moment, visible_line
from jury_views.debate_labels import DebateLabels
from jury_views.result_facts import LaterEventsKnown

if TYPE_CHECKING:
    from jury_events.local_facts import LaterEvents


def later_events_text(later: "LaterEvents", words: DebateLabels) -> str:
    """One sentence."""
    if later.excluded_as_of is None:
        return str(words.later_events_possible)
    key = visible_line(later.signed_by or "", 200)
    return str(words.later_events_as_of).format(at=moment(later.excluded_as_of), key=key)


def later_events_object(later: "LaterEvents | None") -> LaterEventsKnown | None:
    """As JSON values: when, in ISO 8601, and the key; both null where nothing excludes them. None: not imported."""
    if later is None:
        return None
    at = later.excluded_as_of
    return LaterEventsKnown(excluded_as_of=None if at is None else moment(at), signed_by=later.signed_by)

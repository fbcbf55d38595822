"""Choosing among cassettes by conditions on the cases of their debates."""

from collections.abc import Sequence
from pathlib import Path

from jury_events.codec import decode
from jury_events.conditions import Condition, admitted, fields_of
from jury_events.debate_events import DebateOpened
from jury_events.errors import EventError
from jury_events.ids import debate_stream
from jury_replay.cassettes.reading import read_cassette
from jury_replay.errors import ReplayError


def is_chosen(path: Path, where: Sequence[Condition]) -> bool:
    """Whether all conditions hold of the case of this cassette; one that cannot be read is chosen, so that it is told.

    Args:
        path: of the cassette.
        where: the conditions; without any it is not read.
    """
    if not where:
        return True
    try:
        record = read_cassette(path).record
        opened = decode(record.events[debate_stream(record.debate_id)][0])
    except (EventError, ReplayError, LookupError):
        return True
    return not isinstance(opened, DebateOpened) or admitted(where, fields_of(opened))

"""Select cassettes by conditions on the cases of their debates."""

from collections.abc import Sequence
from pathlib import Path

from jury_events.conditions import Condition, admitted, fields_of
from jury_events.errors import EventError
from jury_replay.cassettes.reading import read_cassette
from jury_replay.errors import ReplayError


def is_chosen(path: Path, where: Sequence[Condition]) -> bool:
    """Whether the case of this cassette meets all conditions; an unreadable cassette is chosen, so that it is reported.

    Args:
        where: the conditions; without any the file is not read.
    """
    if not where:
        return True
    try:
        opened = read_cassette(path).history.opened
    except (EventError, ReplayError):
        return True
    return admitted(where, fields_of(opened))

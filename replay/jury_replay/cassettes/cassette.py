"""The content of a cassette."""

from typing import NamedTuple

from jury_events.debate_history import DebateHistory
from jury_replay.cassettes.lines import LengthsLine, SealLine


class Cassette(NamedTuple):
    """One verified debate, and the seal of the log in which it was recorded, if the cassette has one.

    Positions in `history` count the events of the cassette from 1; its epochs are 0.
    """

    history: DebateHistory
    seal: SealLine | None = None
    lengths: LengthsLine | None = None
    """How long its streams were in their store; they fit, and whether a trusted key signed them is open."""

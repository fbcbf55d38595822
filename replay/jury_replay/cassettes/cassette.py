"""What a cassette holds, read whole."""

from typing import NamedTuple

from jury_replay.cassettes.lines import SealLine
from jury_store.inventory import DebateRecord


class Cassette(NamedTuple):
    """One debate, verified on the way in, and the seal of the log in which it was recorded, where it carries one.

    Positions in `record` count the events of the cassette from 1; its epochs are 0.
    """

    record: DebateRecord
    seal: SealLine | None = None

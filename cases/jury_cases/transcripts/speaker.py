"""Who speaks in the blocks of a message."""

from typing import NamedTuple

from jury_events.transcript import Origin


class Speaker(NamedTuple):
    """The author of a message's blocks.

    `kind`: of the message; None for a tool's result, identified by `call_id` and `tool`; `error`: the tool failed.
    """

    kind: str | None
    origin: Origin
    name: str | None = None
    call_id: str | None = None
    tool: str | None = None
    error: bool = False

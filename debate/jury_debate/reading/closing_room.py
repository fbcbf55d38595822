"""How much the calls behind those about parts may show, and how findings become fewer where they are too many."""

WANTED_SHARE = 4
"""Of a closing call's room, one part of so many is for the items that were asked for."""

MOST_LEVELS = 12
"""How often findings are gathered."""

MOST_SHRINKS = 4
"""How often a call that is too long is asked again with half of the room."""

_GATHERED = 3
"""Of so many findings that are gathered, one is kept."""


def findings_bytes(room: int) -> int:
    """The bytes of findings that one call shows, of its room."""
    return room - room // WANTED_SHARE


def kept_findings(findings: int) -> int:
    """How many findings a call is asked for that gathers so many: half of them at most."""
    return max(1, findings // _GATHERED)

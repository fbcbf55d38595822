"""Errors of this component."""

from jury_events.errors import InputError


class BadPoint(InputError):
    """A reader names a place to go on from that is none."""


class OpeningMissing(InputError):
    """Events of a debate do not begin with its opening event."""

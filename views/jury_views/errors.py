"""Errors of this component."""

from jury_events.errors import InputError


class BadPoint(InputError):
    """A reader names a place to go on from that is none."""


class ReportRefused(InputError):
    """A report cannot be put where it is to be; the message names the place, and nothing was judged."""


class ReportFailed(InputError):
    """A report could not be written once everything was judged; the message names the file. The judgments are kept."""


class OpeningMissing(InputError):
    """Events of a debate do not begin with its opening event."""

"""Errors of this component."""

from jury_events.errors import EventError, JuryError


class ReplayError(JuryError):
    """What is recorded cannot be done again as it was asked to."""


class ForkRefused(ReplayError):
    """A debate cannot be branched there, or not under those settings; the message says where it can be."""


class OriginAltered(ForkRefused, EventError):
    """The record that a branch would reuse is not as it was written."""

"""Errors of this component."""

from jury_events.errors import InputError


class ServeRefused(InputError):
    """The server cannot be started as it is asked to be."""

"""Errors of this component."""

from jury_events.errors import Failure, InputError


class PanelNotServed(InputError):
    """The server is read-only, or does not have the requested panel."""


class TooManySubmissions(InputError):
    """The server runs as many evaluations and runs as it may."""

    failure = Failure.UNAVAILABLE


class ServeRefused(InputError):
    """The server cannot be started as it is asked to be."""

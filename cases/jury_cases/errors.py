"""Errors of this component."""

from jury_events.errors import InputError


class CaseFileError(InputError):
    """A file of cases, votes or labels, or one row, cannot be read; the message begins with `file:line` if known."""


class ArtifactSourceError(InputError):
    """The records behind a `security_gate_uri` or `agent_card_uri` cannot be read."""

"""Errors of batches."""

from jury_actors.errors import ActorError
from jury_events.errors import Failure


class OtherAccount(ActorError):
    """A batch was sent to another account or server than is set now; the message names the remedy."""

    failure = Failure.REFUSED

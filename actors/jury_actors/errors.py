"""Errors of this component."""

from jury_events.errors import JuryError


class ActorError(JuryError):
    """The jury could not do its work."""


class Halted(ActorError):
    """No further call of the run can fare better before a person acts: a key refused, a quota or a budget used up.

    Debates that it stops are unfinished, not failed; the message says what to do. `about` is the same for all calls
    that one cause halts (a provider's name, `budget`), however the messages differ.
    """

    def __init__(self, message: str, about: str = "") -> None:
        super().__init__(message, about)

    def __str__(self) -> str:
        return str(self.args[0])

    @property
    def about(self) -> str:
        """What is to be mended."""
        return str(self.args[1])


class Released(ActorError):
    """Nobody waits for a step any more, so no further call is made for it."""


class ClusterUnreachable(ActorError):
    """There is no Ray cluster at the address given."""


class ClusterNotStarted(ActorError):
    """A local Ray cluster could not be started; nothing of it is left."""


class ClusterOpen(ActorError):
    """The Ray cluster at the address given answers calls without a token, and that was not accepted."""


class ClusterRefused(ActorError):
    """The Ray cluster at the address given asks for a token that is not known here."""


class ClusterNotPrivate(ActorError):
    """A local Ray cluster would listen where other machines reach it; it was ended again."""


class FolderNotPrivate(ActorError):
    """The folder for Ray's files has another owner, or other users have permissions on it."""


class TextMissing(ActorError):
    """A juror was asked about a text that it was never sent, as one is that took another's place; send it again."""


class Broken(ActorError):
    """A part of ours raised what it should not; the debate can be resumed. It travels between processes as its text."""


class ClusterLost(ActorError):
    """Ray, or an actor of the court, is gone for good; what was recorded stays, and the same run goes on from there.

    `reason` is what was seen of it, `remedy` how to go on.
    """

    def __init__(self, reason: str, remedy: str = "call the same run again") -> None:
        super().__init__(reason, remedy)

    def __str__(self) -> str:
        return f"the Ray cluster was lost ({self.reason}); {self.args[1]}"

    @property
    def reason(self) -> str:
        """What was seen of it."""
        return str(self.args[0])


class ActorLost(ClusterLost):
    """An actor died again and again, or has not answered for minutes."""

    def __str__(self) -> str:
        return (
            f"{self.reason}, so the run ends here, its debates unfinished; what is recorded stays. "
            f"See why in Ray's logs (session_latest/logs), then {self.args[1]}"
        )


class HeldElsewhere(ActorError):
    """A debate that is to go on was imported, or is in quarantine; the message names the way out."""


class OtherPanel(ActorError):
    """A debate that is to go on was opened with another panel."""

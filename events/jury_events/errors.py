"""Errors of this component."""


class JuryError(Exception):
    """Root of every error that Jury Judge raises on purpose; the message names the problem and the remedy."""


class BadCondition(JuryError):
    """A text is not a condition on cases, or names an unknown field."""


class EventError(JuryError):
    """An event, a part or a stored body is invalid."""


class UnknownEventType(EventError):
    """The log has an event type or schema that this version of Jury Judge does not know: upgrade it."""


class MalformedBody(EventError):
    """Stored body bytes do not decode to the event of their envelope."""


class AlteredPart(EventError):
    """A stored text does not match its digest: it was altered or damaged.

    `part` is its reference, 43 characters.
    """

    def __init__(self, part: str) -> None:
        super().__init__(f"the text {part} is not the one that was recorded; see jury verify --all")
        self.part = part

    def __reduce__(self) -> tuple[type["AlteredPart"], tuple[str]]:
        return AlteredPart, (self.part,)


class UnknownPart(EventError):
    """A referenced text is missing: it was erased or lost.

    `part` is its reference, 43 characters.
    """

    def __init__(self, part: str) -> None:
        super().__init__(f"the text {part} is missing: it was erased, or never stored")
        self.part = part

    def __reduce__(self) -> tuple[type["UnknownPart"], tuple[str]]:
        return UnknownPart, (self.part,)

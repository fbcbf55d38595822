"""Errors of this component."""


class JuryError(Exception):
    """Root of every error that Jury Judge raises on purpose; its message says what happened and what to do next."""


class BadCondition(JuryError):
    """A text is no condition on cases, or names a field that there is not."""


class EventError(JuryError):
    """An event, a part or a stored body is not what it must be."""


class UnknownEventType(EventError):
    """The body names an event type or schema that this version of Jury Judge does not know.

    Raised on reading a log that a newer version wrote: upgrade Jury Judge.
    """


class MalformedBody(EventError):
    """Stored body bytes do not decode to the event that their envelope names."""


class AlteredPart(EventError):
    """A stored text is not the one whose digest it stands under: it was altered, or its bytes were damaged.

    `part` is its reference, 43 characters.
    """

    def __init__(self, part: str) -> None:
        super().__init__(f"the text {part} is not the one that was recorded; see jury verify --all")
        self.part = part

    def __reduce__(self) -> tuple[type["AlteredPart"], tuple[str]]:
        return AlteredPart, (self.part,)


class UnknownPart(EventError):
    """A text that is referred to is not at hand: it was erased, or lost.

    `part` is its reference, 43 characters.
    """

    def __init__(self, part: str) -> None:
        super().__init__(f"the text {part} is not here: it was erased, or never stored")
        self.part = part

    def __reduce__(self) -> tuple[type["UnknownPart"], tuple[str]]:
        return UnknownPart, (self.part,)

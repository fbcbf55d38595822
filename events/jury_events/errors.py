"""Errors of this component."""

from collections.abc import Callable
from enum import Enum
from string import Formatter
from typing import Any, ClassVar, Self

from jury_events.scrubbing import known_scrubber

_SHOWN = 240
"""Characters of an id that a message quotes."""


class Failure(Enum):
    """What an error means for who asked.

    REFUSED: it cannot be done as it was asked. MISSING: what was named is not there. TAKEN: what was named is there
    already, with other content. NOT_INSTALLED: it needs packages that are not installed. UNAVAILABLE: it cannot be done
    now. STOPPED: something is left to do, and the same request again goes on with it. ALTERED: what is recorded was
    altered or damaged.
    """

    REFUSED = "refused"
    MISSING = "missing"
    TAKEN = "taken"
    NOT_INSTALLED = "not installed"
    UNAVAILABLE = "unavailable"
    STOPPED = "stopped"
    ALTERED = "altered"


class JuryError(Exception):
    """Root of every error that Jury Judge raises on purpose; the message names the problem and the remedy.

    Every one can be pickled, because actors raise them in other processes. Its text has no secret of this process: a
    server or a package that it quotes may have said one.
    """

    failure: ClassVar[Failure] = Failure.REFUSED
    quotes_others: ClassVar[bool] = False
    """Whether the message quotes what another package said, which may be a text or a key: logs leave it out."""

    def __str__(self) -> str:
        return known_scrubber().text(super().__str__())

    def __reduce__(self) -> tuple[Any, ...]:
        # As of Exception, but without a call of the constructor, which may need other arguments than the message.
        return _restored, (type(self), self.args), self.__dict__


def _restored(kind: type[JuryError], args: tuple[Any, ...]) -> JuryError:
    return kind.__new__(kind, *args)


def error_text(error: BaseException) -> str:
    """What a log shows of an error: the message of one of this project, of any other its type."""
    own = isinstance(error, JuryError) and not error.quotes_others
    return str(error) if own else type(error).__name__


Naming = Callable[[str], str]
"""The name of a setting in the words of a front door: `run_id` is `--run` of the command, `runId` over HTTP."""


class Worded(JuryError):
    """The message names settings, which each front door calls otherwise.

    Args:
        template: the message, with each setting in braces: `{as_json} and {as_jsonl} exclude each other`.
    """

    usage = False
    """Whether the help of the front door says how to call it better; else the message alone says what to do."""

    def __init__(self, template: str) -> None:
        super().__init__(_named(template, str))
        self.template = template

    def worded(self, naming: Naming) -> str:
        """The message in the words of a front door."""
        return _named(self.template, naming)


def _named(template: str, naming: Naming) -> str:
    return "".join(
        text + ("" if field is None else naming(field)) for text, field, _form, _change in Formatter().parse(template)
    )


class InputError(JuryError):
    """What a caller gave cannot be used: a case, a setting, a file."""


class SettingError(InputError):
    """A setting has a value that it cannot have; the message names the variable or flag."""


class BadCondition(JuryError):
    """A text is not a condition on cases, or names an unknown field."""


class EventError(JuryError):
    """An event, a part or a stored body is invalid."""

    failure = Failure.ALTERED


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


class UnknownPart(EventError):
    """A referenced text is missing: it was erased or lost.

    `part` is its reference, 43 characters.
    """

    def __init__(self, part: str) -> None:
        super().__init__(f"the text {part} is missing: it was erased, or never stored")
        self.part = part


class DebateNotFound(JuryError):
    """There is no debate of that id, or none that fits. The store works, so this is no error of the store."""

    failure = Failure.MISSING

    @classmethod
    def named(cls, debate_id: str) -> Self:
        """The error for one id."""
        return cls(f"there is no debate {debate_id[:_SHOWN]!r} in this store; `jury list` lists the debates")


def install_line(extra: str) -> str:
    """The commands that install an extra, for every message that misses it; WHEEL is a wheel's file or address."""
    # Once a release is published, this line names the package in place of WHEEL, and so does `docs/install.md`.
    return f"uv sync --inexact --extra {extra} (in a clone) or pip install 'WHEEL[{extra}]'"

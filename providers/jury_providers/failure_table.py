"""What providers' errors mean (`failures.toml`): status, code or phrase → the outcome of a call."""

import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import cache, lru_cache
from importlib.resources import files
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from jury_events.outcome import CallOutcome
from jury_events.value import Value

_SEARCHED = 8000
"""Characters of an error's message that are searched: searching megabytes would block the event loop."""

_MOST_BETWEEN = 100
"""Characters that a `*` in a phrase stands for."""

FailureKind = Literal[
    "quota",
    "rate_limited",
    "overloaded",
    "timeout",
    "malformed_response",
    "context_too_long",
    "blocked",
    "authentication",
    "bad_request",
]

PromptText = Callable[[], str]
"""Returns the texts of a call. A provider may quote them in its error message, so words in them are no evidence."""


def _listed(given: object) -> object:
    """A status alone, or a list as files have it."""
    if isinstance(given, int) and not isinstance(given, bool):
        return (given,)
    return tuple(given) if isinstance(given, list) else given


Statuses = Annotated[tuple[Annotated[int, Field(ge=400, le=599)], ...], BeforeValidator(_listed)]
Words = Annotated[str, StringConstraints(min_length=1, max_length=300)]


class FailureRow(Value):
    """An error with one of these statuses, this code and this phrase is a failure of this kind."""

    kind: FailureKind
    """What it is."""
    status: Statuses = ()
    """A status, or a list; none: any."""
    code: Words | None = None
    """A type, code or status of the error's JSON, whole; `*` stands for any characters."""
    phrase: Words | None = None
    """Words of its message; `*` stands for at most 100 characters."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.status and self.code is None and self.phrase is None:
            raise ValueError("must have a status, a code or a phrase")
        return self

    @property
    def outcome(self) -> CallOutcome:
        """The outcome of a call with such an error."""
        return CallOutcome(self.kind)


FailureRows = Annotated[
    tuple[FailureRow, ...], BeforeValidator(lambda given: tuple(given) if isinstance(given, list) else given)
]


class KnownFailure(FailureRow):
    """A row of `failures.toml`. `source` "": it is not confirmed, and decides nothing."""

    provider: str
    source: str = ""
    day: date


class ReportedError(NamedTuple):
    """An error as a provider reports it: HTTP's status, its types and codes, its message."""

    status: int
    names: tuple[str, ...]
    message: str


@cache
def known_failures() -> tuple[KnownFailure, ...]:
    """The rows of the file, in its order."""
    text = (files("jury_providers") / "failures.toml").read_text(encoding="utf-8")
    return tuple(KnownFailure.model_validate(row) for row in tomllib.loads(text)["failure"])


class FailureTable:
    """Rows that decide in their order: those with a code and a phrase, with a code, with a phrase, with a status alone.

    Args:
        own: rows of a panel file, which decide before those of `failures.toml`.
    """

    def __init__(self, own: Iterable[FailureRow] = ()) -> None:
        confirmed = (row for row in known_failures() if row.source)
        self._matchers = [
            matcher for rows in (tuple(own), tuple(confirmed)) for matcher in sorted(map(_Matcher, rows), key=_rank)
        ]

    def outcome(self, error: ReportedError, prompt: PromptText) -> CallOutcome | None:
        """What the first row that fits says; None where none does. Words that the call sent do not count."""
        names = [name.lower() for name in error.names]
        message = " ".join(error.message[:_SEARCHED].split()).lower()
        sent: list[str] = []

        def is_sent(words: str) -> bool:
            if not sent:
                sent.append(" ".join(prompt().split()).casefold())
            return " ".join(words.split()).casefold() in sent[0]

        return next(
            (one.row.outcome for one in self._matchers if one.fits(error.status, names, message, is_sent)), None
        )


@lru_cache(maxsize=64)
def failure_table(own: tuple[FailureRow, ...] = ()) -> FailureTable:
    """The table with these rows of a panel file; made once."""
    return FailureTable(own)


class _Matcher:
    """One row, ready to be compared."""

    def __init__(self, row: FailureRow) -> None:
        self.row = row
        self._code = _pattern(row.code, "*")
        self._phrase = _pattern(row.phrase, f"{{0,{_MOST_BETWEEN}}}?")

    def fits(self, status: int, names: Sequence[str], message: str, is_sent: Callable[[str], bool]) -> bool:
        if self.row.status and status not in self.row.status:
            return False
        if self._code is not None and not any(map(self._code.fullmatch, names)):
            return False
        return self._phrase is None or any(not is_sent(found.group()) for found in self._phrase.finditer(message))


def _pattern(words: str | None, repeated: str) -> re.Pattern[str] | None:
    if words is None:
        return None
    return re.compile(f".{repeated}".join(map(re.escape, words.lower().split("*"))))


def _rank(matcher: _Matcher) -> tuple[bool, bool]:
    """Of rows that are known by a code the first, then of those with a phrase."""
    return matcher.row.code is None, matcher.row.phrase is None

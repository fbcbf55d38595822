"""What was found."""

from typing import Literal, NamedTuple

Mark = Literal["ok", "note", "warning", "problem"]


class DiagnosisFinding(NamedTuple):
    """One line. A problem keeps debates from running; keys are named, never shown."""

    mark: Mark
    line: str

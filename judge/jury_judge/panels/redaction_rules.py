"""The list `redact` of a panel file: regular expressions, and redactors of installed packages."""

from importlib.metadata import entry_points
from typing import Annotated

import regex
from pydantic import Field, StringConstraints

from jury_events.value import Label, Value
from jury_judge.panels.document import PanelDocument
from jury_judge.panels.pattern_limits import MOST_BYTES, MOST_SECONDS, too_expensive
from jury_judge.panels.redaction import NO_REDACTION, PatternRedactor, Redaction, RedactionRule, Redactor

FIELD = "redact"
ENTRY_POINTS = "jury_judge.redactors"
"""The entry point group of `name = "package.module:redact"`; `redact(text)` returns a text."""

_Short = Annotated[str, StringConstraints(max_length=1000)]


class RuleSpec(Value):
    """One entry of the list: `pattern` with `replace`, or the name of a `redactor`."""

    pattern: Annotated[_Short, Field(min_length=1)] | None = None
    """A regular expression of the package `regex`."""
    replace: _Short | None = None
    """What stands in its place, literally."""
    redactor: Label | None = None
    """A function of an installed package, by the name of its entry point."""


_Rules = Annotated[list[RuleSpec], Field(max_length=100)]


def read_redaction(document: PanelDocument) -> Redaction:
    """The rules in order."""
    written = document.data.get(FIELD)
    if written is None:
        return NO_REDACTION
    specs: list[RuleSpec] = document.validated([FIELD], _Rules, written)
    _check_patterns(document, specs)
    return Redaction(tuple(_rule(document, index, spec) for index, spec in enumerate(specs)))


def _check_patterns(document: PanelDocument, specs: list[RuleSpec]) -> None:
    written = [(index, spec.pattern) for index, spec in enumerate(specs) if spec.pattern is not None]
    expensive = too_expensive([pattern for _, pattern in written])
    if expensive is not None:
        index = written[expensive][0]
        raise document.refused(
            (FIELD, index, "pattern"),
            f"{FIELD}.{index}.pattern: compiling it takes more than {MOST_SECONDS} CPU seconds or {MOST_BYTES >> 30} "
            "GiB; write it with fewer groups inside each other",
        )


def _rule(document: PanelDocument, index: int, spec: RuleSpec) -> RedactionRule:
    place = f"{FIELD}.{index}"
    if spec.redactor is not None and spec.pattern is None and spec.replace is None:
        return RedactionRule(f"{document.name}: {place}", _installed(document, index, spec.redactor))
    if spec.pattern is None or spec.replace is None or spec.redactor is not None:
        raise document.refused((FIELD, index), f"{place}: write pattern and replace, or a redactor by its name")
    field = (FIELD, index, "pattern")
    try:
        pattern = regex.compile(spec.pattern)
    except regex.error as error:
        raise document.refused(field, f"{place}.pattern: not a regular expression: {error}") from error
    if pattern.search("") is not None:
        raise document.refused(field, f"{place}.pattern: matches the empty text; let it match at least one character")
    return RedactionRule(f"{document.name}: {place}", PatternRedactor(pattern, spec.replace))


def _installed(document: PanelDocument, index: int, name: str) -> Redactor:
    offered = {found.name: found for found in entry_points(group=ENTRY_POINTS)}
    found = offered.get(name)
    field = (FIELD, index, "redactor")
    place = f"{FIELD}.{index}.redactor"
    if found is None:
        raise document.refused(
            field, f"{place}: no installed package offers {name!r}; there are: {', '.join(sorted(offered)) or 'none'}"
        )
    redactor: Redactor = found.load()
    if not callable(redactor):
        raise document.refused(field, f"{place}: {found.value} is not a function")
    return redactor

"""What is redacted before a juror reads it: rules of panel files, their limits, and their patterns."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from json import dumps
from typing import Annotated, Any, NamedTuple

import regex
from pydantic import Field, StringConstraints, ValidationError

from jury_cases.errors import CaseFileError
from jury_events.canonical import canonical_json
from jury_events.case import Case
from jury_events.errors import Worded
from jury_events.text import condensed, visible_line
from jury_events.value import Label, Value
from jury_judge.errors import escaped
from jury_judge.panels.document import PanelDocument

MOST_SECONDS = 3
"""CPU seconds for the patterns of a panel together."""

MOST_BYTES = 1024**3
"""Address space of the process that compiles them."""

_COMPILE = f"""
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({MOST_BYTES}, {MOST_BYTES}))
resource.setrlimit(resource.RLIMIT_CPU, ({MOST_SECONDS}, {MOST_SECONDS}))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
import regex
for index, pattern in enumerate(json.load(sys.stdin)):
    sys.stdout.write(f"{{index}}\\n")
    sys.stdout.flush()
    try:
        regex.compile(pattern)
    except regex.error:
        pass
"""


def too_expensive(patterns: Sequence[str]) -> int | None:
    """The index of the first pattern that cannot be compiled within the limits; None if all can.

    They are compiled in a process of its own, which ends at a limit; patterns that are invalid are not judged here.
    """
    if not patterns:
        return None
    done = subprocess.run(  # noqa: S603  (the program is this interpreter, its code is above)
        [sys.executable, "-I", "-c", _COMPILE], input=dumps(patterns), capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return None
    begun = done.stdout.split()
    return int(begun[-1]) if begun else 0


Redactor = Callable[[str], str]
"""Redacts a text; must be deterministic."""

SECONDS = 10.0
"""Timeout of one pattern on one text."""

_NOT_TEXT = frozenset({"case_id", "scenario_id", "label", "kind", "origin", "media_type", "digest", "what", "location"})
"""Fields with ids and labels. Pictures are not redacted either."""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*')


@dataclass(frozen=True)
class PatternRedactor:
    """Replaces every match of a regular expression by a literal text."""

    matched: regex.Pattern[str]
    replace: str

    def __call__(self, text: str) -> str:
        """Redact a text."""
        return self.matched.sub(lambda _: self.replace, text, timeout=SECONDS)


class RedactionRule(NamedTuple):
    """A redactor, and its position in the panel file, for messages."""

    place: str
    redactor: Redactor


class Redaction(NamedTuple):
    """Rules, applied in order; without rules a case is unchanged."""

    rules: tuple[RedactionRule, ...] = ()

    def cases(self, source: Callable[..., Iterable[Case]]) -> Callable[..., Iterable[Case]]:
        """The source with every case redacted, fetched records included."""
        if not self.rules:
            return source
        outline: Callable[..., Iterable[Case | str]] | None = getattr(source, "outline", None)
        return RedactedCases(self, source) if outline is None else OutlinedRedactedCases(self, source, outline)

    def case(self, case: Case) -> Case:
        """The case with every text redacted."""
        try:
            texts = self._value(case.model_dump(), "")
            # Metadata names are the user's: none of them marks an id.
            texts["metadata"] = {name: self._value(value, "") for name, value in case.metadata.items()}
            for record in (*texts["security_gate_records"], *texts["agent_card_records"]):
                # Redacted keys may sort differently: records are canonical JSON.
                record["content"] = canonical_json(json.loads(record["content"])).decode("utf-8")
            return Case.model_validate(texts)
        except _Failed as error:
            raise CaseFileError(f"case {visible_line(case.case_id)!r}: {error}") from error.__cause__
        except ValidationError as error:
            raise CaseFileError(f"case {visible_line(case.case_id)!r}: redact: {condensed(error)}") from error

    def policy(self, policy: str | None) -> str | None:
        """The policy of the cases without one, redacted as in each of them."""
        if policy is None or not self.rules:
            return policy
        try:
            return self.text(policy)
        except _Failed as error:
            raise PolicyRefused(f"{{policy}}: {escaped(str(error))}") from error.__cause__

    def text(self, text: str) -> str:
        """The redacted text; in JSON each string and number is redacted separately, so that it stays JSON."""
        if not _is_json(text):
            return self._plain(text)
        return _TOKEN.sub(self._token, text)

    def _token(self, found: re.Match[str]) -> str:
        token = found.group()
        value = json.loads(token) if token.startswith('"') else token
        redacted = self.text(value)
        return token if redacted == value else json.dumps(redacted, ensure_ascii=False)

    def _plain(self, text: str) -> str:
        for rule in self.rules:
            try:
                text = rule.redactor(text)
            except TimeoutError as error:
                raise _Failed(f"{rule.place}: took longer than {SECONDS:g} s on one text; simplify it") from error
            except Exception as error:  # a redactor may be third-party code; its message may contain the text
                raise _Failed(f"{rule.place}: the redactor failed ({type(error).__name__})") from error
            if not isinstance(text, str):
                raise _Failed(f"{rule.place}: the redactor returned a {type(text).__name__}, not a text")
        return text

    def _value(self, value: Any, field: str) -> Any:
        if field in _NOT_TEXT:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {name: self._value(inner, name) for name, inner in value.items()}
        return tuple(self._value(inner, "") for inner in value) if isinstance(value, tuple) else value


NO_REDACTION = Redaction()


class RedactedCases:
    """A source of cases with every case redacted; see `Redaction.cases`."""

    def __init__(self, redaction: Redaction, source: Callable[..., Iterable[Case]]) -> None:
        self._redaction = redaction
        self._source = source

    def __call__(self, fetch: Callable[[Case], bool]) -> Iterator[Case]:
        """The cases."""
        return map(self._redaction.case, self._source(fetch))


class OutlinedRedactedCases(RedactedCases):
    """The same of a source that can name cases without building them; ids are not redacted."""

    def __init__(
        self,
        redaction: Redaction,
        source: Callable[..., Iterable[Case]],
        outline: Callable[..., Iterable[Case | str]],
    ) -> None:
        super().__init__(redaction, source)
        self._outline = outline

    def outline(self, *asked: Any) -> Iterator[Case | str]:
        """See `jury_cases.case_outlines`."""
        for found in self._outline(*asked):
            yield found if isinstance(found, str) else self._redaction.case(found)


class PolicyRefused(CaseFileError, Worded):
    """The policy of the cases without one cannot be redacted."""


class _Failed(Exception):
    """A rule could not be applied."""


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in {"{", "["}:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


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

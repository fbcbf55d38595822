"""`--fail-if`: conditions on the judged share, how often the jury gave a verdict; of the true rate: `jury gate --true`.

Pure; exact, without floats.
"""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from jury_events.errors import SettingError
from jury_events.text import visible_line
from jury_events.verdict import FAIL
from jury_views.reports.tally import COUNTED, NO_VERDICT


def grammar(labels: Sequence[str] = ()) -> str:
    """How a condition is written; `labels` are those of the panel's own scale."""
    return (
        f"write NAME, NAME>COUNT or NAME>SHARE%, as {FAIL}>2%; NAME is one of {', '.join((*COUNTED, *labels))}; "
        "the comparison is >, >=, < or <="
    )


_LONGEST = 1500
"""Characters of a refusal: 20 labels of 40 characters are named whole."""

_TOKENS = re.compile(r"(?P<name>[\w-]*)\s*(?:(?P<sign>[<>]=?)\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<share>%?))?", re.ASCII)


class FailCondition(NamedTuple):
    """Holds where the count of `name`, or its share, compares so with `bound`.

    `bound` is a number of debates, or a share of 0 to 1 where `is_share`. Shares are of the debates with a verdict:
    those that completed, and that a juror evaluated. The share of `no_verdict` is of all debates that are over.
    """

    name: str
    sign: str = ">"
    bound: Fraction = Fraction(0)
    is_share: bool = False

    def __str__(self) -> str:
        if not self.bound and self.sign == ">":
            return self.name
        number = self.bound * 100 if self.is_share else self.bound
        return f"{self.name}{self.sign}{float(number):.15g}{'%' if self.is_share else ''}"

    @property
    def is_any(self) -> bool:
        """Whether a single debate is enough."""
        return self.sign == ">" and not self.bound

    def judge(self, counts: Mapping[str, int], judged: int) -> "ConditionResult":
        """Whether it is met by so many debates with a verdict, and those that `counts` has without one.

        A share of no debates at all is unknown: the condition counts as met, so that nothing passes for having judged
        nothing.
        """
        count, without = counts.get(self.name, 0), counts.get(NO_VERDICT, 0)
        of_all = self.name == NO_VERDICT
        number = judged + without if of_all else judged
        if self.is_share and not number:
            lacking = "has a verdict" if without else "is finished"
            return ConditionResult(self, met=True, says=f"{self}: met: no debate {lacking}, so the share is unknown")
        amount = Fraction(count, number) if self.is_share else Fraction(count)
        met = {
            ">": amount > self.bound,
            ">=": amount >= self.bound,
            "<": amount < self.bound,
            "<=": amount <= self.bound,
        }[self.sign]
        of_judged = "" if of_all else "judged share "
        share = f" ({of_judged}{float(Fraction(count, number)):.2%})" if number else ""
        of = "finished debates" if of_all else "debates with a verdict"
        says = f"{self}: {'met' if met else 'not met'}: {count:,} of {number:,} {of}{share}"
        return ConditionResult(self, met=met, says=says)


class ConditionResult(NamedTuple):
    """A condition, whether it is met, and a line with its numbers."""

    condition: FailCondition
    met: bool
    says: str


def parse_fail_condition(text: str, labels: Sequence[str] | None = ()) -> FailCondition:
    """A condition as it is written: `wrong`, `wrong>3`, `wrong > 2.5%`.

    Args:
        text: the condition.
        labels: those of the panel's own scale, which may be named too; None: they are not known yet, and any name may
            be one.

    Raises:
        SettingError: it cannot be read; the message says where, and gives the grammar.
    """
    start = len(text) - len(text.lstrip())
    found = _TOKENS.match(text, start)
    assert found is not None  # every part of it may be empty
    name = found["name"]
    if not name or (labels is not None and name not in (*COUNTED, *labels)):
        raise _refused(text, start, f"{name!r} is not a count" if name else "a name is missing", labels)
    if (rest := text[found.end() :].strip()) and (sign := text.find(rest, found.end())) >= 0:
        raise _refused(text, sign, f"{rest!r} is not understood", labels)
    if found["sign"] is None:
        return FailCondition(name)
    number, is_share = Fraction(found["number"]), bool(found["share"])
    if is_share and number > 100:  # noqa: PLR2004  (percent)
        raise _refused(text, found.start("number"), "a share is at most 100%", labels)
    if not is_share and number.denominator != 1:
        raise _refused(text, found.start("number"), "a count is a whole number; a share ends with %", labels)
    return FailCondition(name, found["sign"], number / 100 if is_share else number, is_share)


def _refused(text: str, index: int, why: str, labels: Sequence[str] | None) -> SettingError:
    return SettingError(visible_line(f"{text!r}, character {index + 1}: {why}; {grammar(labels or ())}", _LONGEST))

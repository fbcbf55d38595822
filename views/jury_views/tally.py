"""The report of a run: its judged cases and their counts, and conditions on the judged share that fail it.

Conditions are pure; exact, without floats. Those of the true rate: `jury gate --true`.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from tempfile import SpooledTemporaryFile
from typing import Any, Literal, NamedTuple, Protocol

from jury_events.errors import SettingError
from jury_events.judgment import Decider
from jury_events.text import pluralize, visible_line
from jury_events.verdict import FAIL, PASS, REVIEW, Verdict
from jury_views.evaluation_models import parts_by_seat
from jury_views.result_models import OUTCOME

_OWN = frozenset({"own", "stale"})


class JudgedCase(NamedTuple):
    """The end of the debate over a case.

    `status` is completed, failed or cancelled, or `unfinished`: then `problem` says why it could not go on. Without a
    verdict `verdict` and `score` (0-100) are None. `capped_by` says why votes that passed need review: `quorum` or
    `silence`. `votes` has the verdict of each juror, None where it abstained.
    A debate that no juror evaluated (`decided_by`) needs review, without a score: that is no verdict of the jury.
    Under a scale of the panel's own `final_label` is the label of the verdict, and votes are labels where they have
    one. `partly_read`: by juror, the parts of the record that were refused, or never answered usably. `reason` says why
    the verdict came, and `item` at which item it went wrong, as in result lines. `own` are the seats with a vote of
    their own, `missing` those that were asked and have none; None where nobody voted.
    """

    case_id: str
    debate_id: str
    status: str
    verdict: str | None = None
    score: int | None = None
    quorum_met: bool | None = None
    capped_by: str | None = None
    label: str | None = None
    votes: Mapping[str, str | None] = {}
    simulated: bool = False
    problem: str | None = None
    final_label: str | None = None
    partly_read: Mapping[str, Sequence[str]] = {}
    decided_by: str | None = None
    reason: str | None = None
    item: int | None = None
    own: Sequence[str] | None = None
    missing: Sequence[str] | None = None

    @property
    def has_verdict(self) -> bool:
        """Whether the debate has ended with a verdict that rests on an evaluation."""
        return self.verdict is not None and self.decided_by != Decider.NO_EVALUATION

    @property
    def is_over(self) -> bool:
        """Whether its debate has ended, with a verdict or without."""
        return self.status != "unfinished"

    def ended(self, failing: Collection[str]) -> "CaseEnd":
        """How it counts in CI, where these verdicts and labels fail a case beside `FAIL`."""
        if self.problem is not None:
            return CaseEnd("error", f"could not go on: {self.problem}")
        if self.verdict is None:
            return CaseEnd("error", f"no verdict: {self.status}")
        said = self.verdict if self.final_label is None else f"{self.final_label} ({self.verdict})"
        if not self.has_verdict:
            return CaseEnd("error", f"{said}, no evaluation")
        parts = parts_by_seat(self.partly_read)
        unread = "" if parts is None else f", parts not read by {parts}"
        if self.quorum_met is False:
            return CaseEnd("error", f"{said}, no quorum{unread}")
        said += f"{', capped for silent seats' if self.capped_by == 'silence' else ''}{unread}"
        if not {self.verdict, self.final_label}.isdisjoint((FAIL, *failing)):
            return CaseEnd("failure", f"{said}, which fails this run" if self.verdict == PASS else said)
        return CaseEnd("skipped" if self.verdict == REVIEW else None, said)


class CaseEnd(NamedTuple):
    """What a case is in JUnit XML, and how it ended, without its score.

    `failure`: a verdict or label that fails a case. `error`: no verdict, no evaluation, no quorum of jurors, or a
    debate that could not go on. `skipped`: what a person has to decide. None: it has passed.
    """

    kind: Literal["error", "failure", "skipped"] | None
    said: str


def judged_case(line: Mapping[str, Any]) -> JudgedCase:
    """The case of a result line (`result_lines.result_line`)."""
    verdict, label, score = (line[name] for name in OUTCOME)
    return JudgedCase(
        case_id=line["case_id"],
        debate_id=line["debate_id"],
        status=line["status"],
        verdict=verdict,
        score=score,
        quorum_met=line["quorum_met"],
        capped_by=line["capped_by"],
        label=line["label"],
        votes=_votes(line),
        simulated=line["simulated"],
        final_label=label,
        partly_read=line.get("partly_read") or {},
        decided_by=line["decided_by"],
        reason=line.get("reason"),
        item=None if line.get("decisive") is None else line["decisive"]["item"],
        own=[juror for juror, kind in _kinds(line) if kind in _OWN],
        missing=[juror for juror, kind in _kinds(line) if kind not in {*_OWN, "not_asked"}],
    )


def _kinds(line: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    return (line.get("vote_kinds") or {}).items()


def _votes(line: Mapping[str, Any]) -> dict[str, str | None]:
    """The words of the seats that were asked, by juror id; None: no usable answer."""
    labels, kinds = line["vote_labels"] or {}, line["vote_kinds"] or {}
    return {
        juror: labels.get(juror) or verdict
        for juror, verdict in (line["votes"] or {}).items()
        if kinds.get(juror) != "not_asked"
    }


NAMED = 10
"""Debates that a line names at most."""

MANY = Fraction(5, 100)
"""A larger share of debates without a verdict is said unasked."""

_PARTS = 60
"""Characters of the parts of a debate that were not read."""

NO_QUORUM = "no_quorum"
NO_VERDICT = "no_verdict"
PARTLY_READ = "partly_read"
SEAT_MISSING = "seat_missing"
COUNTED = (*(verdict.value for verdict in Verdict), NO_QUORUM, NO_VERDICT, PARTLY_READ, SEAT_MISSING)
"""The names of counts in conditions, beside the labels of a panel's own scale."""


@dataclass
class Named:
    """A number of debates, and the ids of the first of them."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def take(self, name: str) -> None:
        self.count += 1
        if len(self.first) < NAMED:
            self.first.append(name)

    @property
    def names(self) -> str:
        """The first of them, and how many more there are."""
        more = f" and {self.count - len(self.first):,} more" if self.count > len(self.first) else ""
        return ", ".join(self.first) + more


@dataclass
class Tally:
    """The counts over the debates that have ended.

    `ended_as` counts verdicts and, where there is none, statuses; `judged_as` the verdicts that rest on an evaluation;
    `labels` the labels of verdicts under scales of panels' own. `no_verdict` are those that failed, were cancelled, or
    no juror evaluated (they need review), `no_quorum` those whose jurors gave too few answers (a pass needs review
    then), `seat_missing` those in which a seat that was asked has no vote of its own, `partly_read` those of which a
    juror did not read parts of the record (it does not pass then). `seated` and `own_votes` count by seat the debates
    with a verdict in which it was asked, and in which it has a vote of its own. `labelled` counts those that completed
    and have a human label, `decided` those of them with a verdict that leaves nothing to people, `right` those of these
    whose verdict is the label, `false_passes` and `false_fails` those that passed, or failed, against their label.
    """

    ended_as: Counter[str] = field(default_factory=Counter)
    judged_as: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    no_quorum: Named = field(default_factory=Named)
    no_verdict: Named = field(default_factory=Named)
    partly_read: Named = field(default_factory=Named)
    seat_missing: Named = field(default_factory=Named)
    seated: Counter[str] = field(default_factory=Counter)
    own_votes: Counter[str] = field(default_factory=Counter)
    simulated: int = 0
    labelled: int = 0
    decided: int = 0
    right: int = 0
    false_passes: Named = field(default_factory=Named)
    false_fails: int = 0

    def take(self, case: JudgedCase) -> None:
        self.ended_as[case.verdict or case.status] += 1
        self.simulated += case.simulated
        self.labelled += case.verdict is not None and case.label is not None
        if not case.has_verdict:
            self.no_verdict.take(case.debate_id)
            return
        self.judged_as[str(case.verdict)] += 1
        own, missing = case.own or (), case.missing or ()
        self.seated.update((*own, *missing))
        self.own_votes.update(own)
        if missing:
            self.seat_missing.take(case.debate_id)
        if case.final_label is not None:
            self.labels[case.final_label] += 1
        if case.quorum_met is False:
            self.no_quorum.take(case.debate_id)
        if (parts := parts_by_seat(case.partly_read)) is not None:
            self.partly_read.take(f"{case.debate_id} ({visible_line(parts, _PARTS)})")
        if case.label is not None:
            self.decided += case.verdict != REVIEW
            self.right += case.verdict == case.label != REVIEW
            self.false_fails += case.verdict == FAIL != case.label
            if case.verdict == PASS != case.label:
                self.false_passes.take(case.debate_id)

    @property
    def finished(self) -> int:
        return self.ended_as.total()

    @property
    def with_verdict(self) -> int:
        """Debates with a verdict that rests on an evaluation."""
        return self.finished - self.no_verdict.count

    @property
    def often_without_verdict(self) -> str | None:
        """What to say where more than `MANY` of the debates have no verdict; None where there are fewer."""
        count = self.no_verdict.count
        if count <= MANY * self.finished:
            return None
        return (
            f"{count:,} of {pluralize(self.finished, 'debate')} ({count / self.finished:.1%}) ended without a verdict"
        )

    @property
    def counts(self) -> dict[str, int]:
        """The counts for conditions (`COUNTED`, and labels); one debate may count several times."""
        return {
            **self.labels,
            **{verdict.value: self.judged_as[verdict.value] for verdict in Verdict},
            NO_QUORUM: self.no_quorum.count,
            NO_VERDICT: self.no_verdict.count,
            PARTLY_READ: self.partly_read.count,
            SEAT_MISSING: self.seat_missing.count,
        }

    @property
    def silent_seats(self) -> tuple[str, ...]:
        """The seats that were asked, and have a vote of their own in no debate."""
        return tuple(seat for seat in self.seated if not self.own_votes[seat])

    @property
    def shares(self) -> str:
        """The verdicts with their numbers and shares; "" without any."""
        names = [*(verdict.value for verdict in Verdict), *sorted(set(self.ended_as) - {one.value for one in Verdict})]
        return ", ".join(
            f"{self.ended_as[name]:,} {name} ({self.ended_as[name] / self.finished:.1%})"
            for name in names
            if self.ended_as[name]
        )

    @property
    def label_shares(self) -> str:
        """The labels with their numbers and shares of the debates that are over; "" without any."""
        found = sorted(self.labels.items(), key=lambda one: (-one[1], one[0]))
        return ", ".join(f"{count:,} × {label} ({count / self.finished:.1%})" for label, count in found)

    @property
    def against_labels(self) -> dict[str, str]:
        """What was decided and how often that was right, then the false passes by name; nothing without labels."""
        if not self.labelled:
            return {}
        from jury_analysis.estimate import DecidedCases, wilson  # noqa: PLC0415  (of runs with labels)
        from jury_views.conclusion import decided_sentence  # noqa: PLC0415  (likewise)

        passes = self.false_passes
        found = DecidedCases(self.labelled, wilson(self.right, self.decided), passes.count, self.false_fails)
        return {"labels": decided_sentence(found), **({"false passes": passes.names} if passes.count else {})}


_IN_MEMORY = 1 << 20
"""Bytes."""


class KeptCases:
    """A list of cases that grows, and can be read from the first one as often as is needed."""

    _file: "SpooledTemporaryFile[str] | None" = None
    _count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[JudgedCase]:
        if self._file is not None:
            self._file.seek(0)
            for line in self._file:
                yield JudgedCase(*json.loads(line))

    def append(self, case: JudgedCase) -> None:
        """Add a case; not while the list is read."""
        if self._file is None:
            self._file = SpooledTemporaryFile(max_size=_IN_MEMORY, mode="w+", encoding="ascii")  # noqa: SIM115  (`close`)
        self._file.seek(0, 2)
        self._file.write(json.dumps(case) + "\n")
        self._count += 1

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class JudgedCases(Protocol):
    """Cases that can be read several times: a tuple, or `KeptCases`."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[JudgedCase]: ...


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
        labels: those of the panel's own scale, which may be named too; None: they are not known yet, and any name may
            be one.
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


class RunReport(NamedTuple):
    """A list of judged cases with what they come to.

    Args:
        cases: every case that was judged, and those whose debates could not go on.
        total: how many cases there are; None where they were not all read.
        failing: the verdicts, and labels of a panel's own scale, that count as failures of a case beside `FAIL`.
        quotes: whether reasons keep the words that they quote, also where others read the report.
    """

    name: str
    cases: JudgedCases
    tally: Tally
    total: int | None
    seconds: float
    spent: str
    conditions: Sequence[ConditionResult] = ()
    failing: Collection[str] = ()
    quotes: bool = False

    @property
    def facts(self) -> dict[str, str]:
        """What the run took, and what its verdicts come to, by name."""
        shares = {"by label": self.tally.label_shares} if self.tally.labels else {}
        return {"spent": self.spent, **shares, **self.tally.against_labels}

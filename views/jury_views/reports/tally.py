"""Counts of judged cases. Pure; keeps only the few cases that are to be named."""

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

from jury_analysis.decided_cases import DecidedCases
from jury_analysis.score_interval import wilson
from jury_events.text import pluralize, visible_line
from jury_events.verdict import FAIL, PASS, REVIEW, Verdict
from jury_views.decided import decided_sentence
from jury_views.record_reading import parts_by_seat
from jury_views.reports.judged_case import JudgedCase

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
        """One more."""
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
        """One more debate that is over."""
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
        """Debates that are over."""
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
        passes = self.false_passes
        found = DecidedCases(self.labelled, wilson(self.right, self.decided), passes.count, self.false_fails)
        return {"labels": decided_sentence(found), **({"false passes": passes.names} if passes.count else {})}

"""Debates grouped by a field of their cases: how many, which verdicts, how often as labelled."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from jury_events.conditions import fields_of
from jury_events.verdict import Verdict
from jury_store.debate_rows import DebateRow


@dataclass(slots=True)
class Group:
    """The debates whose cases have one value of a field; None: no value.

    `verdicts` and `scores` (their sum, 0-100 each) are of completed debates, as are `labelled`, which counts those that
    have a human label, and `as_labelled`, which counts those whose verdict is it, and `labels`, those of verdicts under
    scales of the panels' own. Those that no seat evaluated (`without_evaluation`) have no score, and a verdict that is
    not as labelled.
    """

    value: str | None
    debates: int = 0
    completed: int = 0
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    scores: int = 0
    labelled: int = 0
    as_labelled: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    without_evaluation: int = 0

    @property
    def mean_score(self) -> float | None:
        """The mean score of the completed debates that a seat evaluated, 0-100; None without any."""
        scored = self.completed - self.without_evaluation
        return self.scores / scored if scored else None

    def share(self, verdict: Verdict) -> float | None:
        """The share of the completed debates with this verdict, 0-1; None without any."""
        return self.verdicts[verdict] / self.completed if self.completed else None

    @property
    def label_counts(self) -> str:
        """`3 × right, 1 × wrong`, by label; "" without labels."""
        return ", ".join(f"{count:,} × {label}" for label, count in sorted(self.labels.items()))

    def take(self, row: DebateRow) -> None:
        """Count a debate."""
        self.debates += 1
        if (outcome := row.outcome) is None:
            return
        self.completed += 1
        self.verdicts[Verdict(outcome.verdict)] += 1
        self.scores += outcome.score or 0
        self.without_evaluation += outcome.score is None
        if outcome.label is not None:
            self.labels[outcome.label] += 1
        if row.label is not None:
            self.labelled += 1
            self.as_labelled += outcome.score is not None and row.label == outcome.verdict


def grouped(rows: Iterable[DebateRow], by: str) -> list[Group]:
    """The groups by the field `by`: numbers by size, then texts, then the debates without a value.

    A debate with several tags is in the group of each.
    """
    groups: dict[str | None, Group] = {}
    for row in rows:
        for value in fields_of(row).get(by, (None,)):
            groups.setdefault(value, Group(value)).take(row)
    return sorted(groups.values(), key=_place)


def fields_there(rows: Iterable[DebateRow]) -> list[str]:
    """The fields by which these debates can be grouped: those with a value in any of them, without the case id."""
    found = {name for row in rows for name in fields_of(row)}
    return sorted(found - {"case_id"})


def _place(group: Group) -> tuple[int, float, str]:
    if group.value is None:
        return 2, 0.0, ""
    try:
        number = float(group.value)
    except ValueError:
        return 1, 0.0, group.value
    # "nan" is sorted as text: it has no order among numbers.
    return (1, 0.0, group.value) if number != number else (0, number, group.value)  # noqa: PLR0124  (NaN)

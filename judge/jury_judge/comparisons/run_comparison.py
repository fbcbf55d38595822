"""Two runs side by side: their debates joined by case, what flipped, what each cost. Pure; reads rows one by one."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from jury_debate.recorded_panel import PanelDifference, panel_differences
from jury_events.conditions import fields_of
from jury_events.ids import repeat_of
from jury_events.judgment import Decider
from jury_events.verdict import Verdict
from jury_events.verdict_scale import VerdictScale
from jury_judge.store_access.debates import panel_of
from jury_store.debate_rows import ENDED, DebateFilter, DebateRow
from jury_store.event_store import EventStore
from jury_store.list_order import OLDEST

UNFINISHED = "unfinished"
_NO_VERDICT = " (no verdict)"
"""Behind a status that is also a label of the scale: no label has a space."""


class DebateEnd(NamedTuple):
    """How a debate ended: its label where labels are counted, else its verdict, else `no_evaluation`, `failed`,
    `cancelled` or `unfinished`; the score of a verdict.
    """

    debate_id: str
    ended_as: str
    score: int | None

    @property
    def is_completed(self) -> bool:
        """Whether it has a verdict, or needs review as no seat evaluated."""
        return self.score is not None or self.ended_as.removesuffix(_NO_VERDICT) == Decider.NO_EVALUATION


class Flip(NamedTuple):
    """A case on which the two runs came to different ends."""

    case_id: str
    a: DebateEnd
    b: DebateEnd


@dataclass(kw_only=True)
class RunSide:
    """One run. `labels_of`: the scale whose labels are counted; None: verdicts are.

    `debates` and `ended_as` count the debates that count for their cases; calls, tokens and cost are of all stages
    of a ladder. `cost` in US dollars over the debates of which it is known; `unknown_cost` counts the others.
    """

    run_id: str
    labels_of: VerdictScale | None = None
    debates: int = 0
    ended_as: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unknown_cost: int = 0

    def take(self, row: DebateRow) -> DebateEnd | None:
        """Count a debate; gives how it ended, or None where another one counts for its case."""
        self.calls += row.calls
        self.input_tokens += row.input_tokens
        self.output_tokens += row.output_tokens
        self.cost += row.cost or 0.0
        self.unknown_cost += row.cost is None
        if row.aside is not None:
            return None
        ended = _ended(row, self.labels_of)
        self.debates += 1
        self.ended_as[ended.ended_as] += 1
        return ended


@dataclass(kw_only=True)
class RunComparison:
    """`table` counts the cases of both runs by (end in A, end in B); `flips` in the order of B.

    `judged` counts the cases to which both gave a verdict, `agreed` those with the same one, `score_difference` is the
    mean of |score in B - score in A| over `judged`, in points; None without any. `without_evaluation` counts the other
    cases that both completed: in one run or both, no seat evaluated.
    """

    a: RunSide
    b: RunSide
    table: Counter[tuple[str, str]] = field(default_factory=Counter)
    flips: list[Flip] = field(default_factory=list)
    only_in_a: list[str] = field(default_factory=list)
    only_in_b: list[str] = field(default_factory=list)
    judged: int = 0
    agreed: int = 0
    score_difference: float | None = None
    without_evaluation: int = 0

    @property
    def agreement(self) -> float | None:
        """The share of the cases judged by both that got the same verdict; None without any."""
        return self.agreed / self.judged if self.judged else None

    @property
    def ends(self) -> tuple[str, ...]:
        """The ends that cases came to in either run: labels or verdicts, the best first, then the others."""
        found = {end for pair in self.table for end in pair}
        return ordered_ends(found, self.a.labels_of)

    def outcome(self, end: str) -> Verdict | None:
        """What an end comes to; None where it is no verdict."""
        scale = self.a.labels_of
        if scale is not None and end in scale.ids:
            return scale.verdict(end)
        return Verdict(end) if end in set(Verdict) else None

    def status(self, end: str) -> str:
        """What a debate without a verdict ended as."""
        return end.removesuffix(_NO_VERDICT)


def ordered_ends(ends: Iterable[str], labels_of: VerdictScale | None) -> tuple[str, ...]:
    """Labels, then verdicts, the best first, then the others."""
    found = set(ends)
    words = dict.fromkeys((*(() if labels_of is None else labels_of.ids[::-1]), *(one.value for one in Verdict)))
    return (*(one for one in words if one in found), *sorted(found.difference(words)))


def compare_runs(
    a_id: str, a: Iterable[DebateRow], b_id: str, b: Iterable[DebateRow], labels_of: VerdictScale | None = None
) -> RunComparison:
    """Join two runs by case, and by repeat where a case has several debates.

    Holds one small tuple a case of A, and the flips.

    Args:
        a: its debates, in the order of their opening; of a ladder those of all stages.
        labels_of: the scale of both runs, whose labels are counted; None: verdicts are.
    """
    compared = RunComparison(a=RunSide(run_id=a_id, labels_of=labels_of), b=RunSide(run_id=b_id, labels_of=labels_of))
    before = {_key(row): end for row in a if (end := compared.a.take(row)) is not None}
    difference = 0
    for row in b:
        if (now := compared.b.take(row)) is None:
            continue
        then = before.pop(_key(row), None)
        if then is None:
            compared.only_in_b.append(_name(*_key(row)))
            continue
        compared.table[then.ended_as, now.ended_as] += 1
        if then.ended_as != now.ended_as:
            compared.flips.append(Flip(row.case_id, then, now))
        if then.score is not None and now.score is not None:
            compared.judged += 1
            compared.agreed += then.ended_as == now.ended_as
            difference += abs(now.score - then.score)
        elif then.is_completed and now.is_completed:
            compared.without_evaluation += 1
    compared.only_in_a.extend(_name(*key) for key in before)
    compared.score_difference = difference / compared.judged if compared.judged else None
    return compared


def _name(case_id: str, repeat: int) -> str:
    """As in the ids of debates: the case, and of a repeat its number."""
    return case_id if repeat == 1 else f"{case_id}~{repeat}"


def _key(row: DebateRow) -> tuple[str, int]:
    """Repeats are joined with each other."""
    return row.case_id, repeat_of(row.debate_id, row.run_id, row.case_id)


def _ended(row: DebateRow, labels_of: VerdictScale | None) -> DebateEnd:
    if row.decided_by == Decider.NO_EVALUATION and row.status == "completed":
        status = row.decided_by
    elif (outcome := row.outcome) is not None:
        labelled = labels_of is not None and outcome.label in labels_of.ids
        return DebateEnd(row.debate_id, outcome.word if labelled else outcome.verdict, outcome.score)
    else:
        status = row.status if row.status in ENDED else UNFINISHED
    mark = _NO_VERDICT if labels_of is not None and status in labels_of.ids else ""
    return DebateEnd(row.debate_id, status + mark, None)


def run_panel_differences(store: EventStore, a: str, b: str) -> tuple[PanelDifference, ...]:
    """The differences of the panels of two runs, by the first debate of each.

    Ladders of as many stages are compared stage by stage, with fields as in `stage 2: discussion.threshold`. Otherwise
    the last stages are, which judge what no stage before has settled; a run without a ladder has one stage.
    """
    return tuple(_differences(store, _stages(store, a), _stages(store, b)))


def _stages(store: EventStore, run_id: str) -> list[str | None]:
    """The first debate of each stage; None: no case has reached it."""
    (first,) = store.debates(run_id=run_id, limit=1)
    if first.stages is None:
        return [first.debate_id]
    firsts = (
        store.list_debates(DebateFilter(run_id, counted=None, stage=number), OLDEST, limit=1)
        for number in range(1, first.stages + 1)
    )
    return [rows[0].debate_id if rows else None for rows in firsts]


def _differences(store: EventStore, a: list[str | None], b: list[str | None]) -> Iterator[PanelDifference]:
    if len(a) != len(b):
        yield PanelDifference("stages", len(a), len(b))
        yield from _of_stage(store, "last stage", a[-1], b[-1])
    elif len(a) == 1:
        yield from _of_stage(store, "", a[0], b[0])
    else:
        for number, (before, now) in enumerate(zip(a, b, strict=True), start=1):
            yield from _of_stage(store, f"stage {number}", before, now)


def _of_stage(store: EventStore, name: str, before: str | None, now: str | None) -> Iterator[PanelDifference]:
    if before is None and now is None:
        return
    if before is None or now is None:
        yield PanelDifference(name, *("not reached" if one is None else "reached" for one in (before, now)))
        return
    for one in panel_differences(panel_of(store, before), panel_of(store, now)):
        yield one._replace(field=f"{name}: {one.field}") if name else one


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

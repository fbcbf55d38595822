"""The page of a run: progress, verdicts, scores, changed positions, cost."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from jury_events.debate_events import JurorAbstained
from jury_events.debate_history import DebateHistory
from jury_events.errors import EventError
from jury_events.ids import Step
from jury_events.verdict import Verdict
from jury_judge import DebateRow, RunRow
from jury_judge.runs.spending import uncached_of_debates
from jury_views.charts.shapes import Columns, Path, Segment, columns, growing_line, stacked_bar
from jury_views.debate_fold import answered_in_stream, position_changes

LATEST = 1000
"""Debates of a run whose events are read; the counts of verdicts are of all debates."""

_BAND = 10


class RoundFlips(NamedTuple):
    """`changes` of the jurors' own `statements` in a round changed the speaker's position.

    `synthetic` counts blocked answers that a neutral evaluation replaces, `stale` seats without an answer whose earlier
    position counts.
    """

    round: int
    statements: int
    changes: int
    synthetic: int
    stale: int


class LabelCount(NamedTuple):
    """Debates whose verdict has this label of a panel's own scale; `share` of those that have one."""

    label: str
    verdict: str
    number: int
    share: float


class RunPage(NamedTuple):
    """Labels, scores, flips and cost are of `looked_at` debates of the run.

    `cost` is in US dollars, without the `unknown_cost` debates of unknown cost; `uncached` is what the same debates
    would have cost without prompt caches (None: unknown, or no cache was used). Of the input tokens,
    `cache_read` were read from caches and `cache_written` written to them. `mean_level` is that of the labels; None
    where they are no numbers.
    """

    run: RunRow
    progress: tuple[Segment, ...]
    verdicts: tuple[Segment, ...]
    labels: tuple[LabelCount, ...]
    mean_level: float | None
    scores: Columns
    flips: tuple[RoundFlips, ...]
    flip_chart: Columns
    cost_chart: Path
    looked_at: int
    simulated: int
    imported: int
    calls: int
    input_tokens: int
    output_tokens: int
    cache_read: int
    cache_written: int
    cost: float
    uncached: float | None
    unknown_cost: int

    @property
    def read_share(self) -> str:
        """The share of the input tokens that were read from caches."""
        return f"{self.cache_read / max(1, self.input_tokens):.0%}"

    @property
    def ended(self) -> int:
        """Number of debates that have ended."""
        return self.run.ended

    @property
    def running(self) -> bool:
        """Whether some debates have not ended or not begun."""
        return self.ended < (self.run.debates + self.run.waiting if self.run.total is None else self.run.total)


def run_page(run: RunRow, latest: Sequence[DebateRow], histories: Iterable[DebateHistory]) -> RunPage:
    """The page of a run.

    Args:
        run: its counts.
        latest: up to `LATEST` of its debates, newest first.
        histories: their events.
    """
    in_order = list(reversed(latest))
    flips = _flips(histories)
    outcomes = [row.outcome for row in in_order]
    scores = Counter(min(one.score // _BAND, 9) for one in outcomes if one is not None and one.score is not None)
    costs = [row.cost for row in in_order]
    read = sum(row.cached_input_tokens for row in in_order)
    written = sum(row.cache_write_tokens for row in in_order)
    counts = {"completed": run.completed, "failed": run.failed, "cancelled": run.cancelled}
    counts |= {"open": run.debates - run.ended, "ahead": run.waiting if run.total is None else run.total - run.debates}
    return RunPage(
        run=run,
        progress=stacked_bar(counts),
        verdicts=verdict_bar(run),
        labels=label_counts(in_order),
        mean_level=_mean_level(in_order),
        scores=columns([(_band(band), float(scores[band]), 0.0) for band in range(10)]),
        flips=flips,
        flip_chart=columns([(str(one.round), float(one.statements), float(one.changes)) for one in flips]),
        cost_chart=growing_line([cost or 0.0 for cost in costs]),
        looked_at=len(in_order),
        simulated=sum(row.simulated for row in in_order),
        imported=sum(row.imported is not None for row in in_order),
        calls=sum(row.calls for row in in_order),
        input_tokens=sum(row.input_tokens for row in in_order),
        output_tokens=sum(row.output_tokens for row in in_order),
        cache_read=read,
        cache_written=written,
        cost=sum(cost for cost in costs if cost is not None),
        uncached=uncached_of_debates(in_order) if read or written else None,
        unknown_cost=costs.count(None),
    )


def verdict_bar(run: RunRow) -> tuple[Segment, ...]:
    """The verdicts of a run as a bar."""
    return stacked_bar({verdict.value: getattr(run, verdict.value) for verdict in Verdict})


def label_counts(rows: Sequence[DebateRow]) -> tuple[LabelCount, ...]:
    """The labels of verdicts: by outcome, the best first; the higher level first, else the more frequent one."""
    counted = Counter(
        (row.final_label, row.final_verdict) for row in rows if row.final_label is not None and row.final_verdict
    )
    found = [
        LabelCount(label, verdict, number, number / counted.total()) for (label, verdict), number in counted.items()
    ]
    order = [verdict.value for verdict in Verdict]
    return tuple(
        sorted(
            found,
            key=lambda one: (
                order.index(one.verdict),
                -int(one.label) if one.label.isdecimal() else 0,
                -one.number,
                one.label,
            ),
        )
    )


def _mean_level(rows: Sequence[DebateRow]) -> float | None:
    labels = [row.final_label for row in rows if row.final_label is not None]
    if not labels or not all(label.isdecimal() for label in labels):
        return None
    return sum(map(int, labels)) / len(labels)


def _band(band: int) -> str:
    return f"{band * _BAND}–{100 if band == 9 else band * _BAND + 9}"  # noqa: PLR2004  (the last band has its end)


def _flips(histories: Iterable[DebateHistory]) -> tuple[RoundFlips, ...]:
    counted: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for history in histories:
        try:
            found = list(_contributions(history))
        except EventError:
            continue  # `jury verify` reports it
        for number, what in found:
            counted[number][what] += 1
    return tuple(
        RoundFlips(number, counts["statement"], counts["change"], counts["synthetic"], counts["stale"])
        for number, counts in sorted(counted.items())
    )


def _contributions(history: DebateHistory) -> Iterator[tuple[int, str]]:
    """By round, what each seat contributed: statement, change, synthetic evaluation, or stale position."""
    evaluations = answered_in_stream(history.stored_events)
    changes = position_changes(evaluations)
    for one in evaluations:
        if one.step.round:
            yield one.step.round, "synthetic" if one.synthetic else "statement"
            if changes.get(one.step) == "own":
                yield one.step.round, "change"
    for index, stored in enumerate(history.stored_events):
        if stored.type == "juror_abstained":
            event = history.events[index]
            if isinstance(event, JurorAbstained) and event.stale:
                yield Step.parse(event.step).round or 0, "stale"

"""A run at a glance: how far it is, what was found, what changed minds, what it cost."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jury_events.codec import decode
from jury_events.debate_events import JurorAbstained
from jury_events.envelope import StoredEvent
from jury_events.errors import EventError
from jury_events.ids import Step, debate_stream
from jury_events.verdict import Verdict
from jury_judge.present.answered_by import answered_in_stream
from jury_judge.present.position_changes import position_changes
from jury_judge.web.charts import Columns, Path, Segment, columns, growing_line, stacked_bar
from jury_store.debate_rows import DebateRow, RunRow
from jury_store.event_store import EventStore

LATEST = 1000
"""Debates of a run that are looked at one by one; the counts of verdicts are of all."""

_CHUNK = 200
_BAND = 10


class RoundFlips(NamedTuple):
    """`changes` of the jurors' own `statements` in a round changed the speaker's position.

    `synthetic` counts the blocked answers that a neutral one stands in for, `stale` the seats without an answer of
    which an earlier position stands; neither changes anybody's mind.
    """

    round: int
    statements: int
    changes: int
    synthetic: int
    stale: int


class RunPage(NamedTuple):
    """`looked_at` of the run's debates are behind scores, flips and cost.

    `cost` in US dollars over the debates of which it is known, `unknown_cost` counts the others.
    """

    run: RunRow
    progress: tuple[Segment, ...]
    verdicts: tuple[Segment, ...]
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
    cost: float
    unknown_cost: int

    @property
    def ended(self) -> int:
        """Debates that are over."""
        return self.run.ended

    @property
    def running(self) -> bool:
        """Some are not, or were not begun."""
        return self.ended < (self.run.debates if self.run.total is None else self.run.total)


def run_page(store: EventStore, run: RunRow, latest: Sequence[DebateRow]) -> RunPage:
    """The page of a run.

    Args:
        store: where it is.
        run: its counts.
        latest: up to `LATEST` of its debates, newest first.
    """
    in_order = list(reversed(latest))
    flips = _flips(store, [row.debate_id for row in in_order])
    scores = Counter(min(row.final_score // _BAND, 9) for row in in_order if row.final_score is not None)
    costs = [row.cost for row in in_order]
    counts = {"completed": run.completed, "failed": run.failed, "cancelled": run.cancelled}
    counts |= {"open": run.debates - run.ended, "ahead": 0 if run.total is None else run.total - run.debates}
    return RunPage(
        run=run,
        progress=stacked_bar(counts),
        verdicts=verdict_bar(run),
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
        cost=sum(cost for cost in costs if cost is not None),
        unknown_cost=costs.count(None),
    )


def verdict_bar(run: RunRow) -> tuple[Segment, ...]:
    """How often each verdict was given."""
    return stacked_bar({verdict.value: getattr(run, verdict.value) for verdict in Verdict})


def _band(band: int) -> str:
    return f"{band * _BAND}–{100 if band == 9 else band * _BAND + 9}"  # noqa: PLR2004  (the last band has its end)


def _flips(store: EventStore, debate_ids: Sequence[str]) -> tuple[RoundFlips, ...]:
    counted: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for start in range(0, len(debate_ids), _CHUNK):
        streams = store.read_streams([debate_stream(one) for one in debate_ids[start : start + _CHUNK]])
        for stream in streams.values():
            try:
                found = list(_said(stream))
            except EventError:
                continue  # `jury verify` names it; here it would be in no round
            for number, what in found:
                counted[number][what] += 1
    return tuple(
        RoundFlips(number, said["statement"], said["change"], said["synthetic"], said["stale"])
        for number, said in sorted(counted.items())
    )


def _said(stream: Sequence[StoredEvent]) -> Iterator[tuple[int, str]]:
    """By round, what each seat brought: a statement, a change with it, a blocked answer, or an earlier position."""
    evaluations = answered_in_stream(stream)
    changes = position_changes(evaluations)
    for one in evaluations:
        if one.step.round:
            yield one.step.round, "synthetic" if one.synthetic else "statement"
            if changes.get(one.step) == "own":
                yield one.step.round, "change"
    for stored in stream:
        if stored.type == "juror_abstained":
            event = decode(stored)
            if isinstance(event, JurorAbstained) and event.stale:
                yield Step.parse(event.step).round or 0, "stale"

"""Two debates side by side: cases, panels, results, and every seat's position in every round. Pure."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from jury_debate.recorded_panel import PanelDifference, panel_differences, recorded_panel
from jury_events.debate_events import DebateCompleted, JurorAbstained, JurorEvaluated, StatementMade
from jury_events.debate_history import DebateHistory
from jury_events.envelope import StoredEvent
from jury_events.errors import AlteredPart
from jury_events.evaluation import Evaluation
from jury_events.ids import FINAL, Step
from jury_events.verdict import Verdict
from jury_store.event_store import EventStore
from jury_store.search_terms import contains_terms, query_terms, searchable_digests, searchable_events, terms_by_event
from jury_views.debate_fold import DebateFold, Status, folded
from jury_views.reasons import VerdictReason, reason_of

Kind = Literal["own", "synthetic", "stale", "abstained", "standing"]


class Position(NamedTuple):
    """The position of a seat after a round (0: phase 1).

    own: it answered in that round. synthetic: its answer was blocked, and a neutral one replaces it. stale: it gave no
    answer, and its earlier one counts. abstained: it never had one; verdict and score (points, 0-100) are None.
    standing: a decision model's, which does not speak in rounds: that of phase 1.
    `changed`: it is the seat's own, and differs from its latest own one. `label` as in `SeatPosition`.
    """

    verdict: Verdict | None
    score: float | None
    kind: Kind
    changed: bool = False
    label: str | None = None


class ComparisonRow(NamedTuple):
    """One seat in one step on both sides; None where that side has no such step, or did not come so far."""

    step: Step
    a: Position | None
    b: Position | None

    @property
    def differs(self) -> bool:
        """Whether the positions differ."""
        return self.a != self.b


class Side(NamedTuple):
    """One debate as a whole; what has not happened is None. Cost in US dollars, None where it is not known.

    `label` is that of the verdict, None under the three verdicts and where only an outcome was decided; `reason` says
    why it came.
    """

    debate_id: str
    case_id: str
    run_id: str | None
    forked_from: str | None
    panel: str
    status: Status
    verdict: Verdict | None
    score: int | None
    total_rounds: int
    end_reason: str | None
    method: str
    decided_by: str | None
    quorum_met: bool | None
    capped_by: str | None
    calls: int
    cost: float | None
    label: str | None = None
    reason: VerdictReason | None = None


class DebateComparison(NamedTuple):
    """`same_case` compares the cases' texts (None: one was erased); `panel` what the panels differ in, A before B."""

    a: Side
    b: Side
    same_case: bool | None
    panel: tuple[PanelDifference, ...]
    rows: tuple[ComparisonRow, ...]


def compare_debates(a: DebateHistory, b: DebateHistory) -> DebateComparison:
    """Put two debates side by side, whether they are over or not."""
    records = folded(a.events), folded(b.events)
    before, after = map(positions, records)
    steps = _steps(records, {**before, **after})
    cases = [reading.texts.get(reading.opened.case.part) for reading in (a, b)]
    return DebateComparison(
        a=_side(a, records[0]),
        b=_side(b, records[1]),
        same_case=None if None in cases else cases[0] == cases[1],
        panel=panel_differences(*(recorded_panel(one.opened, one.texts) for one in (a, b))),
        rows=tuple(ComparisonRow(step, before.get(step), after.get(step)) for step in steps),
    )


def _steps(records: Iterable[DebateFold], found: Mapping[Step, Position]) -> list[Step]:
    """Round by round, the seats in their order, those that only B has after A's; the final judge at the end."""
    jurors = list(dict.fromkeys(juror for record in records for juror in record.opened.panel.juror_ids))
    last = max((step.round for step in found if step.round is not None), default=-1)
    columns = [(number, again) for number in range(last + 1) for again in ((False, True) if number == 0 else (False,))]
    steps = [Step(number, juror, again) for number, again in columns for juror in jurors]
    return [step for step in (*steps, FINAL) if step in found]


def positions(record: DebateFold) -> dict[Step, Position]:
    """The position of each seat after each of its steps, as far as it is known.

    The final judge's evaluation comes last.
    """
    found: dict[Step, Position] = {}
    latest: dict[str, Position] = {}
    for step, said in record.spoken:
        match said:
            case JurorEvaluated():
                position = _position(said.evaluation, changed=record.changes.get(step) == "own")
            case StatementMade():
                position = _position(said.statement.evaluation, changed=record.changes.get(step) == "own")
            case JurorAbstained():
                before = latest.get(said.juror_id)
                position = (
                    Position(None, None, "abstained")
                    if before is None
                    else before._replace(kind="stale", changed=False)
                )
        found[step] = latest[said.juror_id] = position
    for started in (each.started for each in record.rounds):
        for juror in (said.juror_id for said in record.phase_1 if said.juror_id not in started.speaker_order):
            stands = found.get(Step(0, juror, reasoning=True), found[Step(0, juror)])
            found[Step(started.round, juror)] = (
                stands if stands.verdict is None else stands._replace(kind="standing", changed=False)
            )
    if record.judgment is not None and record.judgment.judgment.judge is not None:
        found[FINAL] = _position(record.judgment.judgment.judge)
    return found


def _position(evaluation: Evaluation, *, changed: bool = False) -> Position:
    kind: Kind = "synthetic" if evaluation.synthetic else "own"
    return Position(evaluation.verdict, evaluation.overall, kind, changed, evaluation.label)


def _side(reading: DebateHistory, record: DebateFold) -> Side:
    opened, forked = record.opened, record.forked
    completed = record.ending if isinstance(record.ending, DebateCompleted) else None
    judgment = record.judgment.judgment if record.judgment else None
    costs = [exchange.cost for exchange in reading.exchanges]
    return Side(
        debate_id=opened.debate_id,
        case_id=opened.case_id,
        run_id=opened.run_id,
        forked_from=f"{forked.origin} @ {forked.version}" if forked else None,
        panel=opened.panel.name,
        status=record.status,
        verdict=completed.final_verdict if completed else None,
        score=completed.outcome.score if completed else None,
        total_rounds=completed.total_rounds if completed else sum(each.check is not None for each in record.rounds),
        end_reason=completed.end_reason if completed else None,
        method=opened.panel.final.method,
        decided_by=judgment.decided_by.value if judgment else None,
        quorum_met=judgment.quorum_met if judgment else None,
        capped_by=judgment.capped_by if judgment else None,
        calls=len(costs),
        cost=None if None in costs else sum(cost for cost in costs if cost is not None),
        label=completed.final_label if completed else None,
        reason=reason_of(record, reading.texts),
    )


_AROUND = 60
"""Characters shown before and after the word."""


class Excerpt(NamedTuple):
    """`text` is an excerpt of event `version` of the debate, with an ellipsis where text is left out."""

    version: int
    text: str


def excerpts(store: EventStore, debate_ids: Iterable[str], search: str) -> dict[str, Excerpt]:
    """The first excerpt of each debate that matches; debates that match by id alone have none."""
    sought = query_terms(search)
    ids = list(debate_ids)
    if not sought or not ids:
        return {}
    found: dict[str, Excerpt] = {}
    for history in store.event_histories(ids):
        excerpt = _excerpt(store, history.debate_id, history.stored_events, sought)
        if excerpt is not None:
            found[history.debate_id] = excerpt
    return found


def _excerpt(store: EventStore, debate_id: str, stream: Sequence[StoredEvent], sought: Sequence[str]) -> Excerpt | None:
    try:
        parts = store.parts(debate_id, [digest for event in stream for digest in searchable_digests(event)])
    except AlteredPart:
        return None  # `jury verify` names it
    terms = terms_by_event(searchable_events(stream), {(debate_id, digest): part for digest, part in parts.items()})
    for event in stream:
        if not contains_terms(sought, terms.get(event.position, ())):
            continue
        texts = [parts[one].content.decode("utf-8", "replace") for one in searchable_digests(event) if one in parts]
        for text in texts:
            flat = " ".join(unicodedata.normalize("NFKC", text).split())
            at = flat.casefold().find(sought[0])
            if at >= 0:
                return Excerpt(event.version, _piece(flat, at))
    return None


def _piece(text: str, at: int) -> str:
    start, end = max(0, at - _AROUND), at + 2 * _AROUND
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")

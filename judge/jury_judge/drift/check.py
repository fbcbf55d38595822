"""A drift check as it is asked for: pairs are recorded, judged, and looked at once all of them have ended."""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping

from jury_analysis.drift import changed_facts
from jury_events.conditions import fields_of
from jury_events.drift_events import (
    MOST_OF_A_STREAM,
    ChangedFact,
    CheckAbandoned,
    CheckEnded,
    CheckOpened,
    DriftPair,
    StreamPair,
)
from jury_events.drift_facts import DriftFacts
from jury_events.text import pluralize, visible_line
from jury_judge.drift.recorded_baseline import RecordedBaseline, check_stream
from jury_judge.errors import RunRefused, SettingsRefused
from jury_judge.runs.plan import RunPlan, loaded_panel
from jury_judge.settings.drift import DriftCheckSettings
from jury_judge.store_access.debates import rows_of_run
from jury_replay.drift_checks import SILENT, judged
from jury_store.debate_rows import DebateRow
from jury_store.event_store import EventStore


class DriftCheckRun(RecordedBaseline):
    """Nothing is read, written or called before one of its methods is."""

    def __init__(self, asked: DriftCheckSettings, environ: Mapping[str, str] | None = None) -> None:
        super().__init__(asked, None, environ)
        self._asked = asked

    def open(self) -> DriftFacts:
        """Record the pairs of a new check, or find those of the one that goes on: it is the last of the facts.

        Raises:
            DebateNotFound: there is no such baseline.
            RunRefused: its draws are not all judged, or used up; or the stream has nothing new.
            SettingsRefused: the stream cannot be compared.
            StoreError, StoreLocked: the store cannot be written.
        """
        facts = self.read().facts
        if facts.open_check is not None:
            return facts
        name = visible_line(facts.opened.drift_id, 60)
        if not facts.complete:
            raise RunRefused(
                f"{facts.sessions} of {facts.planned} draws of the baseline {name} are judged: jury drift baseline "
                f"{name} goes on with it"
            )
        pairs = self._pairs(facts)
        if not pairs:
            raise RunRefused(
                f"the draws of the baseline {name} are used up: jury drift baseline {name} --draws "
                f"{facts.planned + facts.opened.draws} adds some, and jury drift check --replenish puts some back"
            )
        number, stream = len(facts.checks) + 1, self._asked.stream_run
        most = min(self._asked.stream_pairs or len(pairs), MOST_OF_A_STREAM)
        return self.append(
            facts.version,
            CheckOpened(
                number=number,
                run_id=f"{facts.opened.drift_id}.check-{number}",
                pairs=pairs,
                repeats=1 + self._asked.replenish,
                stream=stream,
                stream_pairs=() if stream is None else tuple(self._stream_pairs(facts, stream, most)),
            ),
        )

    def first_facts(self, facts: DriftFacts) -> tuple[ChangedFact, ...]:
        """What the stream's debates say before any call: models that never answered in the baseline."""
        with self.reading() as store:
            answered = judged(store, facts.opened, [pair.debate for pair in facts.checks[-1].opened.stream_pairs])[1]
        return tuple(changed_facts(facts.baseline, answered))

    def due(self, facts: DriftFacts) -> RunPlan | None:
        """The run that judges the pairs of the check; None: it ended."""
        if facts.open_check is None:
            return None
        check, anchors = facts.open_check.opened, facts.opened.anchors
        settings = self._asked.of_run(check.run_id, check.repeats)
        if self._asked.panel_name is not None:
            self._loaded = loaded_panel(settings.changed(panel_name=self._asked.panel_name), self._environ)
        return self.stored_plan(facts, settings, frozenset(anchors[pair.anchor].case_id for pair in check.pairs))

    def record(self, facts: DriftFacts) -> DriftFacts:
        """Compute and record what the check came to; its debates are over. Raises as in the base."""
        facts, decider = self.read()
        check, opened = facts.checks[-1], facts.checks[-1].opened
        stream = [pair.debate for pair in opened.stream_pairs]
        votes, answered = self.votes(facts, facts.judgings(opened), stream)
        with self.reading() as store:
            sides = [
                judged(store, facts.opened, side)[0] for side in ([pair.base for pair in opened.stream_pairs], stream)
            ]
        if cancelled := votes.count(None):
            return self.append(facts.version, CheckAbandoned(number=opened.number, cancelled=cancelled))
        pairs, whole = len(opened.pairs), tuple(one or "" for one in votes)
        stream_votes = tuple((old or SILENT)[0] + (new or SILENT)[0] for old, new in zip(*sides, strict=True))
        return self.append(
            facts.version,
            CheckEnded(
                number=opened.number,
                votes=whole[:pairs],
                further=whole[pairs:],
                stream_votes=stream_votes,
                answered=answered,
                decision=decider.decide(facts.baseline, check, whole[:pairs], stream_votes, answered),
            ),
        )

    def _pairs(self, facts: DriftFacts) -> tuple[DriftPair, ...]:
        """The anchors that were judged least often, each with its next draws: no outcome decides which."""
        most = self._asked.pairs or len(facts.used)
        if most > len(facts.used):
            raise SettingsRefused(f"{{pairs}}: a check judges no anchor twice, so at most all {len(facts.used)}")
        turn = sorted(range(len(facts.used)), key=lambda anchor: (facts.used[anchor], anchor))
        left = ((anchor, facts.used[anchor], len(facts.queue[anchor]) - facts.used[anchor]) for anchor in turn)
        found = [
            DriftPair(anchor=anchor, first=first, used=2 if min(facts.opened.used, draws) > 1 else 1)
            for anchor, first, draws in left
            if draws
        ]
        return tuple(sorted(found[:most], key=lambda pair: pair.anchor))

    def _stream_pairs(self, facts: DriftFacts, run_id: str, most: int) -> Iterator[StreamPair]:
        """Each new debate of the stream beside the next one of its stratum that the baseline's run has."""
        opened = facts.opened
        if opened.stream is None:
            raise SettingsRefused("{stream_run}: the baseline names no stream, and what cases came to before")
        if opened.stream == run_id:
            raise SettingsRefused("{stream_run}: this run is what others are compared with; name a later one")
        before = [pair for check in facts.checks for pair in check.opened.stream_pairs]
        used, known = {pair.base for pair in before}, {pair.debate for pair in before}
        with self.reading() as store:
            check_stream(store, run_id, opened.panel)
            bases: dict[str | None, deque[str]] = defaultdict(deque)
            for row in _over(store, opened.stream):
                if row.debate_id not in used:
                    bases[_stratum(row, opened.stratum)].append(row.debate_id)
            fresh = [row for row in _over(store, run_id) if row.debate_id not in known]
        found = 0
        for row in fresh:
            stratum = bases[_stratum(row, opened.stratum)]
            if stratum and found < most:
                found += 1
                yield StreamPair(debate=row.debate_id, base=stratum.popleft())
        if not found:
            raise SettingsRefused(
                f"{{stream_run}}: none of {pluralize(len(fresh), 'new debate')} of run {visible_line(run_id, 100)} has "
                f"one left in run {visible_line(opened.stream, 100)} to be compared with",
                usage=False,
            )


def _over(store: EventStore, run_id: str) -> Iterator[DebateRow]:
    """The debates of a run in the order of its list, all of which are over; those that were cancelled are left out."""
    row = store.run(run_id)
    if row is None or row.waiting or row.ended < row.debates:
        raise SettingsRefused(
            f"{{stream_run}}: the run {visible_line(run_id, 100)} is not over: jury resume goes on with it", usage=False
        )
    return (one for one in rows_of_run(store, run_id, counted=True) if one.status != "cancelled")


def _stratum(row: DebateRow, field: str | None) -> str | None:
    return None if field is None else next(iter(fields_of(row).get(field, ())), None)

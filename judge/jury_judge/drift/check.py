"""A drift check as it is asked for: pairs are recorded, judged, and looked at once all of them have ended."""

import os
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping

from jury_analysis.drift_decision import changed_facts
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
from jury_events.drift_facts import DriftCheck, DriftFacts
from jury_events.text import pluralize, visible_line
from jury_judge.drift.baseline import check_stream, stored_plan
from jury_judge.drift.drift_log import DriftLog
from jury_judge.errors import RunRefused, SettingsRefused
from jury_judge.panels.files import LoadedPanel
from jury_judge.runs.plan import RunPlan, loaded_panel
from jury_judge.settings.drift import DriftCheckSettings
from jury_judge.settings.store import load_settings
from jury_judge.stores.debates import rows_of_run
from jury_replay.drift_checks import answers_of, check_debates
from jury_replay.drift_votes import SILENT, histories, judged, votes_of
from jury_store.debate_rows import DebateRow
from jury_store.event_store import EventStore


class DriftCheckRun:
    """Nothing is read, written or called before one of its methods is.

    Args:
        asked: the baseline, and how its anchors are judged.
        environ: where settings are read; None is `os.environ`.
    """

    def __init__(self, asked: DriftCheckSettings, environ: Mapping[str, str] | None = None) -> None:
        self._asked = asked
        self._environ = os.environ if environ is None else environ
        self.url = load_settings(self._environ, store_url=asked.store_url).store_url
        self._log = DriftLog(self.url, asked.drift_id)

    def facts(self) -> DriftFacts:
        """The baseline as it is recorded; raises as `begin`."""
        return self._log.read().facts

    def begin(self) -> DriftFacts:
        """Record the pairs of a new check, or find those of the one that goes on: it is the last of the facts.

        Raises:
            DebateNotFound: there is no such baseline.
            RunRefused: its draws are not all judged, or used up; or the stream has nothing new.
            SettingsRefused: the stream cannot be compared.
            StoreError, StoreLocked: the store cannot be written.
        """
        facts = self._log.read().facts
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
        number = len(facts.checks) + 1
        stream = self._asked.stream_run
        return self._log.append(
            facts.version,
            CheckOpened(
                number=number,
                run_id=f"{facts.opened.drift_id}.check-{number}",
                pairs=pairs,
                repeats=1 + self._asked.replenish,
                stream=stream,
                stream_pairs=()
                if stream is None
                else tuple(self._stream_pairs(facts, stream, self._asked.stream_pairs or len(pairs))),
            ),
        )

    def first_facts(self, facts: DriftFacts) -> tuple[ChangedFact, ...]:
        """What the stream's debates say before any call: models that never answered in the baseline."""
        check = facts.checks[-1].opened
        with self._log.reading() as store:
            answered = judged(store, facts.opened, [pair.debate for pair in check.stream_pairs])[1]
        return tuple(changed_facts(facts.baseline, answered))

    def plan(self, facts: DriftFacts) -> RunPlan:
        """The run that judges the pairs of the check; the same again goes on with it.

        Raises:
            SettingsRefused: another panel is named than that of the baseline.
            RunRefused, PanelFileError: the panel file is needed.
        """
        check, opened = facts.checks[-1].opened, facts.opened
        settings = self._asked.of_run(check.run_id, check.repeats)
        wanted = frozenset(opened.anchors[pair.anchor].case_id for pair in check.pairs)
        loaded: LoadedPanel | None = None
        if self._asked.panel_name is not None:
            loaded = loaded_panel(settings.changed(panel_name=self._asked.panel_name), self._environ)
        return stored_plan(
            self._log.store(), opened.run_id, settings, loaded, environ=self._environ, opened=opened, wanted=wanted
        )

    def end(self) -> DriftCheck:
        """Compute and record what the check came to; its debates are over.

        Raises:
            EventError: a debate does not decode.
            StoreError: the store cannot be read or written.
        """
        record = self._log.read()
        facts, check = record.facts, record.facts.checks[-1]
        with self._log.reading() as store:
            votes, answered = answers_of(store, facts, check_debates(facts, check.opened.number), stream=True)
            stream_votes = tuple(_stream_votes(store, facts))
        if cancelled := votes.count(None):
            return self._log.append(
                facts.version, CheckAbandoned(number=check.opened.number, cancelled=cancelled)
            ).checks[-1]
        pairs, whole = len(check.opened.pairs), [one or "" for one in votes]
        decision = record.decider.decide(facts.baseline, check, whole[:pairs], stream_votes, answered)
        ended = CheckEnded(
            number=check.opened.number,
            votes=tuple(whole[:pairs]),
            further=tuple(whole[pairs:]),
            stream_votes=stream_votes,
            answered=answered,
            decision=decision,
        )
        return self._log.append(facts.version, ended).checks[-1]

    def _pairs(self, facts: DriftFacts) -> tuple[DriftPair, ...]:
        """The anchors that were judged least often, each with its next draws: no outcome decides which."""
        most = self._asked.pairs or len(facts.used)
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
        with self._log.reading() as store:
            check_stream(store, run_id, opened.panel, opened.prompts)
            bases: dict[str | None, deque[str]] = defaultdict(deque)
            for row in _over(store, opened.stream):
                if row.debate_id not in used:
                    bases[_stratum(row, opened.stratum)].append(row.debate_id)
            fresh = [row for row in _over(store, run_id) if row.debate_id not in known]
        found = 0
        for row in fresh:
            stratum = bases[_stratum(row, opened.stratum)]
            if stratum and found < min(most, MOST_OF_A_STREAM):
                found += 1
                yield StreamPair(debate=row.debate_id, base=stratum.popleft())
        if not found:
            raise SettingsRefused(
                f"{{stream_run}}: none of {pluralize(len(fresh), 'new debate')} of run {visible_line(run_id, 100)} has "
                f"one left in run {visible_line(opened.stream, 100)} to be compared with",
                usage=False,
            )


def _over(store: EventStore, run_id: str) -> Iterator[DebateRow]:
    """The debates of a run in the order of its list, all of which are over; those that were cancelled are left out.

    Raises:
        SettingsRefused: one is not over: those that ended first would not be a fair part.
    """
    row = store.run(run_id)
    if row is None or row.waiting or row.ended < row.debates:
        raise SettingsRefused(
            f"{{stream_run}}: the run {visible_line(run_id, 100)} is not over: jury resume goes on with it", usage=False
        )
    return (one for one in rows_of_run(store, run_id, counted=True) if one.status != "cancelled")


def _stratum(row: DebateRow, field: str | None) -> str | None:
    return None if field is None else next(iter(fields_of(row).get(field, ())), None)


def _stream_votes(store: EventStore, facts: DriftFacts) -> Iterator[str]:
    for pair in facts.checks[-1].opened.stream_pairs:
        both = histories(store, [pair.base, pair.debate])
        yield "".join((votes_of(facts.opened, one) or SILENT)[0] for one in both)

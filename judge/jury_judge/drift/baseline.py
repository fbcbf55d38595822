"""A baseline as it is asked for: labelled anchors, judged several times under one panel; and its plan."""

import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import NamedTuple

from jury_analysis.drift_plan import DriftPlan, plan
from jury_analysis.wording import Reason, Wording
from jury_events.case import Case
from jury_events.drift_events import MOST_ANCHORS, Anchor, DrawsJudged, DrawsPlanned, DriftOpened, DriftSeat
from jury_events.drift_facts import DriftFacts
from jury_events.errors import DebateNotFound
from jury_events.text import pluralize, visible_line
from jury_judge.drift.recorded_baseline import RecordedBaseline, check_panel, check_stream, digest_of
from jury_judge.errors import SettingsRefused, escaped
from jury_judge.panels.files import LoadedPanel
from jury_judge.runs.cancelling import requester
from jury_judge.runs.estimated_run import estimate_run
from jury_judge.runs.plan import Cases, RunPlan, loaded_panel
from jury_judge.settings.drift import DRAWS, DriftBaselineSettings, DriftPlanSettings

_ANCHORS = 100
_DAY = 86_400_000_000
_BY_EXAMPLE = Wording("by the bundled case", "同梱のケースによる")
_BY_CASES = Wording("by these cases", "これらのケースによる")


class DriftBaseline(RecordedBaseline):
    """Nothing is read, written or called before one of its methods is.

    Args:
        cases: the anchors: `asked.files(…)`; None: those of the store, where the baseline goes on.
        loaded: the panel; None loads that of the settings.
    """

    def __init__(
        self,
        asked: DriftBaselineSettings,
        cases: Cases | None = None,
        loaded: LoadedPanel | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(asked, loaded, environ)
        self._asked, self._cases = asked, cases

    def open(self) -> DriftFacts:
        """Record the anchors, the draws and the rules, or find them recorded; further draws are recorded too.

        Raises:
            SettingsRefused: a case has no label, or the baseline is there with other anchors, another panel or rules.
            CaseFileError: a case cannot be read.
            DebateNotFound: there is no such baseline, and no files were named.
            StoreError, StoreLocked: the store cannot be written.
        """
        try:
            facts = self.read().facts
        except DebateNotFound:
            if self._cases is None:
                raise
            return self.append(0, self._opened())
        self._check_same(facts.opened)
        draws = self._asked.draws
        if draws is not None and draws < facts.planned:
            raise SettingsRefused(f"{{draws}}: the baseline has {facts.planned}, and may have more, not fewer")
        if draws is not None and draws > facts.planned:
            return self.append(facts.version, DrawsPlanned(number=facts.plans + 1, draws=draws, by=requester()))
        return facts

    def due(self, facts: DriftFacts) -> RunPlan | None:
        """The run that judges the next draw of each anchor; None: none is due."""
        if facts.complete or self.waits_until(facts) is not None:
            return None
        settings = self._asked.of_run(facts.opened.run_id, facts.sessions + 1)
        if self._cases is None:
            return self.stored_plan(facts, settings)
        return RunPlan(self._cases, settings, loaded=self._panel(), environ=self._environ)

    def waits_until(self, facts: DriftFacts, now: int | None = None) -> str | None:
        """The day from which on the next draw is due; None: it is due now, or there is none left."""
        if not facts.opened.daily or facts.complete or not facts.sessions:
            return None
        today = (time.time_ns() // 1000 if now is None else now) // _DAY
        following = facts.judged_at // _DAY + 1
        return None if today >= following else f"{datetime.fromtimestamp(following * _DAY / 1e6, UTC):%Y-%m-%d}"

    def record(self, facts: DriftFacts) -> DriftFacts:
        """Record the votes of the session whose debates are over; raises as in the base."""
        number = facts.sessions + 1
        votes, answered = self.votes(facts, facts.draws(number))
        whole = tuple(one for one in votes if one is not None)
        judged_now = DrawsJudged(number=number, votes=whole if len(whole) == len(votes) else (), answered=answered)
        return self.append(facts.version, judged_now)

    def _panel(self) -> LoadedPanel:
        self._loaded = self._loaded or loaded_panel(self._asked.of_run(self._asked.draws_run, 1), self._environ)
        return self._loaded

    def _opened(self) -> DriftOpened:
        asked, resolved = self._asked, self._panel().resolved
        panel, judge = digest_of(resolved), resolved.panel.final.judge
        if asked.stream_run is not None:
            with self.reading() as store:
                check_stream(store, asked.stream_run, panel)
        return DriftOpened(
            drift_id=asked.drift_id,
            run_id=asked.draws_run,
            panel=panel,
            panel_name=resolved.panel.name,
            seats=tuple(DriftSeat(juror_id=one.juror_id, model=one.model) for one in resolved.panel.seats),
            judge=None if judge is None else judge.model,
            anchors=self._anchors(),
            draws=asked.draws or DRAWS,
            used=2 if asked.balanced and asked.toss == "pair" else 1,
            tossed=asked.toss,
            alpha=asked.alpha,
            daily=asked.daily,
            stream=asked.stream_run,
            stratum=asked.stratum,
            by=requester(),
            program=version("jury-judge"),
        )

    def _anchors(self) -> tuple[Anchor, ...]:
        found: dict[str, Case] = {}
        assert self._cases is not None, "a new baseline has files"
        for case in self._cases(lambda _case: False):
            if case.label is None:
                name = escaped(visible_line(case.case_id, 100))
                raise SettingsRefused(
                    f"the case {name} has no label: an anchor is a case whose verdict is known; "
                    "leave it out with {where} or {case_ids}, or add its label"
                )
            found[case.case_id] = case
            if len(found) > MOST_ANCHORS:
                raise SettingsRefused(f"more than {MOST_ANCHORS:,} anchors: draw some of them with {{sample}}")
        if not found:
            raise SettingsRefused("no case is named, and a baseline has at least one anchor")
        return tuple(Anchor(case_id=name, label=case.label) for name, case in found.items() if case.label is not None)

    def _check_same(self, opened: DriftOpened) -> None:
        """Refuse what would change a baseline that is recorded."""
        if self._cases is None:
            return
        another = f"; another baseline has another id than {visible_line(opened.drift_id, 60)}"
        if self._anchors() != opened.anchors:
            raise SettingsRefused(
                f"the baseline has {pluralize(len(opened.anchors), 'anchor')}, and these are others{another}"
            )
        check_panel(opened, self._panel().resolved)
        if self._asked.alpha != opened.alpha or self._asked.daily != opened.daily:
            raise SettingsRefused(f"the baseline was opened with other rules ({{alpha}}, {{daily}}){another}")


class PlannedDrift(NamedTuple):
    """A plan and its price: `cost` in US dollars for one judging of an anchor, None where a model has no price."""

    plan: DriftPlan
    cost: float | None
    priced_by: Reason


def plan_drift(
    asked: DriftPlanSettings, cases: Cases | None = None, environ: Mapping[str, str] | None = None
) -> PlannedDrift:
    """What a baseline would find how soon, how long its draws last, and what it costs; nothing is called.

    Args:
        asked: how many anchors, draws and judgings.
        cases: the anchors; None: the bundled case stands for each.
    """
    surroundings = os.environ if environ is None else environ
    settings = asked.run
    if cases is None:
        planned = RunPlan.of_example(settings, "plan", surroundings)
    else:
        planned = RunPlan(cases, settings, loaded=loaded_panel(settings, surroundings), environ=surroundings)
    found = estimate_run(planned).found
    anchors = asked.anchors or (_ANCHORS if cases is None else found.debates)
    if asked.pairs is not None and asked.pairs > anchors:
        raise SettingsRefused(f"{{pairs}}: a check judges no anchor twice, so at most all {anchors}")
    used = 2 if asked.balanced else 1
    made = plan(anchors, asked.draws, pairs=asked.pairs, used=used, further=asked.replenish, alpha=asked.alpha)
    cost = None if found.cost is None or not found.debates else found.cost.likely / found.debates
    return PlannedDrift(made, cost, _BY_EXAMPLE() if cases is None else _BY_CASES())

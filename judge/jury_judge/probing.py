"""A probe as it is asked for: the run of cases and their twins, and that of the twins that another panel judges."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from jury_analysis.run_probes import RunProbes
from jury_cases.omissions import UnreadableRows
from jury_debate.resolved_panel import ResolvedPanel
from jury_events.bundled_scales import scale_of
from jury_events.ids import is_run_id
from jury_judge.errors import SettingsRefused, escaped
from jury_judge.panels.files import LoadedPanel
from jury_judge.probes.twins import (
    INJECTION,
    MARKING,
    REFLECTION,
    SPEAKERS,
    absent_twins,
    asked_alone,
    check_comparable,
    other_marking,
    reversed_seats,
    twins_alone,
    with_twins,
)
from jury_judge.records.votes import VoteReports
from jury_judge.reports.probe_reports import marking_run, reflection_run, speakers_run
from jury_judge.reports.vote_reports import probe_labels
from jury_judge.runs.execution import Line
from jury_judge.runs.plan import Cases, RunPlan, loaded_panel
from jury_judge.runs.preflight import PREFLIGHT_SECONDS
from jury_judge.runs.run import CaseSource, RunInput, RunOutcome
from jury_judge.runs.session import judge_run
from jury_judge.settings.run import ProbeSettings
from jury_judge.store_access.stores import Say
from jury_providers.registry import SIMULATED

_log = logging.getLogger(__name__)


class PlannedProbe:
    """Nothing is read, written or called before one of its methods is.

    Args:
        cases: whose twins are judged beside them: `asked.files(…)`.
        loaded: the panel; None loads that of the settings.

    Attributes:
        asked: the same, with the id of the run.
        runs: of the cases and their twins; of the twins of `speakers`, and of the cases and their injections with the
            other marking, whose panels are others.
    """

    def __init__(self, cases: Cases, asked: ProbeSettings, loaded: LoadedPanel | None = None) -> None:
        self._planned = RunPlan(cases, asked.run, loaded=loaded or loaded_panel(asked.run))
        self.asked = asked.model_copy(update={"run_id": self._planned.run.run_id})
        self.runs = tuple(self._runs())

    @property
    def unreadable(self) -> UnreadableRows:
        """What was left out of the files, since it cannot be read."""
        return self._planned.cases.unreadable

    def check_report(self) -> None:
        """Refuse, before a model is called, what the report would refuse after all debates."""
        seats = self._planned.loaded.panel.seats_and_judge
        if not self.asked.include_simulated and any(seat.model.startswith(f"{SIMULATED}/") for seat in seats):
            raise SettingsRefused(
                "the panel has simulated jurors, and debates of theirs say nothing about models: give "
                "{include_simulated} to count them all the same, or another panel with {panel_name}",
                usage=False,
            )
        if self.asked.labels:
            probe_labels(self.asked, lambda _line: None)

    def check_twins(self) -> list[str]:
        """Lines about the probes without a twin among the cases; cases are read for some seconds at most."""
        absent = absent_twins(self._planned.run.cases, self.asked.probes, seconds=PREFLIGHT_SECONDS)
        lines = absent.lines()
        if absent.probes == self.asked.probes:
            raise SettingsRefused(f"{{probes}}: {escaped('; '.join(lines))}; name other probes", usage=False)
        return lines

    def planned(self, run: RunInput, before: Sequence[RunOutcome] = ()) -> RunPlan:
        """One of the runs, with what those before it left of the budget."""
        asked = self._planned.settings
        spent = [outcome.run_spent for outcome in before if outcome.run_spent is not None]
        calls = sum(one.calls + one.unrecorded.calls for one in spent)
        cost = sum(one.cost + one.unrecorded.cost for one in spent)
        return self._planned.over(run, asked.changed(**dict(asked.bounds.left(calls, cost))))

    def _runs(self) -> Iterator[RunInput]:
        run, probes = self._planned.run, self.asked.probes
        of_first: list[str] = [probe for probe in probes if probe not in {SPEAKERS, MARKING, REFLECTION}]
        if MARKING in probes:
            check_comparable(run.resolved)
            of_first = list(dict.fromkeys((*of_first, INJECTION)))
        best = scale_of(run.resolved.panel).ids[-1]
        first = replace(run, cases=with_twins(run.cases, of_first, best))
        yield first
        if SPEAKERS in probes:
            twins = twins_alone(run.cases, SPEAKERS)
            yield _with_panel(first, speakers_run(run.run_id), reversed_seats(run.resolved), twins)
        if REFLECTION in probes:
            twins = twins_alone(run.cases, REFLECTION)
            yield _with_panel(first, reflection_run(run.run_id), asked_alone(run.resolved), twins)
        if MARKING in probes:
            injected = with_twins(run.cases, [INJECTION], best)
            yield _with_panel(first, marking_run(run.run_id), other_marking(run.resolved), injected)


def _with_panel(first: RunInput, run_id: str, resolved: ResolvedPanel, cases: CaseSource) -> RunInput:
    if not is_run_id(run_id):
        raise SettingsRefused(
            f"{{run_id}}: the run {escaped(run_id)} of another panel would have too long an id; shorten it"
        )
    return replace(first, run_id=run_id, resolved=resolved, cases=cases)


async def judge_probe(
    probe: PlannedProbe,
    take: Callable[[Line], None],
    *,
    stopping: asyncio.Event | None = None,
    say: Say = _log.warning,
) -> RunProbes | None:
    """Judge cases and their twins, and compare, as `jury probe` does; the same again resumes it.

    Args:
        stopping: once set, no new debate begins; those that run are finished.

    Returns:
        The report; None: a run did not come to its end.
    """
    await asyncio.to_thread(probe.check_report)
    for line in await asyncio.to_thread(probe.check_twins):
        say(line)
    outcomes: list[RunOutcome] = []
    for run in probe.runs:
        outcome = await judge_run(probe.planned(run, outcomes), take, stopping=stopping, say=say)
        if not outcome.whole:
            return None
        outcomes.append(outcome)
    return await VoteReports(say).probes(probe.asked)

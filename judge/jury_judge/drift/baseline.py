"""A baseline as it is asked for: labelled anchors, judged several times under one panel."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib.metadata import version

from jury_debate.calibrated import panel_digest, prompts_digest
from jury_debate.panel_spec import ResolvedPanel
from jury_events.case import Case
from jury_events.drift_events import MOST_ANCHORS, Anchor, DrawsJudged, DrawsPlanned, DriftOpened, DriftSeat
from jury_events.drift_facts import DriftFacts
from jury_events.ids import run_stream
from jury_events.run_facts import run_facts
from jury_events.text import pluralize, visible_line
from jury_judge.drift.drift_log import DriftLog
from jury_judge.errors import SettingsRefused, escaped
from jury_judge.panels.files import LoadedPanel
from jury_judge.runs.cancelling import requester
from jury_judge.runs.plan import Cases, ListedCases, RunPlan, loaded_panel
from jury_judge.runs.resumed_run import own_panel
from jury_judge.settings.drift import DRAWS, DriftBaselineSettings
from jury_judge.settings.run import RunSettings
from jury_judge.settings.store import load_settings
from jury_replay.drift_checks import answers_of
from jury_store.debate_rows import DebateRow
from jury_store.event_store import EventStore

_DAY = 86_400_000_000


class DriftBaseline:
    """Nothing is read, written or called before one of its methods is.

    Args:
        asked: the baseline, and how its anchors are judged.
        cases: the anchors: `asked.files(…)`; None: those of the store, where the baseline goes on.
        loaded: the panel; None loads that of the settings.
        environ: where settings are read; None is `os.environ`.
    """

    def __init__(
        self,
        asked: DriftBaselineSettings,
        cases: Cases | None = None,
        loaded: LoadedPanel | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._asked, self._cases, self._loaded = asked, cases, loaded
        self._environ = os.environ if environ is None else environ
        self.url = load_settings(self._environ, store_url=asked.store_url).store_url
        self._log = DriftLog(self.url, asked.drift_id)

    @property
    def run_id(self) -> str:
        """The run of its draws."""
        return f"{self._asked.drift_id}.draws"

    def open(self) -> DriftFacts:
        """Record the anchors, the draws and the rules, or find them recorded; further draws are recorded too.

        Raises:
            SettingsRefused: a case has no label, or the baseline is there with other anchors, another panel or rules.
            CaseFileError: a case cannot be read.
            DebateNotFound: there is no such baseline, and no files were named.
            StoreError, StoreLocked: the store cannot be written.
        """
        facts = self._log.find()
        if facts is None:
            if self._cases is None:
                self._log.read()  # names the baseline that is not there
            return self._log.append(0, self._opened())
        self._check_same(facts.opened)
        draws = self._asked.draws
        if draws is not None and draws < facts.planned:
            raise SettingsRefused(f"{{draws}}: the baseline has {facts.planned}, and may have more, not fewer")
        if draws is not None and draws > facts.planned:
            return self._log.append(facts.version, DrawsPlanned(number=facts.plans + 1, draws=draws, by=requester()))
        return facts

    def session(self, facts: DriftFacts) -> RunPlan | None:
        """The run that judges the next draw of each anchor; None: none is due.

        Raises:
            RunRefused, PanelFileError: the run cannot go on without its panel file.
            SettingsRefused: its files are needed, since not all anchors are listed.
        """
        if facts.complete or self.waits_until(facts) is not None:
            return None
        settings = self._asked.of_run(facts.opened.run_id, facts.sessions + 1)
        if self._cases is not None:
            return RunPlan(self._cases, settings, loaded=self._panel(), environ=self._environ)
        return stored_plan(
            self._log.store(), facts.opened.run_id, settings, self._loaded, environ=self._environ, opened=facts.opened
        )

    def waits_until(self, facts: DriftFacts, now: int | None = None) -> str | None:
        """The day from which on the next draw is due; None: it is due now, or there is none left."""
        if not facts.opened.daily or facts.complete or not facts.sessions:
            return None
        today = (time.time_ns() // 1000 if now is None else now) // _DAY
        following = facts.judged_at // _DAY + 1
        return None if today >= following else f"{datetime.fromtimestamp(following * _DAY / 1e6, UTC):%Y-%m-%d}"

    def record(self, facts: DriftFacts) -> DriftFacts:
        """Record the votes of the session whose debates are over.

        Raises:
            EventError: a debate does not decode.
            StoreError: the store cannot be read or written.
        """
        number = facts.sessions + 1
        names = [facts.of_draw(anchor, number) for anchor in range(len(facts.opened.anchors))]
        with self._log.reading() as store:
            votes, answered = answers_of(store, facts, names, stream=False)
        whole = tuple(one for one in votes if one is not None)
        return self._log.append(
            facts.version,
            DrawsJudged(number=number, votes=whole if len(whole) == len(votes) else (), answered=answered),
        )

    def _panel(self) -> LoadedPanel:
        self._loaded = self._loaded or loaded_panel(self._asked.of_run(self.run_id, 1), self._environ)
        return self._loaded

    def _opened(self) -> DriftOpened:
        asked, resolved = self._asked, self._panel().resolved
        seats = tuple(DriftSeat(juror_id=one.juror_id, model=one.model) for one in resolved.panel.seats)
        judge = resolved.panel.final.judge
        if asked.stream_run is not None:
            with self._log.reading() as store:
                check_stream(store, asked.stream_run, *digests(resolved))
        return DriftOpened(
            drift_id=asked.drift_id,
            run_id=self.run_id,
            panel=digests(resolved)[0],
            prompts=digests(resolved)[1],
            panel_name=resolved.panel.name,
            seats=seats,
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
        another = f"; another baseline has another id than {visible_line(opened.drift_id, 60)}"
        if self._cases is not None:
            if self._anchors() != opened.anchors:
                raise SettingsRefused(
                    f"the baseline has {pluralize(len(opened.anchors), 'anchor')}, and these are others{another}"
                )
            check_panel(opened, self._panel().resolved)
            if self._asked.alpha != opened.alpha or self._asked.daily != opened.daily:
                raise SettingsRefused(f"the baseline was opened with other rules ({{alpha}}, {{daily}}){another}")


def digests(resolved: ResolvedPanel) -> tuple[str, str]:
    """The digests of a panel's identity and of its prompts."""
    prompts = prompts_digest(resolved.role_prompts, resolved.judge_prompt, resolved.prompts)
    return panel_digest(resolved.panel), prompts


def check_panel(opened: DriftOpened, resolved: ResolvedPanel) -> None:
    """Refuse another panel than that of the baseline.

    Raises:
        SettingsRefused: it is another.
    """
    if digests(resolved) != (opened.panel, opened.prompts):
        raise SettingsRefused(
            f"{{panel_name}}: seats, models, rules or prompts differ from those of the baseline "
            f"{visible_line(opened.drift_id, 60)}: drift is of one panel; make a baseline of the new one"
        )


def check_stream(store: EventStore, run_id: str, panel: str, prompts: str) -> None:
    """Refuse a run that another panel judged.

    Raises:
        SettingsRefused: it did, or there is no such run.
    """
    facts = run_facts(store.read_stream(run_stream(run_id)))
    if facts is None:
        raise SettingsRefused(f"{{stream_run}}: there is no run {visible_line(run_id, 100)!r} in this store")
    if (panel_digest(facts.opened.panel), facts.opened.custom) != (panel, prompts):
        raise SettingsRefused(f"{{stream_run}}: another panel judged the run {visible_line(run_id, 100)}")


def stored_plan(
    store: EventStore,
    source: str,
    settings: RunSettings,
    loaded: LoadedPanel | None,
    *,
    environ: Mapping[str, str],
    opened: DriftOpened,
    wanted: frozenset[str] | None = None,
) -> RunPlan:
    """A run over anchors as the store has them.

    Args:
        store: open for reading; `planned.cases` closes it.
        source: the run whose cases they are.
        settings: of the run that judges them.
        loaded: the panel; None: as the source was opened with it.
        environ: where settings are read.
        opened: the baseline, whose panel it must be.
        wanted: the ids of those that are judged; None: all.

    Raises:
        SettingsRefused: it is another panel, or the list of the source is not complete.
        RunRefused: the log does not have all of how the models are reached.
    """
    with ExitStack() as opened_here:
        opened_here.callback(store.close)
        cases = _Some(store, source, wanted, own=source == settings.run_id)
        if cases.facts is None or not cases.facts.complete:
            raise SettingsRefused("the first session did not list all anchors: name their files again")
        loaded = loaded or own_panel(cases.facts, cases.first)
        check_panel(opened, loaded.resolved)
        planned = RunPlan(cases, settings, loaded=loaded, environ=environ)
        opened_here.pop_all()
    return planned


class _Some(ListedCases):
    """Some of the cases of a run."""

    def __init__(self, store: EventStore, source: str, wanted: frozenset[str] | None, *, own: bool) -> None:
        self._wanted = wanted
        super().__init__(store, source, own=own)

    def _rows(self) -> Iterator[DebateRow]:
        return (row for row in super()._rows() if self._wanted is None or row.case_id in self._wanted)

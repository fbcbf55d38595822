"""The preflight of a run: its first cases are read and compared with its debates in the store.

The text and the label of a case are recorded when its debate opens, so that what was counted once can be counted again.
"""

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from jury_cases.case_outlines import BUILT, batches
from jury_cases.omissions import OmissionReport
from jury_debate.recorded_panel import described
from jury_debate.resolved_panel import ResolvedPanel
from jury_events.case import Case, of_label
from jury_events.ids import first_stage_of, replaced_id
from jury_events.ladder import StagePlace
from jury_events.panel import Panel
from jury_events.parts import part_digest
from jury_events.text import pluralize, visible_line
from jury_judge.errors import OtherCase, RunRefused
from jury_judge.runs.case_fit import CaseFit, OwnFamilies
from jury_judge.runs.cases_once import CasesOnce, RecordedDebates, no_case
from jury_judge.runs.run import DebateOrder, RunInput
from jury_judge.store_access.debates import compared_panel, opening_of
from jury_judge.store_access.open_batches import (
    check_adopted,
    check_batches,
    check_no_open_batch,
    check_run,
    not_set_aside,
    open_batches,
)
from jury_providers.endpoints import Endpoints
from jury_providers.registry import NO_ENDPOINTS
from jury_store.debate_rows import CaseRow, DebateFilter, RunRow
from jury_store.event_store import EventStore
from jury_store.list_order import OLDEST
from jury_store.seals.keys import PublicKey

PREFLIGHT_SECONDS = 3.0
"""How long the cases of a new run are read before the first of them is judged."""

RESUMED_SECONDS = 0.25
"""The same for a run that the store has: its first results, or new calls, should not wait. Of cases whose debates are
over only those that are read then are compared with the record.
"""


@dataclass
class ChangedCases:
    """Collects cases whose text or label is not that of one of their debates."""

    _texts: dict[str, None] = field(default_factory=dict)
    labels: dict[str, Case] = field(default_factory=dict)
    """By debate, the cases whose label is not the recorded one."""
    unlabelled: dict[str, Case] = field(default_factory=dict)
    """By debate, the cases without a label of which one is recorded."""
    _said: tuple[int, int] = (0, 0)

    @property
    def first(self) -> str | None:
        """The id of the first case whose text is not the recorded one; None: there is none."""
        return next(iter(self._texts), None)

    def add_text(self, case: Case) -> None:
        """The text of a case is not the recorded one."""
        self._texts[case.case_id] = None

    def compare_label(self, case: Case, debate: str, row: CaseRow) -> None:
        """Compare the label of a case with the one that a debate recorded."""
        if case.label is None:
            if row.label is not None:
                self.unlabelled[debate] = case
        elif (case.label.value, of_label(case.metadata)) != (row.label, row.of_label):
            self.labels[debate] = case

    def lines(self) -> Iterator[str]:
        """Warnings about those collected since this was called last."""
        labels = dict.fromkeys(case.case_id for case in self.labels.values())
        before, self._said = self._said, (len(self._texts), len(labels))
        if len(self._texts) > before[0]:
            yield (
                f"warning: {_counted(self._texts)}, read otherwise now than when they were listed (or the panel file "
                "redacts them otherwise), and are judged as listed: to judge them as they are now, give another --run "
                "id"
            )
        if len(labels) > before[1]:
            yield (
                f"warning: labels of {_counted(labels)}, are not the recorded ones, and are not taken: the same "
                "command with --relabel records them"
            )


def _counted(cases: dict[str, None]) -> str:
    return f"{pluralize(len(cases), 'case')}, first of {visible_line(next(iter(cases)), 120)!r}"


def is_same_case(case: Case, debate: str, row: CaseRow, salt: bytes, store: EventStore) -> bool:
    """Whether a case is the recorded one; records behind a URI, which were read when the debate opened, aside."""
    if part_digest(salt, case.to_part()) == row.case_part:
        return True
    recorded = Case.from_part(store.parts(debate, [row.case_part])[row.case_part].content)
    fetched = {
        f"{kind}_records": ()
        for kind, uri in (("security_gate", recorded.security_gate_uri), ("agent_card", recorded.agent_card_uri))
        if uri is not None
    }
    return bool(fetched) and case.to_part() == recorded.changed(**fetched).to_part()


class StoredRun(NamedTuple):
    """What the store has of a run when a call begins.

    Attributes:
        row: None: no debate of it.
        opened: how many debates it has of the run, by a ladder of its first stage.
        position: of the newest event: debates that open after it belong to this call.
        beyond: how many of them are repeats beyond those of this call.
        prompts: the version of the prompts with which the run was begun; None where it was not.
        followed: batches of the run are open, whose answers are to be recorded.
    """

    row: RunRow | None = None
    opened: int = 0
    position: int = 0
    beyond: int = 0
    prompts: int | None = None
    followed: bool = False


@dataclass(frozen=True, kw_only=True)
class PreflightReport:
    """A run compared with the store.

    Attributes:
        read: how many debates the cases have that were read and compared, from the first on.
        total: how many debates the run is to have; None if not all cases were read in time.
        omissions: the parts of the cases that no juror is shown.
        fit: which cases are longer than the windows of which models.
        families: which seats are of the family of the agents that they judge.
        stored: what the store has of the run.
        ended: how many of the debates are over; if `total` is None, how many of the recorded ones.
        elsewhere: how many debates of the run are over other cases, or are further repeats.
        cases: the input: what was read is kept for its next reader.
        order: of the debates of this call, filled while they are executed.
        changed: cases that read otherwise now than they are recorded, as far as they were compared.
    """

    read: int = 0
    total: int | None = None
    omissions: OmissionReport
    fit: CaseFit
    families: OwnFamilies
    stored: StoredRun
    ended: int = 0
    elsewhere: int = 0
    cases: CasesOnce
    order: DebateOrder = field(default_factory=DebateOrder)
    changed: ChangedCases = field(default_factory=ChangedCases)

    @property
    def size(self) -> int | None:
        """How many debates the run is to have, with those of earlier calls; None as for `total`."""
        return None if self.total is None else self.total + self.elsewhere

    def resolved(self, resolved: ResolvedPanel) -> ResolvedPanel:
        """A panel of the run, under the prompts with which it was begun."""
        prompts = self.stored.prompts
        return resolved if prompts is None else resolved._replace(prompts=prompts)

    @property
    def left(self) -> bool:
        """Whether a debate may be left to run, or an answer to record."""
        return self.stored.followed or self.total is None or self.ended < self.total

    @property
    def expected(self) -> int | None:
        """How many debates are left: counted, or by what an earlier call counted; None where neither is known."""
        if self.total is not None:
            return self.total - self.ended
        before = self.stored.row
        return None if before is None or before.total is None else max(0, before.total - before.ended)


def preflight(
    run: RunInput,
    store: EventStore | None,
    *,
    seconds: float | None = PREFLIGHT_SECONDS,
    endpoints: Endpoints = NO_ENDPOINTS,
    before: PreflightReport | None = None,
    judged: bool = True,
) -> PreflightReport:
    """Read the first cases and compare the run with its debates in the store.

    Args:
        store: open for reading; None: there is none yet.
        seconds: how long reading may take (at most `RESUMED_SECONDS` if the store has the run); the other cases are
            read and compared during the run. None: all are read.
        endpoints: where providers are reached, for the windows of their models.
        before: of an earlier preflight of the same input; what it read is not read again.
        judged: whether the run is to be judged: else no records are fetched, and no case is kept for another reader.
    """
    stored = StoredRun() if store is None else _stored(run, store)
    there = None if stored.row is None else store
    if seconds is not None:
        until = time.monotonic() + (seconds if there is None else min(seconds, RESUMED_SECONDS))
    index = RecordedDebates(run, there)
    report = PreflightReport(
        omissions=OmissionReport(run.resolved.panel),
        fit=CaseFit(run.resolved, endpoints, run.operator_policy),
        families=OwnFamilies(run.resolved.panel),
        stored=stored,
        cases=CasesOnce(run, there, judged=judged) if before is None else before.cases,
    )
    read = known = ended = 0
    found = report.cases.read(no_case)
    for batch in batches(found, most=1 if there is None else BUILT):
        if there is not None:
            index.load([one.case_id for one in batch])
        for one in batch:
            case = one.case
            report.omissions.add(case)
            report.fit.add(case)
            report.families.add(case)
            for debate in run.debate_ids(case):
                read += 1
                row = None if (recorded := index.found.get(debate)) is None else recorded.row
                if there is not None and recorded is not None and row is not None:
                    known += 1
                    ended += recorded.over
                    check_case(run, case, run.counts(debate), row, there, changed=report.changed)
            if seconds is not None and time.monotonic() > until:
                before_this = 0 if stored.row is None else stored.row.ended - len(run.replacing)
                return replace(report, read=read, ended=before_this)
    return replace(report, read=read, total=read, ended=ended, elsewhere=max(0, stored.opened - known))


def _stored(run: RunInput, store: EventStore) -> StoredRun:
    """What the store has of a run; refuses one that this call may not go on with."""
    found = StoredRun(position=store.last_position(), row=store.run(run.run_id))
    if store.batch_ids(run.run_id):
        check_batches(store, run.run_id, run.adopt)
        if not run.batched:
            check_no_open_batch(store, run.run_id)
        found = found._replace(followed=run.batched and bool(open_batches(store, run.run_id)))
    row = found.row
    if row is None:
        return found
    check_run(store, run.run_id, run.adopt)
    if run.ladder is None:
        opened = row.debates + row.waiting - len(run.replacing)
    else:  # escalated ones too
        opened = store.totals(DebateFilter(run.run_id, stage=1, waiting=None)).opened - _replaced(run)
    beyond = store.further_repeats(run.run_id, run.repeats)
    return found._replace(opened=opened, beyond=beyond, prompts=_recorded_prompts(run, store))


def _replaced(run: RunInput) -> int:
    """How many debates of the first stage others stand in for."""
    replaced = 0
    for first, successor in run.successors.items():
        before = replaced_id(successor) if first == first_stage_of(first) else None
        while before is not None:
            replaced += 1
            before = replaced_id(before)
    return replaced


def sees_images(panel: Panel) -> bool:
    """Whether a juror or the final judge is sent pictures."""
    return any(place.images for place in panel.seats_and_judge)


def is_over(
    debate_id: str,
    case: Case,
    resolved: ResolvedPanel,
    store: EventStore,
    adopt: Collection[PublicKey] = (),
    *,
    stage: StagePlace | None = None,
    run_id: str | None = None,
) -> bool | None:
    """Whether one debate, at a stage of a ladder or of none, has ended; None if the store does not have it.

    `run_id`: of the run that a new debate is to belong to.
    """
    found = store.debate(debate_id)
    if found is not None:
        not_set_aside(debate_id, found)
        run_id = found.run_id
    if run_id is not None and (found is None or found.ended_at is None):
        check_batches(store, run_id, adopt)
        check_no_open_batch(store, run_id)
    if found is None:
        return None
    row = CaseRow(found.case_id, found.status, found.case_part, None, found.imported)
    check_adopted(store, f"debate {debate_id}", debate_id, row, adopt)
    if found.stage is not None or stage is not None:
        recorded = opening_of(store, debate_id).stage
        if (said := _other_ladder(recorded, None if stage is None else stage.ladder)) is not None:
            raise RunRefused(
                f"debate {debate_id} was opened {said}: use the panel or ladder that it was opened with, or another "
                "run or id"
            )
    if different := compared_panel(store, debate_id, resolved).differences:
        raise RunRefused(
            f"debate {debate_id} was opened with another panel: {described(different)}; "
            "use the panel that it was opened with, or another run or id"
        )
    part = store.parts(debate_id, [found.case_part]).get(found.case_part)
    row = row._replace(salt=None if part is None else part.salt)
    if row.salt is not None and not is_same_case(case, debate_id, row, row.salt, store):
        raise OtherCase(
            f"debate {debate_id} judged another case under that id: its content has changed since (or what the panel "
            "file redacts of it); use another run or id, or give the case its old content"
        )
    return row.has_ended


def check_case(
    run: RunInput, case: Case, debate: str, row: CaseRow, store: EventStore, *, changed: ChangedCases
) -> None:
    """Compare a recorded debate of a run with its case; what differs is judged as it was listed, and collected."""
    not_set_aside(debate, row)
    check_adopted(store, f"run {run.run_id!r}", debate, row, run.adopt)
    if row.case_id != case.case_id:
        raise OtherCase(
            f"debate {debate} of run {run.run_id!r} is over another case, {row.case_id!r}; give the run another --run "
            "id"
        )
    if row.salt is None:
        return
    if is_same_case(case, debate, row, row.salt, store):
        changed.compare_label(case, debate, row)
        return
    if row.imported is not None:
        raise OtherCase(
            f"run {run.run_id!r}: debate {debate} came in a cassette and judged other content under the id "
            f"{case.case_id!r}; give the run another --run id, or the case its old content"
        )
    changed.add_text(case)


def _other_ladder(recorded: StagePlace | None, now: str | None) -> str | None:
    """The ladders of a recorded debate and of this call, in words; None: it is the same, or there is none."""
    before = None if recorded is None else recorded.ladder
    if before == now:
        return None
    said = ["without a ladder" if one is None else f"with the ladder {one[:16]}" for one in (before, now)]
    return f"{said[0]}, and this is one {said[1]}"


def _recorded_prompts(run: RunInput, store: EventStore) -> int | None:
    """The version of the prompts with which the run was begun; refuses one of another ladder or panel."""
    found = store.debates(run_id=run.run_id, waiting=None, limit=1)
    for first in found:
        place = None if first.stage is None and run.ladder is None else opening_of(store, first.debate_id).stage
        if (said := _other_ladder(place, None if run.ladder is None else run.ladder.digest)) is not None:
            raise RunRefused(
                f"run {run.run_id!r} was begun {said}: use the panel or ladder that it was begun with, or give the "
                "run another --run id"
            )
    if run.ladder is not None:
        found = store.list_debates(DebateFilter(run.run_id, stage=1, waiting=None), OLDEST, limit=1)
    if not found:
        return None
    recorded = compared_panel(store, found[0].debate_id, run.resolved)
    if recorded.differences:
        raise RunRefused(
            f"run {run.run_id!r} was begun with another panel: {described(recorded.differences)}; "
            "use the panel that it was begun with, or give the run another --run id"
        )
    return recorded.panel.prompts

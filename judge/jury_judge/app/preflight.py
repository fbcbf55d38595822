"""The preflight of a run: its cases are read and compared with its debates in the store."""

import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from jury_debate.panel_spec import ResolvedPanel
from jury_debate.recorded_panel import described
from jury_events.case import Case
from jury_events.panel import Panel
from jury_events.parts import part_digest
from jury_judge.app.adoption import adopted, not_set_aside
from jury_judge.app.debates import panel_changes
from jury_judge.app.run import Run
from jury_judge.app.stores import open_or_create
from jury_judge.cases.omissions import OmissionReport
from jury_judge.errors import RunRefused
from jury_providers.endpoints import Endpoints
from jury_providers.registry import check_models
from jury_store.debate_rows import CaseRow
from jury_store.errors import StoreMissing
from jury_store.event_store import EventStore
from jury_store.memory import MemoryEventStore
from jury_store.opening import open_store
from jury_store.seals.keys import PublicKey

PREFLIGHT_SECONDS = 3.0
"""How long cases are read before the first of them is judged."""

_ENDED = ("completed", "failed", "cancelled")


@dataclass(frozen=True, kw_only=True)
class PreflightReport:
    """A run compared with the store.

    Attributes:
        read: how many cases were read and compared, from the first on.
        total: how many cases there are; None if not all were read in time.
        stored: their debates in the store, by id; all debates of the run if `total` is None.
        omissions: the parts of the cases that no juror is shown.
        adopted: imported debates that count as judged.
        elsewhere: how many debates of the run are over other cases.
    """

    read: int
    total: int | None
    stored: dict[str, CaseRow]
    omissions: OmissionReport
    adopted: frozenset[str] = frozenset()
    elsewhere: int = 0

    @property
    def ended(self) -> int:
        """How many of the debates are over."""
        return sum(row.status in _ENDED for row in self.stored.values())

    @property
    def cases(self) -> int | None:
        """How many cases the run has, with those of earlier calls; None as for `total`."""
        return None if self.total is None else self.total + self.elsewhere

    @property
    def left(self) -> bool:
        """Whether a debate may be left to run."""
        return self.total is None or self.ended < self.total

    def is_over(self, debate: str) -> bool:
        """Whether a debate has ended."""
        row = self.stored.get(debate)
        return row is not None and row.status in _ENDED


def preflight(run: Run, store: EventStore, *, seconds: float | None = PREFLIGHT_SECONDS) -> PreflightReport:
    """Read the cases once and compare the run with its debates in the store.

    Args:
        run: the input.
        store: open for reading.
        seconds: how long reading may take; the other cases are read and compared during the run. None: all are read.

    Raises:
        RunRefused: the run was begun with another panel, or a case's content changed; the message says what differs.
            Or a debate of the run was imported and is not adopted, or cannot be read; the message names it.
        CaseFileError: a case cannot be read.
    """
    recorded = store.cases_of_run(run.run_id)
    taken_over = adopted(store, f"run {run.run_id!r}", recorded, run.adopt)
    if (first := next((one for one, row in recorded.items() if row.quarantined is None), None)) is not None:
        _compare_panels(run, store, first)
    omissions = omission_report(run.resolved.panel)
    ours: dict[str, CaseRow] = {}
    end = None if seconds is None else time.monotonic() + seconds
    for case in run.cases(lambda _case: False):
        omissions.add(case)
        debate = run.debate_id(case)
        row = recorded.get(debate)
        if row is not None:
            ours[debate] = row
            check_case(run, case, row, store)
        if end is not None and time.monotonic() > end:
            return PreflightReport(
                read=omissions.cases, total=None, stored=recorded, omissions=omissions, adopted=taken_over
            )
    elsewhere = sum(row.quarantined is None for row in recorded.values()) - len(ours)
    return PreflightReport(
        read=omissions.cases,
        total=omissions.cases,
        stored=ours,
        omissions=omissions,
        adopted=taken_over,
        elsewhere=elsewhere,
    )


@contextmanager
def preflighted(
    run: Run,
    store_url: str,
    endpoints: Endpoints,
    environ: Mapping[str, str] | None,
    *,
    seconds: float | None = PREFLIGHT_SECONDS,
) -> Iterator[tuple[EventStore, PreflightReport]]:
    """The store, open for reading, and the report of the preflight.

    A missing store is created after every case could be read: a mistake in them leaves no empty store behind.

    Args:
        run: the input.
        store_url: of the store.
        endpoints: where providers are reached.
        environ: checked for the providers' keys where a debate is left to run; None: the keys are elsewhere.
        seconds: as for `preflight`.

    Raises:
        UnknownProvider, KeyMissing: a model cannot be called.
        RunRefused, CaseFileError: as `preflight`.
    """
    panel = run.resolved.panel
    check_models(panel, endpoints)
    try:
        store: EventStore = open_store(store_url, write=False)
    except StoreMissing:
        checked = preflight(run, MemoryEventStore(), seconds=seconds)
        check_models(panel, endpoints, environ)
        store = open_or_create(store_url)
        try:
            yield store, checked
        finally:
            store.close()
        return
    try:
        checked = preflight(run, store, seconds=seconds)
        check_models(panel, endpoints, environ if checked.left else None)
        yield store, checked
    finally:
        store.close()


def sees_images(panel: Panel) -> bool:
    """Whether a juror or the final judge is sent pictures."""
    return any(place.images for place in panel.seats_and_judge)


def omission_report(panel: Panel) -> OmissionReport:
    """An empty report of what the jurors of a panel are not shown."""
    blind = [seat.juror_id for seat in panel.seats if not seat.images]
    judge = panel.final.judge
    return OmissionReport(
        images_seen=sees_images(panel), blind=[*blind, *(["the final judge"] if judge and not judge.images else [])]
    )


def is_over(
    debate_id: str, case: Case, resolved: ResolvedPanel, store: EventStore, adopt: Collection[PublicKey] = ()
) -> bool | None:
    """Whether one debate has ended; None if the store does not have it.

    Raises:
        RunRefused: it was opened with another panel, or over another case; or it was imported and is not adopted
            (`adopt`: by these keys), is in quarantine, or cannot be read.
    """
    found = store.debate(debate_id)
    if found is None:
        return None
    not_set_aside(debate_id, found)
    row = CaseRow(found.case_id, found.status, found.case_part, None, found.imported)
    adopted(store, f"debate {debate_id}", {debate_id: row}, adopt)
    if different := panel_changes(store, debate_id, resolved):
        raise RunRefused(
            f"debate {debate_id} was opened with another panel: {described(different)}; "
            "use the panel that it was opened with, or another run or id"
        )
    part = store.parts(debate_id, [found.case_part]).get(found.case_part)
    row = row._replace(salt=None if part is None else part.salt)
    if row.salt is not None and not _same_case(case, debate_id, row, row.salt, store):
        raise RunRefused(
            f"debate {debate_id} judged another case under that id: its content has changed since (or what the panel "
            "file redacts of it); use another run or id, or give the case its old content"
        )
    return row.status in _ENDED


def _same_case(case: Case, debate: str, row: CaseRow, salt: bytes, store: EventStore) -> bool:
    """Whether a case is the recorded one; records behind a URI were read when the debate opened and are left out.

    A case that an earlier version wrote is compared by its fields, as its bytes differ.
    """
    if part_digest(salt, case.to_part()) == row.case_part:
        return True
    recorded = Case.from_part(store.parts(debate, [row.case_part])[row.case_part].content)
    fetched = {
        f"{kind}_records": ()
        for kind, uri in (("security_gate", recorded.security_gate_uri), ("agent_card", recorded.agent_card_uri))
        if uri is not None
    }
    return case.to_part() == recorded.changed(**fetched).to_part()


def check_case(run: Run, case: Case, row: CaseRow, store: EventStore) -> None:
    not_set_aside(run.debate_id(case), row)
    if row.salt is not None and not _same_case(case, run.debate_id(case), row, row.salt, store):
        raise RunRefused(
            f"run {run.run_id!r} judged another case under the id {case.case_id!r}: its content has changed since "
            "(or what the panel file redacts of it); give the run another --run id, or the case its old content"
        )


def _compare_panels(run: Run, store: EventStore, debate: str) -> None:
    different = panel_changes(store, debate, run.resolved)
    if different:
        raise RunRefused(
            f"run {run.run_id!r} was begun with another panel: {described(different)}; "
            "use the panel that it was begun with, or give the run another --run id"
        )

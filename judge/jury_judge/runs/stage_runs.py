"""The stages of a run by a ladder: which debates a stage has, decided from the log alone.

Stage 1 has a debate a case. Each further stage has one for every case whose debate of the stage before ended without an
accepted verdict, which is every case without a certificate; the last stage has also the audits: debates of an audited
share of the cases that stopped early.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Literal

from jury_events.ids import first_stage_of, stage_id
from jury_events.stages import StagePlace, audited
from jury_judge.panels.files import Ladder, LoadedPanel
from jury_judge.runs.run import Run, RunStage
from jury_store.debate_rows import DebateFilter, DebateRow
from jury_store.event_store import EventStore
from jury_store.list_order import OLDEST, PageCursor

_PAGE = 500


def first_stage(run: Run, ladder: Ladder) -> Run:
    """The run over the first stage."""
    place = StagePlace(ladder=ladder.digest, number=1, of=len(ladder.stages), every_case=_every_case(ladder))
    return _at(run, ladder, 1, lambda _first: place)


def stage_run(run: Run, ladder: Ladder, number: int, store: EventStore) -> Run:
    """The run over a further stage, with the debates that follow from what is recorded of the stages before.

    Args:
        run: of the first stage.
        ladder: its ladder.
        number: of the stage, from 2.
        store: open for reading.
    """
    of = len(ladder.stages)
    before = {first_stage_of(row.debate_id): row.debate_id for row in escalated(store, run.run_id, number - 1)}
    audits: Mapping[str, str] = {}
    if number == of:
        audits = {first_stage_of(one): one for one in audited_exits(store, run.run_id, of, ladder.audit)}

    def place(first: str) -> StagePlace | None:
        found = before.get(first) or audits.get(first)
        if found is None:
            return None
        return StagePlace(
            ladder=ladder.digest,
            number=number,
            of=of,
            before=found,
            audit=first not in before,
            every_case=_every_case(ladder),
        )

    return _at(run, ladder, number, place)


def panel_of_stage(run: Run, ladder: Ladder) -> LoadedPanel:
    """The panel of the stage of a run."""
    assert run.stage is not None, "the run is of a ladder"
    return ladder.stages[run.stage.number - 1]


def escalated(store: EventStore, run_id: str, stage: int) -> Iterator[DebateRow]:
    """The debates of a stage that are followed by one of the next stage."""
    return (row for row in _rows(store, run_id, stage) if row.aside == "escalated")


def audited_exits(store: EventStore, run_id: str, stages: int, share: float) -> Iterator[str]:
    """The debates whose accepted verdict the last stage audits; those without their secret, as it was erased, are not.

    Args:
        store: open for reading.
        run_id: the run.
        stages: how many the ladder has.
        share: that is drawn.
    """
    if share == 0:
        return
    for stage in range(1, stages):
        early = (row for row in _rows(store, run_id, stage) if row.status == "completed" and row.aside is None)
        for rows in _paged(early):
            histories = store.event_histories([row.debate_id for row in rows])
            for row, history in zip(rows, histories, strict=True):
                secret = history.opened.secret.digest
                part = store.parts(row.debate_id, [secret]).get(secret)
                if part is not None and audited(part.content, row.case_part, share):
                    yield row.debate_id


def _at(run: Run, ladder: Ladder, number: int, place: Callable[[str], StagePlace | None]) -> Run:
    def placed(first: str) -> tuple[str, StagePlace] | None:
        found = place(first)
        return None if found is None else (stage_id(first, number), found)

    return replace(
        run,
        resolved=ladder.stages[number - 1].resolved,
        stage=RunStage(ladder.digest, number, len(ladder.stages), placed, ladder.carry),
    )


def _every_case(ladder: Ladder) -> Literal[True] | None:
    return True if ladder.certificate is None else None


def _rows(store: EventStore, run_id: str, stage: int) -> Iterator[DebateRow]:
    wanted, after = DebateFilter(run_id, stage=stage), None
    while rows := store.list_debates(wanted, OLDEST, limit=_PAGE, after=after):
        yield from rows
        after = PageCursor(rows[-1].position)


def _paged(rows: Iterable[DebateRow]) -> Iterator[list[DebateRow]]:
    page: list[DebateRow] = []
    for row in rows:
        page.append(row)
        if len(page) == _PAGE:
            yield page
            page = []
    if page:
        yield page

"""The stages of a ladder: which debate follows another, decided from the log alone.

Stage 1 has a debate a case. Each further stage has one for every case whose debate of the stage before ended without an
accepted verdict, which is every case without a certificate; the last stage has also the audits: debates of an audited
share of the cases that stopped early.
"""

import asyncio
from collections.abc import Awaitable, Callable, Container, Iterable, Iterator
from dataclasses import replace
from functools import partial

from jury_cases.outline import Fetch, batches
from jury_events.case import Case
from jury_events.ids import again_id, first_stage_of, stage_id
from jury_events.stages import StagePlace, audited
from jury_judge.panels.files import Ladder, LoadedPanel
from jury_judge.runs.preflight import sees_images
from jury_judge.runs.recorded_cases import recorded_cases
from jury_judge.runs.run import Run, RunStage
from jury_store.debate_rows import DebateFilter, DebateRow
from jury_store.event_store import EventStore
from jury_store.list_order import OLDEST, PageCursor

_PAGE = 500


def first_stage(run: Run, ladder: Ladder | None) -> Run:
    """The run over the first stage; without a ladder the run itself."""
    return run if ladder is None else at_stage(run, ladder, _place(ladder, 1))


def next_stage_run(run: Run, firsts: Iterable[str], ladder: Ladder | None, store: EventStore) -> Run | None:
    """The run over the stage after that of `run`, with the debates that follow from what is recorded.

    None after the last stage, and without a ladder.

    Args:
        run: over a stage that was executed.
        firsts: the debates of the first stage of this call, in their order; iterated again for each reading.
        ladder: its ladder.
        store: open for reading, also while the run is executed.
    """
    if ladder is None or run.stage is None or run.stage.number == run.stage.of:
        return None
    number, of = run.stage.number + 1, run.stage.of
    earlier = range(1 if number == of else number - 1, number)
    rows = (row for stage in earlier for row in _rows(store, run.run_id, stage))
    if number < of:  # no audits: no secret is read
        rows = (row for row in rows if row.aside == "escalated")
    places = {first: place for first, place in next_stages(store, rows, ladder) if place.number == number}
    following = _at(run, ladder, number, places.get)
    if sees_images(following.resolved.panel) and not sees_images(ladder.stages[0].panel):
        return following  # the store has no pictures of its cases
    return replace(following, cases=partial(_cases, store, firsts, places))


def at_stage(run: Run, ladder: Ladder, place: StagePlace) -> Run:
    """The run over one stage, whose debates have this place."""
    return _at(run, ladder, place.number, lambda _first: place)


async def judge_stages(
    first: str,
    ladder: Ladder,
    store: EventStore,
    judge: Callable[[str, LoadedPanel, StagePlace], Awaitable[None]],
) -> str:
    """Judge one case stage by stage, its audit included; returns the id of the debate that counts.

    Args:
        first: the id of the debate of the first stage.
        ladder: of the panels.
        store: open for reading.
        judge: judges a debate to its end, or returns at once where it is over.
    """
    place: StagePlace | None = _place(ladder, 1)
    counts = first
    while place is not None:
        debate = stage_id(first, place.number)
        await judge(debate, ladder.stages[place.number - 1], place)
        counts = counts if place.audit else debate
        place = await asyncio.to_thread(_next_stage, store, debate, ladder)
    return counts


def latest_stage(store: EventStore, first: str) -> DebateRow | None:
    """The last recorded debate of a case without its audit: the one that counts, or the one that is to be escalated.

    None: the store has no debate of the case. Of no ladder it is the debate itself.

    Args:
        store: open for reading.
        first: the id of the debate of the first stage.
    """
    found = following = store.debate(first)
    while following is not None:
        found = following
        following = None
        if found.aside == "replaced":
            following = store.debate(again_id(found.debate_id))
        elif found.aside == "escalated" and found.stage is not None:
            following = store.debate(stage_id(first, found.stage + 1))
    return found


def next_stages(store: EventStore, rows: Iterable[DebateRow], ladder: Ladder) -> Iterator[tuple[str, StagePlace]]:
    """What follows each of these debates: the id of the case's debate of the first stage, and the following place.

    Nothing follows a debate that is not over, counts and is not audited, is an audit or was cancelled. A debate whose
    secret was erased is not audited.

    Args:
        store: open for reading.
        rows: debates of stages of the ladder.
        ladder: with the audited share.
    """
    for page in _paged(rows):
        drawn = _drawn(store, page, ladder)
        for row in page:
            assert row.stage is not None, "the debate is of a ladder"
            first = first_stage_of(row.debate_id)
            if row.aside == "escalated":
                yield first, _place(ladder, row.stage + 1, before=row.debate_id)
            elif row.debate_id in drawn:
                yield first, _place(ladder, len(ladder.stages), before=row.debate_id, audit=True)


def _next_stage(store: EventStore, debate_id: str, ladder: Ladder) -> StagePlace | None:
    """What follows one debate of a stage."""
    row = store.debate(debate_id)
    return None if row is None else next((place for _, place in next_stages(store, [row], ladder)), None)


def _drawn(store: EventStore, rows: list[DebateRow], ladder: Ladder) -> frozenset[str]:
    """Those of the debates whose accepted verdict the last stage audits."""
    early = [row for row in rows if row.status == "completed" and row.aside is None and row.stage != len(ladder.stages)]
    if ladder.audit == 0 or not early:
        return frozenset()
    found = set()
    for row, history in zip(early, store.event_histories([row.debate_id for row in early]), strict=True):
        secret = history.opened.secret.digest
        part = store.parts(row.debate_id, [secret]).get(secret)
        if part is not None and audited(part.content, row.case_part, ladder.audit):
            found.add(row.debate_id)
    return frozenset(found)


def _place(ladder: Ladder, number: int, *, before: str | None = None, audit: bool = False) -> StagePlace:
    return StagePlace(
        ladder=ladder.digest,
        number=number,
        of=len(ladder.stages),
        before=before,
        audit=audit,
        every_case=True if ladder.certificate is None else None,
    )


def _at(run: Run, ladder: Ladder, number: int, place: Callable[[str], StagePlace | None]) -> Run:
    def placed(first: str) -> tuple[str, StagePlace] | None:
        found = place(first)
        return None if found is None else (stage_id(first, number), found)

    return replace(
        run,
        resolved=ladder.stages[number - 1].resolved,
        stage=RunStage(ladder.digest, number, len(ladder.stages), placed),
    )


def _cases(store: EventStore, firsts: Iterable[str], places: Container[str], _fetch: Fetch) -> Iterator[Case]:
    """The cases of the debates that have a place; of an erased one there is none."""
    for rows in batches(_firsts(store, firsts, places)):
        yield from recorded_cases(store, [row.debate_id for row in rows]).values()


def _firsts(store: EventStore, firsts: Iterable[str], places: Container[str]) -> Iterator[DebateRow]:
    """The first of the debates of each case of which one has a place."""
    case_id = None
    for one in firsts:
        row = store.debate(one) if one in places else None
        if row is not None and row.case_id != case_id:
            case_id = row.case_id
            yield row


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

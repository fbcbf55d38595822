"""Which debate of a case is next, decided from the log: the first one, one that judges it again, a later stage.

A case goes on to the next stage where its debate ended without an accepted verdict, which is every case without a
certificate. An audited share of the cases that stopped early is judged by the last stage too; their verdict stands.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from jury_events.ids import again_id, first_of, first_stage_of, stage_id
from jury_events.judgment import Decider
from jury_events.ladder import StagePlace, audited
from jury_events.verdict import REVIEW
from jury_judge.panels.files import Ladder, LoadedPanel
from jury_store.debate_rows import DebateFilter, DebateRow
from jury_store.event_store import EventStore
from jury_store.list_order import OLDEST, PageCursor

_PAGE = 500

NOTHING_AGAIN: Mapping[str, str] = MappingProxyType({})


class OpenStage(NamedTuple):
    """The debate of a case that is to be judged now.

    Attributes:
        debate_id: its id.
        place: in the ladder; None: it is of none.
        row: what the store has of it; None: it is not opened.
    """

    debate_id: str
    place: StagePlace | None
    row: DebateRow | None


def open_stages(
    store: EventStore, firsts: Collection[str], ladder: Ladder | None, successors: Mapping[str, str] = NOTHING_AGAIN
) -> dict[str, OpenStage]:
    """The next debate of each case that is not over, by the id of its first debate.

    A case is over once a debate counts for it and its audit, if it has one, is over; without a ladder once its debate
    is. Nothing follows a cancelled debate, and a debate whose secret was erased is not audited.

    Args:
        ladder: of the run; None: it has none.
        successors: see `Run.successors`.
    """
    place = first_place(ladder)
    looked: dict[str, tuple[str, StagePlace | None]] = {
        first: (successors.get(first, first), place) for first in firsts
    }
    found = {}
    while looked:
        rows = store.debates_named([debate for debate, _ in looked.values()])
        over = []
        for first, (debate, at) in looked.items():
            row = rows.get(debate)
            if row is None or not row.has_ended:
                found[first] = OpenStage(debate, at, row)
            else:
                over.append(row)
        following = () if ladder is None else next_stages(store, over, ladder)
        looked = {}
        for first, after in following:
            debate = stage_id(first, after.number)
            looked[first] = (successors.get(debate, debate), after)
    return found


def first_place(ladder: Ladder | None) -> StagePlace | None:
    """The place of a case's first debate; None without a ladder."""
    return None if ladder is None else _place(ladder, 1)


async def judge_stages(
    first: str,
    ladder: Ladder,
    store: EventStore,
    judge: Callable[[str, LoadedPanel, StagePlace], Awaitable[None]],
) -> str:
    """Judge one case stage by stage, its audit included; returns the id of the debate that counts.

    Args:
        first: the id of the debate of the first stage.
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


def _paged(rows: Iterable[DebateRow]) -> Iterator[list[DebateRow]]:
    page: list[DebateRow] = []
    for row in rows:
        page.append(row)
        if len(page) == _PAGE:
            yield page
            page = []
    if page:
        yield page


Again = Literal["no_evaluation"]
"""Which cases: those whose debate ended without an evaluation."""

_REPLACED_PAGE = 1000


class JudgedAgain(NamedTuple):
    """The debates of a run that others stand in for; see `Run.successors`.

    `replacing` are those that no successor is recorded of yet.
    """

    successors: dict[str, str]
    replacing: frozenset[str] = frozenset()


def judged_again(store: EventStore, run_id: str, again: Again | None = None) -> JudgedAgain:
    """What is recorded of a run, and what is to be judged again now.

    An erased case has no text to judge, and an imported debate is another store's: both stay as they are.

    Args:
        again: which cases to judge again; None: none.
    """
    replaced = (
        row for row in _rows(store, DebateFilter(run_id, counted=False, waiting=None)) if row.aside == "replaced"
    )
    successors: dict[str, str] = {}
    for row in replaced:
        first, successor = first_of(row.debate_id), again_id(row.debate_id)
        successors[first] = max(successors.get(first, ""), successor, key=lambda one: (len(one), one))
    replacing = frozenset(_without_evaluation(store, run_id) if again else ())
    successors.update({first_of(one): again_id(one) for one in replacing})
    return JudgedAgain(successors, replacing)


def _without_evaluation(store: EventStore, run_id: str) -> Iterator[str]:
    unevaluated = DebateFilter(run_id, status="completed", verdict=REVIEW)
    for wanted in (unevaluated, DebateFilter(run_id, status="failed"), DebateFilter(run_id, status="cancelled")):
        for row in _rows(store, wanted):
            evaluated = row.status == "completed" and row.decided_by != Decider.NO_EVALUATION
            if not evaluated and row.imported is None and row.end_reason != "erased":
                yield row.debate_id


def _rows(store: EventStore, wanted: DebateFilter) -> Iterator[DebateRow]:
    after = None
    while rows := store.list_debates(wanted, OLDEST, limit=_REPLACED_PAGE, after=after):
        yield from rows
        after = PageCursor(rows[-1].position)

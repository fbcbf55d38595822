"""What the panels of two runs differ in; of ladders those of every stage."""

from collections.abc import Iterator

from jury_debate.recorded_panel import PanelDifference, panel_differences
from jury_judge.stores.debates import panel_of
from jury_store.debate_rows import DebateFilter
from jury_store.event_store import EventStore
from jury_store.list_order import OLDEST


def run_panel_differences(store: EventStore, a: str, b: str) -> tuple[PanelDifference, ...]:
    """The differences of the panels of two runs, by the first debate of each.

    Ladders of as many stages are compared stage by stage, with fields as in `stage 2: discussion.threshold`. Otherwise
    the last stages are, which judge what no stage before has settled; a run without a ladder has one stage.

    Raises:
        EventError: the opening of such a debate cannot be decoded.
    """
    return tuple(_differences(store, _stages(store, a), _stages(store, b)))


def _stages(store: EventStore, run_id: str) -> list[str | None]:
    """The first debate of each stage; None: no case has reached it."""
    (first,) = store.debates(run_id=run_id, limit=1)
    if first.stages is None:
        return [first.debate_id]
    firsts = (
        store.list_debates(DebateFilter(run_id, counted=None, stage=number), OLDEST, limit=1)
        for number in range(1, first.stages + 1)
    )
    return [rows[0].debate_id if rows else None for rows in firsts]


def _differences(store: EventStore, a: list[str | None], b: list[str | None]) -> Iterator[PanelDifference]:
    if len(a) != len(b):
        yield PanelDifference("stages", len(a), len(b))
        yield from _of_stage(store, "last stage", a[-1], b[-1])
    elif len(a) == 1:
        yield from _of_stage(store, "", a[0], b[0])
    else:
        for number, (before, now) in enumerate(zip(a, b, strict=True), start=1):
            yield from _of_stage(store, f"stage {number}", before, now)


def _of_stage(store: EventStore, name: str, before: str | None, now: str | None) -> Iterator[PanelDifference]:
    if before is None and now is None:
        return
    if before is None or now is None:
        yield PanelDifference(name, *("not reached" if one is None else "reached" for one in (before, now)))
        return
    for one in panel_differences(panel_of(store, before), panel_of(store, now)):
        yield one._replace(field=f"{name}: {one.field}") if name else one

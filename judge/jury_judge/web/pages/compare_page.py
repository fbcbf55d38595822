"""Two debates, or two runs, side by side: the comparisons of the command line, for a page."""

from typing import NamedTuple

from jury_debate.recorded_panel import Difference, panel_differences
from jury_events.errors import EventError
from jury_events.verdict import Verdict
from jury_judge.comparison import DebateComparison, compare_debates
from jury_judge.debates import panel_of, read_debate, rows_of_run, same_case
from jury_judge.kinds import Kind, kind_of
from jury_judge.run_comparison import Flip, RunComparison, compare_runs
from jury_judge.views.debate_record import role_of
from jury_store.event_store import EventStore

SHOWN = 200
"""Flips, differences and cases that are listed."""


class ComparedDebates(NamedTuple):
    """Two debates; `roles` by juror id, A's where both have one."""

    compared: DebateComparison
    roles: dict[str, str]


class ComparedRuns(NamedTuple):
    """Two runs: what their panels differ in, the flips listed (with whether both judged the same), and the ends.

    `panel` is None where the opening of a run's first debate cannot be read, whether two cases are the same where that
    of either cannot.
    """

    compared: RunComparison
    panel: tuple[Difference, ...] | None
    flips: tuple[tuple[Flip, bool | None], ...]
    ends: tuple[str, ...]


def compared(store: EventStore, a: str, b: str, kind: Kind | None = None) -> ComparedDebates | ComparedRuns:
    """Put them side by side.

    Raises:
        NotComparable: one is neither a debate nor a run, both kinds fit, or they are of different kinds.
        EventError: a stored body does not decode.
    """
    if kind_of(store, a, b, kind) == "debates":
        return _debates(store, a, b)
    return _runs(store, a, b)


def _debates(store: EventStore, a: str, b: str) -> ComparedDebates:
    readings = read_debate(store, a), read_debate(store, b)
    roles: dict[str, str] = {}
    for reading in reversed(readings):
        panel = reading.opened.panel
        roles |= {juror: role_of(panel, juror) for juror in panel.juror_ids}
    return ComparedDebates(compare_debates(*readings), roles)


def _runs(store: EventStore, a: str, b: str) -> ComparedRuns:
    both = compare_runs(a, rows_of_run(store, a), b, rows_of_run(store, b))
    flips = tuple((flip, _same_case(store, flip)) for flip in both.flips[:SHOWN])
    found = {end for pair in both.table for end in pair}
    words = {verdict.value for verdict in Verdict}
    ends = (*(verdict.value for verdict in Verdict if verdict.value in found), *sorted(found - words))
    return ComparedRuns(both, _panels(store, a, b), flips, ends)


def _panels(store: EventStore, a: str, b: str) -> tuple[Difference, ...] | None:
    firsts = [store.debates(run_id=run_id, limit=1)[0].debate_id for run_id in (a, b)]
    try:
        return panel_differences(*(panel_of(store, debate) for debate in firsts))
    except EventError:
        return None


def _same_case(store: EventStore, flip: Flip) -> bool | None:
    try:
        return same_case(store, flip.a.debate_id, flip.b.debate_id)
    except EventError:
        return None

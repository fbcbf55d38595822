"""The progress of a run as text."""

from typing import TYPE_CHECKING

from jury_events.text import pluralize, visible_line
from jury_events.verdict import Verdict

if TYPE_CHECKING:
    from jury_judge import RunHolder, RunRow
    from jury_judge.running.live_run import RunState


def run_progress(run: "RunRow") -> str:
    """`12 of 123 debates over`; of a run whose size is not known, how many are over and how many were begun.

    None counts for its case in a run of which only an early stage was imported, or where all are in quarantine.
    """
    if not run.debates and not run.waiting and run.total is None:
        return "0 debates that count for their cases (see jury list --stage N, or --quarantined)"
    if run.total is not None:
        return f"{run.ended:,} of {pluralize(run.total, 'debate')} over"
    are = "is" if run.debates == 1 else "are"
    return f"{run.ended:,} of {pluralize(run.debates, 'debate')} begun so far {are} over"


def verdict_cells(run: "RunRow") -> tuple[tuple[str, ...], str]:
    """How many debates have each verdict, parted by commas; and how many ended without one or wait, "" if none did.

    Of a cancelled run also who cancelled it.
    """
    counts = [f"{getattr(run, verdict.value):,} {verdict.value}" for verdict in Verdict]
    others = (f", {number:,} {name}" for name in ("failed", "cancelled", "waiting") if (number := getattr(run, name)))
    by = f", cancelled by {visible_line(run.cancelled_by, 100)}" if run.cancelled_by else ""
    return (*(f"{one}," for one in counts[:-1]), counts[-1]), by + "".join(others)


def run_verdicts(run: "RunRow") -> str:
    """The same as one text."""
    verdicts, others = verdict_cells(run)
    return " ".join(verdicts) + others


def run_state_text(state: "RunState", holder: "RunHolder | None") -> str:
    """`complete`, or `running: process 12 on HOST since …`."""
    if holder is None:
        return state
    since = "" if holder.since is None else f" since {holder.since}"
    return f"running: {'detached ' if holder.detached else ''}process {holder.process}{since}"

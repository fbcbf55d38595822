"""The progress of a run as text."""

from typing import TYPE_CHECKING

from jury_events.text.pluralize import pluralize

if TYPE_CHECKING:
    from jury_judge import RunHolder, RunRow
    from jury_judge.running.live_run import RunState


def run_progress(run: "RunRow") -> str:
    """`12 of 123 debates over`; of a run whose size is not known, how many are over and how many were begun."""
    if run.total is not None:
        return f"{run.ended} of {pluralize(run.total, 'debate')} over"
    return f"{run.ended} of {pluralize(run.debates, 'debate')} begun so far are over"


def run_verdicts(run: "RunRow") -> str:
    """The verdicts, and how many debates ended without one."""
    verdicts = f"{run.safe_pass} safe_pass, {run.needs_review} needs_review, {run.unsafe_fail} unsafe_fail"
    others = (f", {number} {name}" for name in ("failed", "cancelled") if (number := getattr(run, name)))
    return verdicts + "".join(others)


def run_state_text(state: "RunState", holder: "RunHolder | None") -> str:
    """`complete`, or `running: process 12 on HOST since …`."""
    if holder is None:
        return state
    since = "" if holder.since is None else f" since {holder.since}"
    return f"running: {'detached ' if holder.detached else ''}process {holder.process}{since}"

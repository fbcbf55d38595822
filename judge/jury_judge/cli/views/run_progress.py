"""The progress of a run as text."""

from jury_judge.text.pluralize import pluralize
from jury_store.debate_rows import RunRow


def run_progress(run: RunRow) -> str:
    """`12 of 123 debates over`; of a run whose size is not known, how many are over and how many were begun."""
    if run.total is not None:
        return f"{run.ended} of {pluralize(run.total, 'debate')} over"
    return f"{run.ended} of {pluralize(run.debates, 'debate')} begun so far are over"

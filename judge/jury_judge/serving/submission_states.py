"""What a server says of a submission: the log first, then who executes it, then what stopped it here."""

from contextlib import suppress
from typing import Literal, NamedTuple

from jury_events.errors import DebateNotFound
from jury_judge.running.live_runs import LiveRuns
from jury_judge.runs.case_stages import latest_stage
from jury_judge.serving.kept_submissions import KeptSubmissions
from jury_judge.serving.submission_attempts import Submission
from jury_judge.serving.submission_claims import Kind
from jury_judge.serving.submissions import Submissions
from jury_store.event_store import EventStore


class SubmissionState(NamedTuple):
    """The state of an evaluation or a run.

    running: this server executes it, or `process` does. waiting: `problem` says for what; it goes on by itself.
    finished: nothing is left to do. stopped: `problem` stopped it here. unfinished: nobody executes it.
    """

    state: Literal["running", "waiting", "finished", "stopped", "unfinished"]
    problem: BaseException | None = None
    process: str | None = None


class SubmissionStates:
    """Reads states; several threads may use it.

    Args:
        submissions: those of this server.
        store: open for reading.
        live_runs: says which process executes a run.
        kept: what servers of this store keep; None: nothing.
    """

    def __init__(
        self, submissions: Submissions, store: EventStore, live_runs: LiveRuns, kept: KeptSubmissions | None
    ) -> None:
        self._submissions = submissions
        self._store = store
        self._live_runs = live_runs
        self._kept = kept

    def read(self, kind: Kind, name: str) -> SubmissionState | None:
        """The state of a submission; None: neither the log nor a server of this store knows it.

        Raises:
            StoreError: the store cannot be read.
        """
        here = self._submissions.find(kind, name)
        if here is not None and here.running and here.waits_for is None:
            return SubmissionState("running")
        known = self._is_over(kind, name, here)
        if known:
            return SubmissionState("finished")
        if (process := self._process(kind, name)) is not None:
            return SubmissionState("running", process=process)
        if here is not None and here.running:
            return SubmissionState("waiting", here.waits_for)
        if here is not None and here.problem is not None:
            return SubmissionState("stopped", here.problem)
        is_kept = self._kept is not None and self._kept.find(kind, name) is not None
        return SubmissionState("unfinished") if is_kept or known is False else None

    def latest_debate(self, name: str) -> str:
        """The debate of an evaluation; by a ladder that of the last stage that was opened, audits left out."""
        found = latest_stage(self._store, name)
        return name if found is None else found.debate_id

    def _is_over(self, kind: Kind, name: str, here: Submission | None) -> bool | None:
        """Whether the log has its end; None: it has nothing of it."""
        if kind == "evaluation":
            debate = latest_stage(self._store, name)
            return None if debate is None else debate.has_ended and debate.aside != "escalated"
        row = self._store.run(name)
        if row is None:
            return None
        debates = frozenset() if here is None else here.debates
        if debates and not row.cancelled and not self._is_staged(name):
            return len(self._store.ended_positions(debates)) == len(debates)
        if row.ended < row.debates:
            return False
        # Of a run that was cancelled, cases that were not begun are not left to do.
        return bool(row.cancelled) or row.total is None or row.ended >= row.total

    def _is_staged(self, run_id: str) -> bool:
        """Whether the run is by a ladder: then the debates of its cases may be followed by others."""
        return any(first.stage is not None for first in self._store.debates(run_id=run_id, limit=1))

    def _process(self, kind: Kind, name: str) -> str | None:
        """The process that executes it, elsewhere."""
        if self._kept is not None and (owner := self._kept.owner(kind, name)) is not None:
            return owner
        if kind == "run":
            with suppress(DebateNotFound):
                holder = self._live_runs.read(name).holder
                return None if holder is None else f"process {holder.process}"
        return None

"""What a server says of a submission: the log first, then who executes it, then what stopped it here."""

from typing import Literal, NamedTuple

from jury_events.run_facts import RunFacts
from jury_judge.errors import RunRefused
from jury_judge.runs.case_stages import latest_stage
from jury_judge.serving.submissions import Kind, Submissions, submitted_run
from jury_store.debate_rows import RunRow
from jury_store.event_store import EventStore


class SubmissionState(NamedTuple):
    """The state of an evaluation or a run.

    running: this server executes it, or `process` does. waiting: it goes on by itself; `problem` says for what it waits
    where that is not a free place. finished: nothing is left to do. stopped: `problem` stopped it. unfinished: no
    server goes on with it by itself. `listed` debates are in the list of a run, which is `complete` or open; None of an
    evaluation, and of a run without a list.
    """

    state: Literal["running", "waiting", "finished", "stopped", "unfinished"]
    problem: BaseException | None = None
    process: str | None = None
    listed: int | None = None
    complete: bool | None = None


class SubmissionStates:
    """Reads states; several threads may use it."""

    def __init__(self, submissions: Submissions, store: EventStore) -> None:
        self._submissions = submissions
        self._store = store

    def read(self, kind: Kind, name: str) -> SubmissionState | None:
        """The state of a submission; None: the log does not know it."""
        if kind == "run":
            row, facts = self._store.run(name), self._submissions.runs.facts(name)
            found = None if row is None else self._of_run(row, facts)
            return (
                found
                if found is None or facts is None
                else found._replace(listed=facts.listed, complete=facts.complete)
            )
        debate = latest_stage(self._store, name)
        if debate is None:
            return None
        if debate.has_ended and debate.aside != "escalated":
            return SubmissionState("finished")
        if debate.run_id is None:
            return SubmissionState("unfinished")
        return self._left(debate.run_id, name, self._submissions.runs.facts(debate.run_id))

    def latest_debate(self, name: str) -> str:
        """The debate of an evaluation; by a ladder that of the last stage that was opened, audits left out."""
        found = latest_stage(self._store, name)
        return name if found is None else found.debate_id

    def _of_run(self, row: RunRow, facts: RunFacts | None) -> SubmissionState:
        over = row.ended == row.debates
        if over and facts is not None and facts.cancelled_by is not None:
            return SubmissionState("finished")  # what was not begun is not left to do
        if over and not row.waiting and (row.total is None or row.ended >= row.total):
            return SubmissionState("finished")
        return self._left(row.run_id, None, facts)

    def _left(self, run_id: str, debate: str | None, facts: RunFacts | None) -> SubmissionState:
        """The state of what is not over."""
        here = self._submissions
        if here.executes(run_id, debate):
            return SubmissionState("running")
        if (holder := here.runs.holder(run_id)) is not None:
            return SubmissionState("running", process=f"process {holder.process}")
        if facts is not None and facts.cancelled_by is not None:
            said = f"run {run_id} was cancelled by {facts.cancelled_by}; the same request goes on with it"
            return SubmissionState("stopped", RunRefused(said))
        problem, run = here.problem(run_id), submitted_run(facts)
        if problem is not None:
            return SubmissionState("waiting" if problem.passes else "stopped", problem.error)
        return SubmissionState("waiting" if run is not None and here.serves(run) else "unfinished")

"""The results of a run that a detached process executes, printed as they come, as if this command executed it."""

from contextlib import closing
from typing import TYPE_CHECKING

from jury_cli.interrupts import run_interruptibly
from jury_cli.judging import note_line
from jury_cli.streams import check_stdout
from jury_cli.terminal import ProgressDisplay
from jury_judge.sessions.followed_run import followed
from jury_judge.sessions.planned_run import PlannedRun

if TYPE_CHECKING:
    from jury_cli.results import Results
    from jury_judge.sessions.run_session import RunOutcome


def follow_run(planned: PlannedRun, process: str, results: "Results", display: str) -> "RunOutcome":
    """Print the results of all debates of a run, in the order of the cases, until the process ends.

    Ctrl-C ends the printing, and leaves the run going.

    Args:
        planned: the input, as of the command that began it.
        process: that executes it, as people name it.
        results: takes the line of each debate.
        display: how progress is shown.

    Raises:
        RunRefused, CaseFileError: as `followed`: the input is not that of the run.
    """
    run_id = planned.run.run_id
    note_line(f"run {run_id} goes on in process {process}; Ctrl-C leaves it going")
    with closing(ProgressDisplay(run_id, display)) as progress, followed(planned, progress) as following:

        async def print_results() -> None:
            async for line in following.lines():
                results.take(line)
                check_stdout("the run goes on")

        run_interruptibly(print_results)
        return following.outcome(results.taken)

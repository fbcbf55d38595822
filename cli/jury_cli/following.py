"""The results of a run that a detached process executes, printed as they come, as if this command executed it."""

from contextlib import closing
from typing import TYPE_CHECKING

from jury_cli.interrupts import run_interruptibly
from jury_cli.judging import note_line
from jury_cli.streams import check_stdout
from jury_cli.terminal import ProgressDisplay
from jury_judge.sessions.run_plan import RunPlan
from jury_judge.sessions.run_watch import followed

if TYPE_CHECKING:
    from jury_cli.results import Results
    from jury_judge.sessions.run_watch import RunOutcome


def follow_run(planned: RunPlan, process: str, results: "Results", display: str) -> "RunOutcome":
    """Print the results of all cases of a run, in the order of its list, until the process ends.

    Ctrl-C ends the printing, and leaves the run going.

    Args:
        planned: the run.
        process: that executes it, as people name it.
        results: takes the line of each debate.
        display: how progress is shown.
    """
    url, run_id = planned.store_url, planned.run.run_id
    prices = planned.settings.price_list(planned.environ)
    note_line(f"run {run_id} goes on in process {process}; Ctrl-C leaves it going")
    with closing(ProgressDisplay(run_id, display)) as progress, followed(url, run_id, progress, prices) as following:

        async def print_results() -> None:
            async for line in following.lines():
                results.take(line)
                check_stdout("the run goes on")

        run_interruptibly(print_results)
        return following.outcome(results.taken)

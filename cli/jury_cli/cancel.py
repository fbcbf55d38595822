"""`jury cancel`: end the debates of a run for good, whichever process executes it."""

import click

from jury_cli.calls import opened
from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import STORE, run_id
from jury_cli.terminal import note
from jury_events.text import pluralize


@click.command("cancel")
@click.argument("run", metavar="RUN", callback=run_id)
@click.option(
    "--by", metavar="WHO", help="Who cancels it, for the record; at most 30 bytes. [default: your login name]"
)
@options(STORE)
def command(run: str, *, by: str | None, store_url: str | None) -> int:
    """Cancel every debate of a run that is not over, also while another process executes the run.

    Debates that were begun end as cancelled, for good; answers of calls in flight are still recorded. Debates that were
    not begun stay listed, and wait: jury resume RUN, or jury run with the same --run, reopens the run and judges them.
    Ctrl-C ends the waiting alone where the request is recorded already.
    """
    from jury_cli.event_loops import note_line, run_interruptibly
    from jury_judge.runs.cancelling import canceller

    who = canceller(by)
    with opened(store_url) as records:
        done = run_interruptibly(lambda: records.cancel(run, by=who, say=note_line))
    none = "no debate was left to cancel" if done.by is None else "cancelled; no debate was going on"
    what = f"{pluralize(done.debates, 'debate')} cancelled" if done.debates else none
    ahead = f"; {pluralize(done.ahead, 'case')} not begun" if done.ahead else ""
    reopen = (
        f" (jury resume {run} goes on with {'it' if done.ahead == 1 else 'them'})" if done.ahead and done.by else ""
    )
    note(f"run {run}: {what}{ahead}{reopen}")
    return Exit.DONE

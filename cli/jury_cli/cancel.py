"""`jury cancel`: end the debates of a run for good, whichever process executes it."""

import getpass
from contextlib import closing

import click

from jury_cli.exits import Exit
from jury_cli.options import resolved_store, run_id, store_option


@click.command("cancel")
@click.argument("run", metavar="RUN", callback=run_id)
@click.option(
    "--by", metavar="WHO", help="Who cancels it, for the record; at most 30 bytes. [default: your login name]"
)
@store_option
def command(run: str, *, by: str | None, store_url: str | None) -> int:
    """Cancel every debate of a run that is not over, also while another process executes the run.

    Debates that were begun end as cancelled, for good; answers of calls in flight are still recorded. Cases that were
    not begun stay so: `jury run` with the same --run would begin them. Ctrl-C withdraws the request, unless the run
    ends already.
    """
    from jury_cli.interrupts import run_interruptibly
    from jury_cli.judging import note_line
    from jury_cli.terminal import note
    from jury_events.text.pluralize import pluralize
    from jury_judge.running.cancelling import cancel_run
    from jury_store.opening import open_store

    url, who = resolved_store(store_url), _who(by)
    with closing(open_store(url, write=False)) as store:
        done = run_interruptibly(lambda: cancel_run(store, url, run, who, note_line))
    what = f"{pluralize(done.debates, 'debate')} cancelled" if done.debates else "no debate was left to cancel"
    ahead = f"; {pluralize(done.ahead, 'case')} not begun" if done.ahead else ""
    note(f"run {run}: {what}{ahead}")
    return Exit.DONE


def _who(by: str | None) -> str:
    from pydantic import TypeAdapter, ValidationError

    from jury_events.value import Label
    from jury_store.run_registry import MOST_BY

    if by is None:
        try:
            by = getpass.getuser()
        except (KeyError, OSError):
            raise click.UsageError("this user has no login name: say who cancels with --by WHO") from None
        by = by.encode()[:MOST_BY].decode(errors="ignore")
    try:
        TypeAdapter(Label).validate_python(by)
    except ValidationError:
        raise click.UsageError("--by: a name in one line") from None
    if len(by.encode()) > MOST_BY:
        raise click.UsageError(f"--by: at most {MOST_BY} bytes, not {len(by.encode())}")
    return by

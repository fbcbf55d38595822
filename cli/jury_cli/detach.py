"""`jury run --detach`: the run goes on in a process of its own, and the command ends."""

import sys

import click

from jury_cli.exits import Exit

DETACH = "--detach"
DETACHED = "--detached"
"""The option that the command gives to the process that it starts."""


def detach(url: str, run_id: str, *, generated: bool) -> int:
    """Start the same command without a terminal; returns once it executes the run, or has ended.

    Args:
        url: of the store.
        run_id: the run.
        generated: the id is not among the arguments.
    """
    from jury_cli.terminal import note
    from jury_judge.running.detaching import start_detached, wait_until_running

    if begun_already(url, run_id):
        return Exit.DONE
    instead = [DETACHED, *(("--run", run_id) if generated else ())]
    arguments = [one for given in sys.argv[1:] for one in (instead if given == DETACH else [given])]
    started = start_detached(arguments, url, run_id)
    try:
        code = wait_until_running(started, url, run_id)
    except KeyboardInterrupt:
        started.process.terminate()
        raise
    if code is not None:
        for line in started.output().splitlines():
            note(line)
        if code == Exit.DONE:
            print(run_id)
        return code
    note(f"run {run_id} goes on in process {started.process.pid}, without this terminal; log: {started.log}")
    note(ways(run_id))
    print(run_id)
    return Exit.DONE


def begun_already(url: str, run_id: str) -> bool:
    """Whether a detached process executes the run; then its id is printed."""
    from jury_cli.terminal import note
    from jury_judge.running.detaching import detached_holder

    holder = detached_holder(url, run_id)
    if holder is not None:
        note(f"run {run_id} goes on in process {holder.process} already; {ways(run_id)}")
        print(run_id)
    return holder is not None


def check_detached(files: tuple[str, ...], *, dry_run: bool) -> None:
    """Refuse what a process without a terminal cannot do."""
    if "-" in files:
        raise click.UsageError(f"{DETACH} cannot read cases from standard input: put them into a file")
    if dry_run:
        raise click.UsageError(f"--dry-run runs nothing: leave {DETACH} out")


def ways(run_id: str) -> str:
    """What can be done with a detached run."""
    return (
        f"jury watch {run_id} shows it, jury cancel {run_id} ends it, the same command without {DETACH} "
        f"and with --run {run_id} prints its results as they come"
    )

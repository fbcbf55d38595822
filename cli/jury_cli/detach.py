"""`--detach`: a run that is listed goes on in a process of its own, here or on a cluster, and the command ends."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from jury_cli.exits import Exit
from jury_cli.terminal import note
from jury_judge.runs.plan import RunPlan
from jury_judge.runs.resumed_run import handed
from jury_judge.runs.supervision import detached_holder, log_file, start_detached, start_on_cluster


def detach(planned: RunPlan, shown: Mapping[str, Any], reopens: int) -> int:
    """Have another process judge a run that is listed; returns once it does, or has ended.

    Args:
        planned: the run.
        shown: further options of the command.
        reopens: how many cancellations of the run were known when it was asked for.
    """
    run_id, settings, url = planned.run.run_id, planned.settings, planned.store_url
    if settings.ray_address is None:
        pid, ended = start_detached(handed(planned, shown, reopens), url, run_id)
        where = f"process {pid}, without this terminal; log: {log_file(url, run_id)}"
    else:
        from jury_cli.event_loops import ray_started

        where = "a process of the cluster, without this terminal"
        message = partial(_message, planned, shown, reopens)
        with ray_started(settings.ray_address, open_cluster=settings.ray_open_cluster):
            ended = start_on_cluster(message, url, run_id)
    if ended is None:
        note(f"run {run_id} goes on in {where}")
        note(ways(run_id))
    else:
        for line in ended.output.splitlines():
            note(line)
    if ended is None or ended.code == Exit.DONE:
        print(run_id)
        return Exit.DONE
    return ended.code


def _message(planned: RunPlan, shown: Mapping[str, Any], reopens: int, address: str) -> bytes:
    return handed(planned, shown, reopens, ray_address=address)


def begun_already(url: str, run_id: str) -> bool:
    """Whether a detached process executes the run; then its id is printed."""
    holder = detached_holder(url, run_id)
    if holder is not None:
        note(f"run {run_id} goes on in process {holder.process} already; {ways(run_id)}")
        print(run_id)
    return holder is not None


def ways(run_id: str) -> str:
    """What can be done with a detached run."""
    return (
        f"jury watch {run_id} shows it, jury cancel {run_id} ends it, jury resume {run_id} prints its results as they "
        "come"
    )

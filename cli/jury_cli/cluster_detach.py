"""`jury run --detach --ray-address`: the run goes on in a process of the cluster, and the command ends."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from jury_cli.detach import begun_already, ways
from jury_cli.exits import Exit
from jury_cli.ray_thread import ray_started
from jury_cli.terminal import note
from jury_judge.sessions.handed_run import check_for_cluster, hand_over
from jury_judge.sessions.planned_run import PlannedRun


def detach_on_cluster(planned: PlannedRun, door: Mapping[str, Any]) -> int:
    """Have the cluster execute the run; returns once it does, or has ended.

    Args:
        planned: the run; its cases are sent to the cluster.
        door: the other options of the command.
    """
    run_id, settings = planned.run.run_id, planned.settings
    check_for_cluster(settings)
    if begun_already(planned.store_url, run_id):
        return Exit.DONE
    cluster = partial(ray_started, settings.ray_address, open_cluster=settings.ray_open_cluster)
    ended = hand_over(planned, door, cluster)
    if ended is None:
        note(f"run {run_id} goes on in a process of the cluster, without this terminal")
        note(ways(run_id))
    else:
        for line in ended.output.splitlines():
            note(line)
    if ended is None or ended.code == Exit.DONE:
        print(run_id)
    for line in planned.cases.unreadable.lines():
        note(line)
    if ended is None or ended.code == Exit.DONE:
        return Exit.STOPPED if planned.cases.unreadable.count else Exit.DONE
    return ended.code

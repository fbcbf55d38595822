"""Ends the processes of a local Ray cluster without Ray.

`ray.shutdown` ignores the processes of a start that failed or was interrupted, and waits for a cluster that does not
answer. They are found by the cluster's token, which no other process has in its environment, so no other cluster is
touched. Ray is not imported here: its import may not have finished.
"""

from contextlib import suppress

import psutil

from jury_actors.ray_access import AUTH_VARIABLE

_own: set[str] = set()
"""The tokens of clusters that this process started."""


def own(token: str) -> None:
    """Register the token of a local cluster that this process is about to start."""
    _own.add(token)


def end_own_processes() -> None:
    """Kill every process of the local clusters that this process started. Any thread may call it at any time."""
    while _own and (found := own_processes()):
        for process in found:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(found, timeout=1)
    _own.clear()


def own_processes() -> set[psutil.Process]:
    """Those of the local clusters that this process started.

    Includes descendants: some of Ray's processes overwrite their environment with their title.
    """
    found: set[psutil.Process] = set()
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(AUTH_VARIABLE) in _own:
                found.update([process, *process.children(recursive=True)])
    return {process for process in found if _runs(process)}


def _runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False

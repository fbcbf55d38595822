"""The processes of Ray's actors."""

import psutil


def actor_process(name: str) -> int:
    """The id of the youngest process of such an actor: those of an earlier runtime may still be ending."""
    found = {}
    for process in psutil.Process().children(recursive=True):
        try:
            if process.cmdline()[0].startswith(f"ray::{name}"):
                found[process.create_time()] = process.pid
        except (psutil.NoSuchProcess, psutil.ZombieProcess, IndexError):
            continue
    return found[max(found)]

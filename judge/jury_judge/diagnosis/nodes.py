"""Whether the nodes of a Ray cluster can run jurors."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from jury_actors.ray_nodes import NodeCheck
from jury_events.errors import JuryError
from jury_judge.diagnosis.finding import DiagnosisFinding
from jury_judge.panels.files import LoadedPanel
from jury_judge.settings.store import load_settings

Joined = Callable[[str], AbstractContextManager[None]]
"""Joins the Ray cluster at HOST:PORT, and leaves it again."""


@contextmanager
def joined_here(address: str) -> Iterator[None]:
    """The cluster, joined in this thread."""
    from jury_actors import ray_runtime  # slow: Ray

    ray_runtime.start_ray(address, open_cluster=False)
    try:
        yield
    finally:
        ray_runtime.stop_ray()


def nodes(address: str, loaded: LoadedPanel, store_url: str | None, joined: Joined) -> Iterator[DiagnosisFinding]:
    """Each node's releases, keys for the panel, and whether it reaches the store."""
    url = load_settings(os.environ, store_url=store_url).store_url
    shared = not url.startswith("sqlite")
    wanted = NodeCheck(loaded.panels, loaded.endpoints, url if shared else None)
    try:
        with joined(address):
            from jury_actors.ray_nodes import inspect_nodes

            reports = inspect_nodes(wanted)
    except JuryError as error:
        yield DiagnosisFinding("problem", str(error))
        return
    if len(reports) > 1 and not shared:
        yield DiagnosisFinding(
            "problem", f"the cluster has {len(reports)} nodes, and a SQLite store is on one of them: use PostgreSQL"
        )
    reached = ", the store is reached" if shared else ""
    for one in reports:
        if not one.problems:
            yield DiagnosisFinding("ok", f"node {one.name}: the releases are those of here, no key is missing{reached}")
        for problem in one.problems:
            yield DiagnosisFinding("problem", f"node {one.name}: {problem}")

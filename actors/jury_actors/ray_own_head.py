"""The head of a local cluster without the processes that nobody reads.

Ray starts a log monitor, which sends the workers' logs to a driver that drops them; the API server of a dashboard, even
where there is no dashboard; and the monitor of the autoscaler, on a cluster that never grows. `ray.init` has no option
that leaves them out. What they cost is in docs/ray.md.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from ray._private.node import Node

_UNREAD = ("start_log_monitor", "start_api_server", "start_monitor")
"""Methods of Ray's `Node`, each of which starts one of these processes."""


@contextmanager
def without_unread_processes() -> Iterator[None]:
    """Heads that are started in the context do without; where a release of Ray has no such method, nothing changes."""
    before = {name: getattr(Node, name) for name in _UNREAD if hasattr(Node, name)}
    for name in before:
        setattr(Node, name, _start_nothing)
    try:
        yield
    finally:
        for name, method in before.items():
            setattr(Node, name, method)


def _start_nothing(_node: Node, **_options: object) -> None:
    """Instead of a method that starts a process."""

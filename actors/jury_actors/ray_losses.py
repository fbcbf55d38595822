"""Why Ray lost a process, in one line: Ray's own message has the state of its object store and of ten processes."""

import re

from ray.exceptions import OutOfMemoryError, RayError

_NODE = re.compile(
    r"Memory on the node \(IP: (?P<ip>[^,]+), ID: (?P<id>\w{8})\w*\) was (?P<used>.+?) used / (?P<all>\S+)"
)
_LIMIT = re.compile(r"exceeded threshold of \S+ \((?P<share>[\d.]+%)")
_MOST = 300
"""Characters."""


def loss_reason(error: RayError) -> str:
    """What happened, and what to do where Ray ended the process because its node was short of memory."""
    text = str(error)
    if isinstance(error, OutOfMemoryError):
        return _short_of_memory(text)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("\t")]
    return " ".join(lines)[:_MOST] or type(error).__name__


def _short_of_memory(text: str) -> str:
    node, limit = _NODE.search(text), _LIMIT.search(text)
    where = f"on the node {node['ip']} ({node['id']})" if node else "on its node"
    share = f", the limit is {limit['share']}" if limit else ""
    used = f" ({node['used']} of {node['all']} used{share})" if node else ""
    return (
        f"Ray killed it because memory {where} was short{used}; run fewer debates at once there (--concurrency), end "
        "other processes, or raise the limit (RAY_memory_usage_threshold, before `ray start` on that node)"
    )

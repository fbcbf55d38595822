"""Work on records without a network: `no_network` refuses every connection."""

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_REACHING_OUT = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.bind"})


class _Guard:
    """The audit hook of the process, which cannot be removed again; it refuses while `inside` is not 0."""

    installed = False
    inside = 0

    @classmethod
    def hook(cls, event: str, arguments: tuple[Any, ...]) -> None:
        if not cls.inside or event not in _REACHING_OUT:
            return
        if isinstance(arguments[0], socket.socket) and arguments[0].family == getattr(socket, "AF_UNIX", None):
            return
        raise PermissionError(f"{event}: a record is worked on without a network")


@contextmanager
def no_network() -> Iterator[None]:
    """Refuse every connection and name lookup of Python code in this process.

    The store's connection is made by its driver in C and is not affected, nor are pipes and Unix sockets.
    """
    if not _Guard.installed:
        sys.addaudithook(_Guard.hook)
        _Guard.installed = True
    _Guard.inside += 1
    try:
        yield
    finally:
        _Guard.inside -= 1

"""A process that works on records has nobody to talk to: inside `no_network` it cannot."""

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_REACHING_OUT = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.bind"})


class _Guard:
    """The process's one audit hook, which can't be taken away again; it refuses while `inside` is not 0."""

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
    """Refuse every connection and name lookup that Python code of this process attempts meanwhile.

    A store's own connection is its driver's, made in C, and stays. Pipes and Unix sockets stay too.
    """
    if not _Guard.installed:
        sys.addaudithook(_Guard.hook)
        _Guard.installed = True
    _Guard.inside += 1
    try:
        yield
    finally:
        _Guard.inside -= 1

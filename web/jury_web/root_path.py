"""The path of a proxy below which the server is reached, as `/jury`: requests lose it, and addresses in answers get it.

Inside of it every path is that of the server itself. A proxy may pass the path on, or take it off.
"""

import re
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Annotated

from pydantic import PlainSerializer
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jury_events.errors import InputError


class ServeRefused(InputError):
    """The server cannot be started as it is asked to be."""


_root: ContextVar[str] = ContextVar("root_path", default="")
_ADDRESS = re.compile(r'(?<=\s)((?:href|action|src|data-live)=")(?=/)')


def rooted(path: str) -> str:
    """The address of a path of the server, as the client of this request reaches it."""
    return f"{_root.get()}{path}"


def rooted_html(page: str) -> str:
    """A page whose links lead to addresses. Its texts have no quotation marks of their own: they are escaped."""
    root = _root.get()
    return _ADDRESS.sub(lambda found: f"{found.group(1)}{root}", page) if root else page


RootedPath = Annotated[str, PlainSerializer(rooted, return_type=str)]
"""A path of the server in an answer."""


def check_root(root: str, paths: Iterable[str]) -> None:
    """Refuse a root that begins as a path of the server does: nothing would show whether a proxy took it off."""
    first = root[1:].partition("/")[0]
    if root and any(path[1:].partition("/")[0] == first for path in paths):
        raise ServeRefused(f"--root-path {root}: the server has paths of its own below /{first}; choose another path")


class RootPathMiddleware:
    """Takes the path of a proxy off requests, and sets it before redirections; answers set it by `rooted`."""

    def __init__(self, app: ASGIApp, root: str) -> None:
        self._app = app
        self._root = root

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        path: str = scope["path"]
        if path == self._root or path.startswith(f"{self._root}/"):
            scope = {**scope, "path": path.removeprefix(self._root) or "/"}

        async def send_rooted(message: Message) -> None:
            if message["type"] in {"http.response.start", "websocket.http.response.start"}:
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                if headers.get("location", "").startswith("/"):
                    headers["location"] = rooted(headers["location"])
                message["headers"] = headers.raw
            await send(message)

        _root.set(self._root)  # of the task of this request
        await self._app(scope, receive, send_rooted)

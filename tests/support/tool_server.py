"""A server on loopback in place of a tool's own: it takes everything, and keeps what it was sent."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from support.loopback import Reply, Sent, http_server


class ToolServer:
    """What was sent, in order; `answers` are the bodies of answers by the beginning of the path, or give one."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self.sent: list[Sent] = []
        self.url = ""

    def to(self, path: str) -> list[Sent]:
        """What was sent to paths that begin so."""
        return [one for one in self.sent if one.path.startswith(path)]

    def answer(self, sent: Sent) -> Reply:
        """One request."""
        self.sent.append(sent)
        found = next((value for path, value in self.answers.items() if sent.path.startswith(path)), {})
        return Reply(200, json.dumps(found(sent) if callable(found) else found).encode(), "application/json")


@contextmanager
def tool_server(answers: dict[str, Any] | None = None) -> Iterator[ToolServer]:
    """Served while the context lasts; without an answer of its own a path gets `{}`."""
    kept = ToolServer(answers or {})
    with http_server(kept.answer, kept_alive=True) as port:
        kept.url = f"http://127.0.0.1:{port}"
        yield kept

"""A local HTTP server that speaks JSON: it records what it is sent, and answers as a test says."""

import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from support.loopback import Reply, Sent, http_server


class JsonRequest(NamedTuple):
    """A request; `query` has the last value of each name, `content` the body as it was sent."""

    method: str
    path: str
    query: dict[str, str]
    authorization: str | None
    body: Any
    headers: dict[str, str]
    content: bytes


class JsonAnswer(NamedTuple):
    """An answer; a body of bytes is sent as it is."""

    body: Any
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


class JsonServer:
    """What arrived, in order."""

    def __init__(self) -> None:
        self.port = 0
        self.requests: list[JsonRequest] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def json_server(
    answer: Callable[[JsonRequest], JsonAnswer], *, tls: ssl.SSLContext | None = None
) -> Iterator[JsonServer]:
    """A server while the context lasts; `answer` is called for each request, in a thread of its own."""
    served = JsonServer()

    def reply(sent: Sent) -> Reply:
        parts = urlsplit(sent.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        body = sent.json if sent.body else None
        authorization = sent.headers.get("authorization")
        request = JsonRequest(sent.method, parts.path, query, authorization, body, dict(sent.headers), sent.body)
        served.requests.append(request)
        answered = answer(request)
        content = answered.body if isinstance(answered.body, bytes) else json.dumps(answered.body).encode()
        return Reply(answered.status, content, "application/json", answered.headers)

    with http_server(reply, tls=tls) as port:
        served.port = port
        yield served

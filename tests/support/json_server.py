"""A local HTTP server that speaks JSON: it records what it is sent, and answers as a test says."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit


class JsonRequest(NamedTuple):
    """A request; `query` has the last value of each name."""

    method: str
    path: str
    query: dict[str, str]
    authorization: str | None
    body: Any
    headers: dict[str, str]


class JsonAnswer(NamedTuple):
    """An answer."""

    body: Any
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


class JsonServer:
    """What arrived, in order."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[JsonRequest] = []


@contextmanager
def json_server(answer: Callable[[JsonRequest], JsonAnswer]) -> Iterator[JsonServer]:
    """A server while the context lasts; `answer` is called for each request, in a thread of its own."""

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
            sent = json.loads(body) if body else None
            request = JsonRequest(
                self.command, parts.path, query, self.headers.get("authorization"), sent, dict(self.headers)
            )
            served.requests.append(request)
            answered = answer(request)
            content = json.dumps(answered.body).encode()
            self.send_response(answered.status)
            for name, value in (*answered.headers, ("content-type", "application/json")):
                self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _serve

        def log_message(self, *_args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = JsonServer(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

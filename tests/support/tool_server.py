"""A server on loopback in place of a tool's own: it takes everything, and keeps what it was sent."""

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Sent(NamedTuple):
    """One request."""

    method: str
    path: str
    body: bytes

    @property
    def json(self) -> Any:
        """Its body."""
        return json.loads(self.body)


class ToolServer:
    """What was sent, in order; `answers` are the bodies of answers by the beginning of the path, or give one."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self.sent: list[Sent] = []
        self.url = ""

    def to(self, path: str) -> list[Sent]:
        """What was sent to paths that begin so."""
        return [one for one in self.sent if one.path.startswith(path)]


@contextmanager
def tool_server(answers: dict[str, Any] | None = None) -> Iterator[ToolServer]:
    """Served while the context lasts; without an answer of its own a path gets `{}`."""
    kept = ToolServer(answers or {})

    class _Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            sent = Sent(self.command, self.path, body)
            kept.sent.append(sent)
            found = next((value for path, value in kept.answers.items() if self.path.startswith(path)), {})
            said = json.dumps(found(sent) if callable(found) else found).encode()
            with suppress(BrokenPipeError, ConnectionResetError):  # a client that was killed
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

        do_GET = do_POST = do_PUT = do_PATCH = _answer

        def log_message(self, *_arguments: Any) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    kept.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield kept
    finally:
        server.shutdown()
        server.server_close()
        thread.join(60)

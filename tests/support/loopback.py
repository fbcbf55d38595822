"""A small HTTP server on loopback, in a thread, whose answers are a function of what it is sent."""

import gzip
import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple


class Sent(NamedTuple):
    """A request; `path` with its query, `body` unpacked."""

    method: str
    path: str
    headers: Message
    body: bytes

    @property
    def json(self) -> Any:
        """Its body."""
        return json.loads(self.body)


class Reply(NamedTuple):
    """What is answered; without a `kind` no type is said."""

    status: int
    content: bytes = b""
    kind: str = "text/plain"
    headers: tuple[tuple[str, str], ...] = ()


class _Server(ThreadingHTTPServer):
    request_queue_size = 512


@contextmanager
def http_server(
    answer: Callable[[Sent], Reply], *, tls: ssl.SSLContext | None = None, kept_alive: bool = False
) -> Iterator[int]:
    """The port at which every request is answered, each in a thread of its own, or each connection if `kept_alive`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1" if kept_alive else "HTTP/1.0"

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            reply = answer(Sent(self.command, self.path, self.headers, body))
            own = (("content-type", reply.kind), ("content-length", str(len(reply.content))))[not reply.kind :]
            with suppress(BrokenPipeError, ConnectionResetError):  # a client that was killed
                self.send_response(reply.status)
                for name, value in (*reply.headers, *own):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply.content)

        do_GET = do_POST = do_PUT = do_PATCH = _serve

        def log_message(self, *_args: object) -> None:
            """Silent."""

    server = _Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = kept_alive
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def served(answer: Callable[[str, str, bytes], Reply]) -> Iterator[str]:
    """The URL at which `answer(path, content type, body)` answers every request."""
    with http_server(lambda sent: answer(sent.path, sent.headers["content-type"], sent.body)) as port:
        yield f"http://127.0.0.1:{port}"

"""A small HTTP server on loopback, in a thread."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import NamedTuple


class Reply(NamedTuple):
    """What is answered."""

    status: int
    content: bytes = b""
    kind: str = "text/plain"


@contextmanager
def served(answer: Callable[[str, str, bytes], Reply]) -> Iterator[str]:
    """The URL at which `answer(path, content type, body)` answers every POST."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            reply = answer(self.path, self.headers["content-type"], body)
            self.send_response(reply.status)
            self.send_header("content-type", reply.kind)
            self.send_header("content-length", str(len(reply.content)))
            self.end_headers()
            self.wfile.write(reply.content)

        def log_message(self, *arguments: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

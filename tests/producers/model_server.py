"""A local server that gives scripted answers in the protocols of OpenAI (chat, Responses), Anthropic and Gemini.

Each request gets the next answer, streamed as server-sent events where it asks for that; requests are kept. A POST to
any other path is kept and answered with an empty object, so that the server also receives what exporters send.
Standard library only.
"""

import gzip
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from answers import anthropic_messages, gemini_generate, openai_chat, openai_responses
from story import ANSWERS, Answer


@dataclass(frozen=True)
class Request:
    """A request that the server got; `body` is the decoded JSON, None if it is none."""

    method: str
    path: str
    headers: dict[str, str]
    content: bytes
    body: Any


Choose = Callable[[Request], Answer]


PROTOCOLS = {
    "/chat/completions": openai_chat,
    "/responses": openai_responses,
    "/v1/messages": anthropic_messages,
    ":generateContent": gemini_generate,
    ":streamGenerateContent": gemini_generate,
}
"""By the end of the path."""


class ModelServer:
    """Use as a context manager; listens on a free port of 127.0.0.1.

    Args:
        answers: given in this order; or a function of the request, for libraries whose order of requests is not fixed.

    Attributes:
        requests: all requests so far, in order.
        url: without a path; OpenAI's base URL is `url + "/v1"`, that of Anthropic and Gemini is `url`.
    """

    def __init__(self, answers: Iterable[Answer] | Choose = ANSWERS) -> None:
        self.requests: list[Request] = []
        self._lock = threading.Lock()
        self._answers = None if callable(answers) else iter(answers)
        self._choose = answers if callable(answers) else None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self}))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def received(self, path: str) -> list[Request]:
        """The requests whose path contains `path`."""
        return [one for one in self.requests if path in one.path]

    def keep(self, request: Request) -> int:
        """Keep a request; returns its number from 1."""
        with self._lock:
            self.requests.append(request)
            return len(self.requests)

    def answer(self, request: Request) -> Answer:
        """The answer to a request; raises LookupError if there is none left."""
        if self._choose is not None:
            return self._choose(request)
        assert self._answers is not None
        with self._lock:
            found = next(self._answers, None)
        if found is None:
            raise LookupError(f"no scripted answer is left for {request.method} {request.path}")
        return found


class _Handler(BaseHTTPRequestHandler):
    owner: ModelServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._keep()
        self._send(200, b'{"object": "list", "data": []}', "application/json")

    def do_POST(self) -> None:
        request, number = self._keep()
        path = request.path.partition("?")[0]
        protocol = next((one for ending, one in PROTOCOLS.items() if path.endswith(ending)), None)
        if protocol is None:
            protobuf = "protobuf" in request.headers.get("content-type", "")
            self._send(200, *((b"", "application/x-protobuf") if protobuf else (b"{}", "application/json")))
            return
        body = request.body if isinstance(request.body, dict) else {}
        try:
            whole, events = protocol(self.owner.answer(request), {"path": path, **body}, number)
        except LookupError as error:
            self._send(500, json.dumps({"error": {"message": str(error)}}).encode(), "application/json")
            return
        if body.get("stream") is True or path.endswith(":streamGenerateContent"):
            self._send(200, "".join(_event(*one) for one in events).encode(), "text/event-stream")
        else:
            self._send(200, json.dumps(whole).encode(), "application/json")

    do_PUT = do_PATCH = do_POST

    def _keep(self) -> tuple[Request, int]:
        headers = {name.lower(): value for name, value in self.headers.items()}
        content = b"".join(self._chunks()) if "transfer-encoding" in headers else self._sized(headers)
        if headers.get("content-encoding") == "gzip":
            content = gzip.decompress(content)
        try:
            body = json.loads(content)
        except ValueError:
            body = None
        request = Request(self.command, self.path, headers, content, body)
        return request, self.owner.keep(request)

    def _sized(self, headers: dict[str, str]) -> bytes:
        return self.rfile.read(int(headers.get("content-length", 0)))

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _send(self, status: int, content: bytes, media_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (the base class's name)
        """Nothing is logged: `requests` has it."""


def _event(name: str | None, data: Any) -> str:
    text = data if isinstance(data, str) else json.dumps(data)
    return ("" if name is None else f"event: {name}\n") + f"data: {text}\n\n"

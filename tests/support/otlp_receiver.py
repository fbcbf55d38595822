"""A local receiver of OTLP over HTTP, as a collector is."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class ReceivedSpan(NamedTuple):
    """A span as it arrived; ids are bytes, `parent` is empty for a root."""

    trace: bytes
    id: bytes
    parent: bytes
    name: str
    kind: int
    start: int
    end: int
    status: int
    attributes: dict[str, Any]
    service: str


class OtlpReceiver:
    """What arrived; answers with `status`, `headers` and `content`."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.status = 200
        self.headers: dict[str, str] = {}
        self.content = b""
        self.bodies: list[bytes] = []
        self.paths: list[str] = []

    @property
    def spans(self) -> list[ReceivedSpan]:
        """All spans, in the order of their arrival."""
        found = []
        for body in self.bodies:
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                service = {one.key: one.value.string_value for one in resource.resource.attributes}["service.name"]
                for scope in resource.scope_spans:
                    found += [_received(span, service) for span in scope.spans]
        return found


def _received(span: Any, service: str) -> ReceivedSpan:
    return ReceivedSpan(
        span.trace_id,
        span.span_id,
        span.parent_span_id,
        span.name,
        span.kind,
        span.start_time_unix_nano,
        span.end_time_unix_nano,
        span.status.code,
        {one.key: _value(one.value) for one in span.attributes},
        service,
    )


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return tuple(_value(one) for one in value.array_value.values)
    return getattr(value, kind)


@contextmanager
def otlp_receiver() -> Iterator[OtlpReceiver]:
    """A receiver while the context lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            zipped = self.headers.get("content-encoding") == "gzip"
            if receiver.status == 200:
                receiver.bodies.append(gzip.decompress(body) if zipped else body)
                receiver.paths.append(self.path)
            self.send_response(receiver.status)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(receiver.content)))
            self.end_headers()
            self.wfile.write(receiver.content)

        def log_message(self, *_args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = OtlpReceiver(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

"""A local receiver of OTLP over HTTP, as a collector is."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from support.loopback import Reply, Sent, http_server


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

    def __init__(self) -> None:
        self.url = ""
        self.status = 200
        self.headers: dict[str, str] = {}
        self.content = b""
        self.bodies: list[bytes] = []
        self.paths: list[str] = []

    def answer(self, sent: Sent) -> Reply:
        """One export."""
        if self.status == 200:
            self.bodies.append(sent.body)
            self.paths.append(sent.path)
        return Reply(self.status, self.content, "", tuple(self.headers.items()))

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
    receiver = OtlpReceiver()
    with http_server(receiver.answer) as port:
        receiver.url = f"http://127.0.0.1:{port}"
        yield receiver

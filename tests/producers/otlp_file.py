"""What a collector's file exporter writes of a program's spans and log records: OTLP as JSON, a line a batch.

The official encoder makes the protobuf messages, protobuf writes their JSON; ids are hexadecimal, as OTLP asks. The
line of log records comes first, as a program exports an answer's events before its span ends.
"""

import base64
import json
import re
import sys
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk import _logs
from opentelemetry.sdk._logs import export as log_exports
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

_FOLDERS = {
    str(Path(__file__).parent): "/home/user/shop",
    str(Path(sys.argv[0]).resolve().parent.parent): "/home/user/shop",
    '"shared/': '"/home/user/shop/',  # the shared modules as `rewrite.py` gives them
    sys.prefix: "/home/user/venv",
    sys.base_prefix: "/usr",
}
"""Of this machine, and as the files name them: spans have the places of code."""

_PORT = re.compile(r'(127\.0\.0\.1:|"server\.port","value":\{"intValue":")\d+')
"""Of the local server: another one each time."""

_TRACE = re.compile(r"\btrace_[0-9a-f]{32}\b")
"""Ids that the OpenAI Agents SDK draws."""

_OF_RESOURCE = ("service.name", "telemetry.")
"""What is kept of a resource; the rest is of this machine and process."""

_IDS = ("traceId", "spanId", "parentSpanId")
_RESOURCE = Resource({"service.name": "shop"})


class Telemetry:
    """Providers of traces and logs that keep what they get.

    Attributes:
        spans: as ended so far; a processor for providers that a tool makes itself is `processor`.
    """

    def __init__(self) -> None:
        self.spans = InMemorySpanExporter()
        self.processor = SimpleSpanProcessor(self.spans)
        # The exporter had another name before version 1.39 of the SDK.
        exporter: Any = getattr(log_exports, "InMemoryLogRecordExporter", None) or log_exports.InMemoryLogExporter
        self._records = exporter()
        self.tracers = TracerProvider(resource=_RESOURCE)
        self.tracers.add_span_processor(self.processor)
        self.loggers = _logs.LoggerProvider(resource=_RESOURCE)
        self.loggers.add_log_record_processor(log_exports.SimpleLogRecordProcessor(self._records))

    def conversation(self) -> Any:
        """A span around a program's whole conversation, as a web framework makes one for a request."""
        return self.tracers.get_tracer("shop").start_as_current_span("conversation")

    def write(self, path: Path) -> None:
        """Write a file of all that was kept, and forget it."""
        records, spans = self._records.get_finished_logs(), self.spans.get_finished_spans()
        messages = [encode_logs(records)] if records else []
        messages += [encode_spans(spans)] if spans else []
        self._records.clear()
        self.spans.clear()
        lines = [_hexadecimal(MessageToDict(one, use_integers_for_enums=True)) for one in messages]
        text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
        for folder, named in _FOLDERS.items():
            text = text.replace(folder, named)
        text = _TRACE.sub("trace_1", _PORT.sub(r"\g<1>80", text))
        path.write_text(text, encoding="utf-8")


def _hexadecimal(value: Any) -> Any:
    if isinstance(value, list):
        return [_hexadecimal(one) for one in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("resource"), dict):
        listed = value["resource"].get("attributes", [])
        kept = [one for one in listed if one["key"].startswith(_OF_RESOURCE)]
        value = {**value, "resource": {"attributes": kept}}
    return {
        key: base64.b64decode(one).hex() if key in _IDS and isinstance(one, str) else _hexadecimal(one)
        for key, one in value.items()
    }

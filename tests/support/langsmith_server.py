"""What LangSmith's server answers to an evaluation, kept in memory: datasets, examples, projects, runs and feedback.

Source: the requests of `langsmith` 0.15: `/datasets`, `/examples`, `/sessions`, `/runs/multipart` (each part is named
`post.ID`, `post.ID.outputs`, `patch.ID`, `feedback.ID` …), `/runs/batch` and `/feedback`.
"""

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import NAMESPACE_URL, uuid4, uuid5

from support.loopback import Sent

TENANT = str(uuid5(NAMESPACE_URL, "tenant"))
NOW = "2026-11-01T00:00:00+00:00"
_INGEST = {
    "use_multipart_endpoint": True,
    "size_limit": 100,
    "size_limit_bytes": 20_971_520,
    "scale_up_nthreads_limit": 16,
    "scale_up_qsize_trigger": 1000,
    "scale_down_nempty_trigger": 4,
}
_NAME = re.compile(rb'name="(post|patch|feedback)\.([0-9a-f-]{36})(?:\.(\w+))?"')


class LangSmithServer:
    """Its tables, by id."""

    def __init__(self) -> None:
        self.datasets: dict[str, dict[str, Any]] = {}
        self.examples: dict[str, dict[str, Any]] = {}
        self.projects: dict[str, dict[str, Any]] = {}
        self.runs: dict[str, dict[str, Any]] = {}
        self.feedback: dict[str, dict[str, Any]] = {}

    def answer(self, sent: Sent) -> Any:
        """The body of an answer; what is not known here is `{}`, as of a request whose answer is not read."""
        parts = urlsplit(sent.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        table, *rest = parts.path.strip("/").split("/")
        if sent.method == "GET":
            return self._read(table, rest, query)
        if sent.method == "POST":
            return self._write(table, rest, sent)
        return {**self.projects[rest[0]], **sent.json} if (sent.method, table) == ("PATCH", "sessions") else {}

    def _read(self, table: str, rest: list[str], query: dict[str, str]) -> Any:
        if table == "info":
            return {"version": "0.10.0", "batch_ingest_config": _INGEST}
        if table == "datasets":
            found = [one for one in self.datasets.values() if one["name"] == query.get("name")]
            return self.datasets[rest[0]] if rest else found
        if table == "examples":
            of_dataset = [one for one in self.examples.values() if one["dataset_id"] == query["dataset"]]
            return of_dataset[int(query.get("offset", 0)) :]
        return {}

    def _write(self, table: str, rest: list[str], sent: Sent) -> Any:
        if table == "datasets":
            return _add(self.datasets, {"created_at": NOW, **sent.json})
        if table == "examples":
            return [_add(self.examples, {"created_at": NOW, **one}) for one in sent.json]
        if table == "sessions":
            return _add(self.projects, {"tenant_id": TENANT, "start_time": NOW, **sent.json})
        if table == "feedback":
            return _add(self.feedback, sent.json)
        if (table, rest) == ("runs", ["multipart"]):
            self._take(sent.body)
        elif (table, rest) == ("runs", ["batch"]):
            for one in (*sent.json.get("post", ()), *sent.json.get("patch", ())):
                self.runs.setdefault(one["id"], {}).update(one)
        return {}

    def _take(self, body: bytes) -> None:
        boundary = body.split(b"\r\n", 1)[0]
        for part in body.split(boundary):
            head, _, content = part.partition(b"\r\n\r\n")
            if (named := _NAME.search(head)) is None:
                continue
            kind, name, field = (None if one is None else one.decode() for one in named.groups())
            table = self.feedback if kind == "feedback" else self.runs
            value = json.loads(content)
            table.setdefault(str(name), {}).update(value if field is None else {field: value})


def _add(table: dict[str, dict[str, Any]], row: dict[str, Any]) -> dict[str, Any]:
    row = {**row, "id": row.get("id") or str(uuid4())}
    table[row["id"]] = row
    return row

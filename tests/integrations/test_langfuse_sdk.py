"""The pages of observations that the tests of `langfuse://` serve, read by Langfuse's own SDK: they have its shape."""

import json
from pathlib import Path

import pytest

from support.json_server import JsonAnswer, json_server
from support.tool_environment import python_tools

pytestmark = pytest.mark.full

RECORDED = json.loads((Path(__file__).parents[1] / "producers" / "langfuse" / "observations.json").read_text())["data"]
SDK = """
from langfuse.api import LangfuseAPI
import json, os

api = LangfuseAPI(base_url=os.environ["LANGFUSE_BASE_URL"], username="pk", password="sk")
page = api.observations.get_many(
    filter=json.dumps([{"type": "boolean", "column": "isRootObservation", "operator": "=", "value": True}]),
    fields="core", limit=100, cursor="2",
)
print(json.dumps([[one.id, one.trace_id] for one in page.data]), page.meta.cursor)
"""


def test_langfuses_own_sdk_reads_such_pages(tmp_path: Path) -> None:
    with json_server(lambda _request: JsonAnswer({"data": RECORDED[:2], "meta": {"cursor": "4"}})) as server:
        tool = python_tools()
        read = tool.call(tool.python, "-c", SDK, cwd=tmp_path, env={"LANGFUSE_BASE_URL": server.url}).out
    (request,) = server.requests

    assert json.dumps([[row["id"], row["traceId"]] for row in RECORDED[:2]]) + " 4" == read.strip()
    assert "/api/public/v2/observations" == request.path
    assert {"filter", "fields", "limit", "cursor"} == set(request.query)

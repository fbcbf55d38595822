"""The published JSON Schemas are those of the dataclasses of the reports."""

import json
from collections.abc import Callable
from typing import Any

import jsonschema

from jury_analysis import probe_schema, report_schema_text, value_schema
from support.each_row import each_row


@each_row(("name", "schema"), [("value", value_schema), ("probe", probe_schema)])
def test_the_published_schema_is_that_of_the_dataclasses(name: str, schema: Callable[[], dict[str, Any]]) -> None:
    written = json.dumps(schema(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"

    jsonschema.Draft202012Validator.check_schema(schema())
    assert written == report_schema_text(name), f"write analysis/jury_analysis/schema/{name}.schema.json"

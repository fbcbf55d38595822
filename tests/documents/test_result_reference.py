"""The reference page of results is made of their model; `pytest --update` writes it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from jury_views import DebateResult

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "results.md"
HEAD = """# Results

The result of a debate is one model: `Jury.evaluate` and `Records.result` return it, `jury show --json` prints it, MCP's
`show_debate` with `whole` has it, and `GET /api/debates/{debate_id}` answers it with the names in camelCase and the
`version` of the last event that was read. Result lines (`jury run --jsonl`) and [tables](../tables.md) have some of its
fields by the same names. In Python null is `None`.
"""


def test_the_page_is_that_of_the_model(request: pytest.FixtureRequest) -> None:
    schema = TypeAdapter(DebateResult).json_schema(by_alias=False, mode="serialization")
    models = {"DebateResult": schema, **dict(sorted(schema["$defs"].items()))}
    page = HEAD + "".join(line for name, one in models.items() for line in described(name, one))
    if request.config.getoption("update"):
        PAGE.write_text(page, encoding="utf-8")

    assert page == PAGE.read_text(encoding="utf-8"), "write it with pytest --update"


def described(name: str, model: Mapping[str, Any]) -> Iterator[str]:
    yield f"\n## {name}\n\n{' '.join(model.get('description', '').split())}\n"
    if "enum" in model:
        yield f"\nOne of {', '.join(f'`{one}`' for one in model['enum'])}.\n"
        return
    yield "\n| field | type | meaning |\n| --- | --- | --- |\n"
    for field, one in model["properties"].items():
        yield f"| `{field}` | {type_of(one)} | {one.get('description', '')} |\n"


def type_of(one: Mapping[str, Any]) -> str:
    if "$ref" in one:
        name = one["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in one:
        return " or ".join(type_of(each) for each in one["anyOf"])
    if "enum" in one:
        return ", ".join(f"`{each}`" for each in one["enum"])
    if one["type"] == "array":
        return f"list of {type_of(one['items'])}"
    if one["type"] == "object":
        return f"{type_of(one['additionalProperties'])} by name"
    return str(one["type"])

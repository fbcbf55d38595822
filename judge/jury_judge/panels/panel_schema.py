"""The JSON Schema of panel files, made from the models that read them when it is asked for."""

import ast
import inspect
import json
import re
import typing
from collections.abc import Iterable
from itertools import pairwise
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, create_model

from jury_debate.panel_spec import FinalSpec, JudgeSpec, PanelSpec, SeatSpec
from jury_judge.panels.redaction import RuleSpec
from jury_providers.endpoints import Endpoint


def panel_schema_text() -> str:
    """The schema as a file."""
    return json.dumps(panel_schema(), ensure_ascii=False, indent=1) + "\n"


def panel_schema() -> dict[str, Any]:
    """The JSON Schema of panel files: what an editor completes."""
    calibration = "A file of `jury calibrate`: from which agreement on a verdict may stand."
    seat, judge = _with_prompt_file(SeatSpec), _with_prompt_file(JudgeSpec)
    final = create_model(
        "FinalSpec",
        __base__=FinalSpec,
        __doc__=FinalSpec.__doc__,
        judge=(judge | None, None),
        calibration=(Annotated[str | None, Field(description=calibration)], None),
    )
    providers = Field(description="How models are reached, by the provider's name.")
    redact = Field(description="Rules for every text of a case, before any other use.")
    model = create_model(
        "PanelFile",
        __base__=PanelSpec,
        __doc__=PanelSpec.__doc__,
        seats=(list[seat], []),  # type: ignore[valid-type]
        final=(final, final()),
        providers=(Annotated[dict[str, Endpoint], providers], {}),
        redact=(Annotated[list[RuleSpec], redact], []),
    )
    schema = TypeAdapter(model).json_schema(mode="validation")
    said = field_docs(PanelSpec, Endpoint, RuleSpec)
    for name, one in {"PanelSpec": schema, **schema["$defs"]}.items():
        one["description"] = prose(one.get("description"))
        for field, described in one.get("properties", {}).items():
            text = described.get("description") or said.get(name, {}).get(field)
            if text is not None:
                described["description"] = text
            described.pop("title", None)
    _also_in_short(schema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Panel file"}


def _with_prompt_file(kind: type[SeatSpec] | type[JudgeSpec]) -> Any:
    """The model with the field that files have and the program replaces: a prompt in a file of its own."""
    in_a_file = "A plain text file with it, from the panel file's folder, of at most 1 MiB: in place of `prompt`."
    fields: dict[str, Any] = {"prompt_file": (Annotated[str | None, Field(description=in_a_file)], None)}
    return create_model(kind.__name__, __base__=kind, __doc__=kind.__doc__, **fields)


def _also_in_short(schema: dict[str, Any]) -> None:
    """What validators before the fields take too: `dialect: vllm`, `criteria: none`, `status: 429`."""
    text, number = {"type": "string"}, {"type": "integer"}
    definitions = schema["$defs"]
    for name in ("ChatDialect", "ScaleSpec", "StopSpec", "TextByLanguage"):
        whole = definitions.pop(name)
        definitions[f"{name}Table"] = whole
        definitions[name] = {"description": whole["description"], "anyOf": [text, {"$ref": f"#/$defs/{name}Table"}]}
    scale = definitions["ScaleSpecTable"]["properties"]
    listed = {"type": "array", "items": {"$ref": "#/$defs/TextByLanguage"}}
    for field, also in (
        (schema["properties"]["criteria"], {"const": "none"}),
        (scale["meanings"], listed),
        (scale["in_doubt"], number),
        (definitions["LabelSpec"]["properties"]["id"], number),
        (definitions["FailureRow"]["properties"]["status"], number),
        (definitions["CriterionSpec"]["properties"]["critical"], {"type": "boolean"}),
    ):
        kinds = {name: field.pop(name) for name in [*field] if name not in {"description", "default"}}
        field["anyOf"] = [*kinds.get("anyOf", [kinds]), also]


def prose(text: str | None) -> str:
    """A docstring in one paragraph a paragraph, without sections for programmers (`Args:`, `Raises:`)."""
    plain = re.split(r"\n\s*(?:Args|Raises|Attributes|Returns|Yields):", inspect.cleandoc(text or ""))[0]
    return "\n\n".join(" ".join(one.split()) for one in plain.split("\n\n"))


def field_docs(*kinds: type) -> dict[str, dict[str, str]]:
    """What docstrings say of each field of these classes and of those that their fields name, by class."""
    found: dict[str, dict[str, str]] = {}
    for kind in reached(kinds):
        try:
            (tree,) = ast.parse(inspect.cleandoc(f"\n{inspect.getsource(kind)}")).body
        except (OSError, TypeError, SyntaxError, ValueError):
            continue
        found[kind.__name__] = _attributes(inspect.getdoc(kind) or "") | _under_fields(tree)
    return found


def _attributes(docstring: str) -> dict[str, str]:
    """The section `Attributes:` of a docstring, by field."""
    section = docstring.partition("\nAttributes:\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^ {4}([\w, ]+): (.*(?:\n {8}.*)*)", section, re.MULTILINE)
    return {name.strip(): " ".join(text.split()) for names, text in rows for name in names.split(",")}


def _under_fields(tree: ast.stmt) -> dict[str, str]:
    return {
        field.target.id: " ".join(below.value.value.split())
        for field, below in pairwise(getattr(tree, "body", []))
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }


def reached(kinds: Iterable[Any]) -> list[type]:
    """The classes, with bases that have fields, and all classes that annotations of their fields name."""
    found: dict[type, None] = {}
    waiting = list(kinds)
    while waiting:
        kind = waiting.pop()
        waiting += typing.get_args(kind)
        if not isinstance(kind, type) or kind in found or not kind.__module__.startswith("jury_"):
            continue
        found[kind] = None
        waiting += typing.get_type_hints(kind, include_extras=True).values()
    return list(found)

"""What helps to write panel files: their JSON Schema, a file to start from, a critical look, and dialects written in.

Everything else in a file into which something is written stays as it is.
"""

import ast
import inspect
import json
import re
import typing
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import yaml
from pydantic import Field, TypeAdapter, create_model
from yaml.nodes import MappingNode, Node, ScalarNode

from jury_debate.errors import PanelError
from jury_debate.panel_spec import FinalSpec, JudgeSpec, PanelSpec, SeatSpec, read_spec
from jury_debate.presets import PRESETS
from jury_debate.resolved_panel import resolve
from jury_debate.scale_review import review_scale
from jury_debate.scale_spec import written_scale
from jury_events.bundled_scales import bundled_scale
from jury_events.named_files import read_named_text
from jury_events.panel import Language
from jury_judge.errors import PanelFileError
from jury_judge.panels.calibration_files import with_calibration, write_file
from jury_judge.panels.document import BUNDLED_PANELS, MAX_BYTES, InvalidYaml, read_document, read_yaml
from jury_judge.panels.files import field_in, with_prompts, written_spec
from jury_judge.panels.redaction import RuleSpec
from jury_judge.settings_model import readable_message
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


_HEAD = """\
# A panel that judges in the scale {name}. The labels go from worst to best; each comes to an outcome
# (fail, review, pass). Change the words and what they mean, then: jury panel --check FILE
"""


def scale_panel_text(name: str, language: Language) -> str:
    """A panel file with a bundled scale, its criteria and its question written out.

    Args:
        name: one of `BUNDLED_SCALES`.
        language: of the panel.
    """
    known = bundled_scale(name, language)
    panel = resolve(read_spec({"scale": name, "language": language})).panel
    whole = panel.model_copy(update={"scale": known.scale, "task": known.task})
    fields: dict[str, Any] = {"name": name, "language": language, **written_scale(whole)}
    return _HEAD.format(name=name) + yaml.safe_dump(fields, allow_unicode=True, sort_keys=False, width=120)


class CheckedPanel(NamedTuple):
    """What is to mend in the words of a panel file, a line each; `usable`: nothing of it has to be.

    `outside`: a line for each file that it names and that is not in its folder.
    """

    lines: tuple[str, ...]
    usable: bool
    outside: tuple[str, ...]


def check_panel_file(path: str) -> CheckedPanel:
    """Read a panel file critically: its labels, criteria and meanings."""
    document, _ = with_calibration(with_prompts(read_document(path, (*PRESETS, *BUNDLED_PANELS))), ())
    spec: PanelSpec = written_spec(document)
    try:
        panel = resolve(spec).panel
    except PanelError as error:
        message = readable_message(str(error))
        raise document.refused(field_in(message), message) from error
    found = review_scale(panel)
    lines = tuple(str(document.refused(field_in(f"{one.place}:"), f"{one.place}: {one.what}")) for one in found)
    return CheckedPanel(lines, all(one.kind == "noted" for one in found), document.outside)


PROVIDERS, DIALECT = "providers", "dialect"

Dialects = Mapping[str, Mapping[str, Any]]
"""The fields of `dialect` by provider."""


def write_dialects(path: str, dialects: Dialects) -> None:
    """Write `providers: NAME: {dialect: …}` of each provider into the panel file at `path`."""
    try:
        text = read_named_text(Path(path), MAX_BYTES)
        expected = read_yaml(text).data
        quoted = path.endswith(".json")
        for name, fields in dialects.items():
            text = _written(text, name, fields, quoted=quoted)
            # `providers:` and `NAME:` may stand there with nothing behind them.
            providers = expected[PROVIDERS] = expected.get(PROVIDERS) or {}
            providers[name] = {**(providers.get(name) or {}), DIALECT: read_yaml(_flow(fields, quoted=quoted)).data}
        if read_yaml(text).data != expected:
            raise PanelFileError(f"{path}: the lines cannot be written into it; write them yourself")
        write_file(Path(path), text.encode())
    except (OSError, ValueError, InvalidYaml) as error:
        raise PanelFileError(f"{path}: the lines cannot be written into it ({error}); write them yourself") from None


def shown(fields: Mapping[str, Any]) -> str:
    """The fields as a panel file has them: `dialect: {structured: json_object}`."""
    return f"{DIALECT}: {_flow(fields, quoted=False)}"


def _flow(value: Any, *, quoted: bool) -> str:
    if isinstance(value, Mapping):
        entries = (f"{_key(name, quoted=quoted)}: {_flow(inner, quoted=quoted)}" for name, inner in value.items())
        return f"{{{', '.join(entries)}}}"
    return value if isinstance(value, str) and not quoted else json.dumps(value)


def _key(name: str, *, quoted: bool) -> str:
    return json.dumps(name) if quoted else name


def _written(text: str, name: str, fields: Mapping[str, Any], *, quoted: bool) -> str:
    root = read_yaml(text).root
    providers = _value(root, PROVIDERS)
    endpoint = _value(providers, name)
    found = _value(endpoint, DIALECT)
    if found is not None:
        return text[: found.start_mark.index] + _flow(fields, quoted=quoted) + text[found.end_mark.index :]
    for node, entry in (
        (endpoint, {DIALECT: fields}),
        (providers, {name: {DIALECT: fields}}),
        (root, {PROVIDERS: {name: {DIALECT: fields}}}),
    ):
        if node is not None:
            return _with_entry(text, node, entry, quoted=quoted)
    raise PanelFileError("the file is empty; write the lines yourself")


def _value(node: Node | None, key: str) -> Node | None:
    if not isinstance(node, MappingNode):
        return None
    return next((value for name, value in node.value if name.value == key), None)


def _with_entry(text: str, node: Node, entry: Mapping[str, Any], *, quoted: bool) -> str:
    """The text with one more entry in a table: behind the others in braces, else before them on a line of its own."""
    flow = _flow(entry, quoted=quoted)
    if isinstance(node, ScalarNode) or not isinstance(node, MappingNode):  # `NAME:` with nothing behind it
        return f"{text[: node.start_mark.index]} {flow}{text[node.end_mark.index :]}"
    if node.flow_style:
        end = node.end_mark.index - 1
        before = text[:end].rstrip()
        return f"{before}{', ' if node.value else ''}{flow[1:-1]}{text[len(before) : end]}{text[end:]}"
    start = node.start_mark
    return f"{text[: start.index]}{flow[1:-1]}\n{' ' * start.column}{text[start.index :]}"

"""The artifact records of a case: what they count as, their summary, and the tools that read them.

A summary quotes records, which are judged text: the caller adds datamarks before a model sees it.

Names and parameters are those of document 002, `artifact_tools.py`. Results quote records and statements, which are
judged text: the caller adds datamarks before a model sees them.
"""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from jury_debate.datamark import visible
from jury_debate.prompts_1.prompts import Prompts
from jury_debate.prompts_1.texts import ArtifactTexts, fill
from jury_events.canonical import canonical_json
from jury_events.case import ArtifactRecord, Case
from jury_events.errors import EventError, JuryError
from jury_events.strict_json import MODEL_JSON, InvalidJson
from jury_events.text import is_blank
from jury_events.verdict import REVIEW

_GATE_PASSES = frozenset({"pass", "blocked"})
_GATE_FAILURES = frozenset({"fail", REVIEW.value})
_CARD_PASSES = frozenset({"pass"})

_GIST_NAMES = ("id", "promptId", "prompt_id", "scenarioId", "scenario_id", "caseId", "case_id", "skill", "name")
_GIST_REASONS = ("reason", "rationale", "verdict_reason", "error", "error_message", "message", "prompt", "prompt_text")
_GIST_LENGTH = 160
_FIRST_FAILURES = 3


def gate_failures(records: Sequence[ArtifactRecord], *, include_errors: bool = True) -> list[ArtifactRecord]:
    """Failed Security Gate records, in order; errors, cases not executed and unknown verdicts with `include_errors`."""
    if include_errors:
        return [record for record in records if record.verdict not in _GATE_PASSES]
    return [record for record in records if record.verdict in _GATE_FAILURES]


def gate_passes(records: Sequence[ArtifactRecord]) -> list[ArtifactRecord]:
    """Passed Security Gate records, in order; a blocked attack is a pass."""
    return [record for record in records if record.verdict in _GATE_PASSES]


def card_failures(records: Sequence[ArtifactRecord]) -> list[ArtifactRecord]:
    """Agent Card Accuracy records that did not pass, in order."""
    return [record for record in records if record.verdict not in _CARD_PASSES]


def card_passes(records: Sequence[ArtifactRecord]) -> list[ArtifactRecord]:
    """Passed Agent Card Accuracy records, in order."""
    return [record for record in records if record.verdict in _CARD_PASSES]


def record_object(record: ArtifactRecord) -> dict[str, Any]:
    """The decoded record; `{"text": …}` around content that is not a JSON object."""
    try:
        value = json.loads(record.content, parse_constant=_not_json)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"text": record.content}


def _not_json(word: str) -> None:
    raise ValueError(word)


def generate_evaluation_summary(
    sg_records: Sequence[ArtifactRecord], aca_records: Sequence[ArtifactRecord], prompts: Prompts
) -> str:
    """Both reports in a few lines each: counts by verdict, the pass rate, and the first failures.

    Document 002, `artifact_tools.py`. Without datamarks; ends without a line break.
    """
    texts = prompts.texts.artifacts
    gate = _report(texts.gate_summary, sg_records, gate_failures(sg_records), texts)
    card = _report(texts.card_summary, aca_records, card_failures(aca_records), texts)
    return "\n\n".join(["\n".join(gate), "\n".join(card)])


def _report(
    heading: str, records: Sequence[ArtifactRecord], failures: Sequence[ArtifactRecord], texts: ArtifactTexts
) -> list[str]:
    lines = [fill(heading, total=len(records))]
    if not records:
        return lines
    counted = Counter(record.verdict for record in records)
    counts = texts.count_separator.join(
        fill(texts.count, verdict=_verdict(verdict, texts), number=number)
        for verdict, number in sorted(counted.items())
    )
    passed = len(records) - len(failures)
    lines.append(fill(texts.counts, counts=counts))
    lines.append(fill(texts.pass_rate, percent=_percent(passed, len(records)), passed=passed, total=len(records)))
    if failures:
        first = failures[:_FIRST_FAILURES]
        lines.append(fill(texts.first_failures, total=len(failures), shown=len(first)))
        lines += [
            fill(texts.failure, verdict=_verdict(record.verdict, texts), gist=_gist(record) or texts.no_gist)
            for record in first
        ]
    return lines


def _verdict(verdict: str, texts: ArtifactTexts) -> str:
    return _one_line(verdict) or texts.no_verdict


def _percent(part: int, whole: int) -> str:
    """`part` of `whole` in percent with one decimal, halves up."""
    tenths = (2000 * part + whole) // (2 * whole)
    return f"{tenths // 10}.{tenths % 10}"


def _gist(record: ArtifactRecord) -> str:
    """The record's id and the reason of its failure, on one line; "" if it has neither."""
    members = record_object(record)
    found = (_first(members, _GIST_NAMES), _first(members, _GIST_REASONS))
    gist = ": ".join(text for text in found if text)
    return gist if len(gist) <= _GIST_LENGTH else gist[: _GIST_LENGTH - 1] + "…"


def _first(members: dict[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        value = members.get(name)
        if isinstance(value, str) and not is_blank(value):
            return _one_line(value)
    return ""


def _one_line(text: str) -> str:
    return visible(" ".join(text.split()))


MAX_RECORDS = 100
"""The most records that one tool call returns."""

OPINIONS_TOOL = "get_other_juror_opinions"


class UnusableArguments(JuryError):
    """The arguments of a tool call are invalid; the message names the remedy for the model."""


class ToolSpec(NamedTuple):
    """The definition of a tool for a provider; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


class ToolAnswer(NamedTuple):
    """The result of a tool call: canonical JSON text, and whether the call was valid."""

    result_text: str
    ok: bool


class Parameter(NamedTuple):
    """One parameter; `kind` is its JSON schema type, `default` the value if it is omitted."""

    name: str
    kind: str
    default: int | bool | None


TOOLS: dict[str, tuple[Parameter, ...]] = {
    "fetch_security_gate_failures": (
        Parameter("max_records", "integer", 10),
        Parameter("include_errors", "boolean", default=True),
    ),
    "fetch_security_gate_passes": (Parameter("max_records", "integer", 5),),
    "fetch_agent_card_failures": (Parameter("max_records", "integer", 10),),
    "fetch_agent_card_passes": (Parameter("max_records", "integer", 5),),
    OPINIONS_TOOL: (Parameter("exclude_juror_id", "string", None),),
}
"""The five tools of document 002, with their parameters."""


def tool_names(*, opinions: bool) -> tuple[str, ...]:
    """The offered tools; other jurors' opinions only in a discussion."""
    return tuple(name for name in TOOLS if opinions or name != OPINIONS_TOOL)


def tool_definitions(prompts: Prompts, *, opinions: bool) -> tuple[ToolSpec, ...]:
    """The offered tools, described in the language of the prompts."""
    return tuple(_definition(name, prompts) for name in tool_names(opinions=opinions))


def _definition(name: str, prompts: Prompts) -> ToolSpec:
    text = prompts.tool(name)
    properties: dict[str, Any] = {}
    for parameter in TOOLS[name]:
        schema: dict[str, Any] = {"type": parameter.kind, "description": text.parameters[parameter.name]}
        if parameter.kind == "integer":
            schema |= {"minimum": 0, "maximum": MAX_RECORDS}
        properties[parameter.name] = schema
    return ToolSpec(
        name,
        text.description,
        {"type": "object", "properties": properties, "required": [], "additionalProperties": False},
    )


def call_tool(
    name: str, arguments_json: str, case: Case, opinions: Sequence[dict[str, Any]] | None = None
) -> ToolAnswer:
    """Answer a model's tool call with `{count, total, records}`, or with an `error` that names the remedy.

    Raises nothing, whatever the model sent. `total` counts all matches, `count` those returned.

    Args:
        name: as the model wrote it.
        arguments_json: as the model wrote them; blank is no arguments.
        opinions: of the other jurors, as this step may see them, each with its letter as `juror`; None where the tool
            is not offered.
    """
    offered = tool_names(opinions=opinions is not None)
    if name not in offered:
        return _error(f"there is no such tool; call one of {', '.join(offered)}, or answer without tools")
    try:
        arguments = _arguments(name, arguments_json)
    except UnusableArguments as error:
        return _error(f"{error}; call {name} again with corrected arguments, or answer without it")
    if name == OPINIONS_TOOL:
        return _opinions(opinions or (), arguments["exclude_juror_id"])
    gate, card = case.security_gate_records, case.agent_card_records
    if name == "fetch_security_gate_failures":
        found = gate_failures(gate, include_errors=arguments["include_errors"])
    elif name == "fetch_security_gate_passes":
        found = gate_passes(gate)
    elif name == "fetch_agent_card_failures":
        found = card_failures(card)
    else:
        found = card_passes(card)
    return _records([_record_text(record) for record in found[: arguments["max_records"]]], len(found))


def _error(message: str) -> ToolAnswer:
    return ToolAnswer(canonical_json({"error": message}).decode("utf-8"), ok=False)


def _records(texts: list[str], total: int) -> ToolAnswer:
    # Records are canonical JSON already: joining them stays canonical, at any nesting depth.
    return ToolAnswer(f'{{"count":{len(texts)},"records":[{",".join(texts)}],"total":{total}}}', ok=True)


def _opinions(opinions: Sequence[dict[str, Any]], exclude: str | None) -> ToolAnswer:
    shown = [opinion for opinion in opinions if exclude is None or opinion.get("juror") != exclude]
    return _records([canonical_json(opinion).decode("utf-8") for opinion in shown], len(opinions))


def _record_text(record: ArtifactRecord) -> str:
    try:
        return canonical_json(record_object(record)).decode("utf-8")
    except EventError:
        return canonical_json({"text": record.content}).decode("utf-8")


def _arguments(name: str, arguments_json: str) -> dict[str, Any]:
    try:
        given = MODEL_JSON.whole(arguments_json) if arguments_json.strip() else {}
    except InvalidJson as error:
        raise UnusableArguments(f"the arguments are not strict JSON: {error}") from error
    if not isinstance(given, dict):
        raise UnusableArguments("the arguments must be a JSON object")
    parameters = {parameter.name: parameter for parameter in TOOLS[name]}
    if not given.keys() <= parameters.keys():
        raise UnusableArguments(f"an argument is unknown; {name} takes {', '.join(parameters)}")
    return {
        parameter.name: _argument(parameter, given[parameter.name]) if parameter.name in given else parameter.default
        for parameter in parameters.values()
    }


def _argument(parameter: Parameter, value: Any) -> Any:
    if parameter.kind == "integer":
        if type(value) is not float or not value.is_integer() or not 0 <= value <= MAX_RECORDS:
            raise UnusableArguments(f"{parameter.name} must be a whole number from 0 to {MAX_RECORDS}")
        return int(value)
    if parameter.kind == "boolean":
        if type(value) is not bool:
            raise UnusableArguments(f"{parameter.name} must be true or false")
        return value
    if value is not None and type(value) is not str:
        raise UnusableArguments(f"{parameter.name} must be a string or null")
    return value

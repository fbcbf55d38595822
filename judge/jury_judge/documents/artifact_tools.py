"""Document 002's `artifact_tools.py`: the jurors' tools as a Python API.

Names, parameters and results are those of the jurors' tools (`jury_debate.artifacts`). Beside them are the cases that
are made of the arguments of the documents' classes.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from jury_cases.artifact_sources import ArtifactSources
from jury_cases.case_of_row import artifact_record
from jury_debate import artifacts
from jury_debate.artifacts import OPINIONS_TOOL, ToolSpec, call_tool, tool_definitions
from jury_debate.prompts_registry import PROMPTS_VERSION, load_prompts
from jury_events.case import ArtifactKind, ArtifactRecord, Case, ExecutionResult, QuestionSpec, Scenario
from jury_events.errors import SettingError
from jury_events.panel import Language
from jury_events.text import condensed

Records = Sequence[Mapping[str, Any]]
"""Decoded JSONL records; each has a `verdict`."""


@dataclass
class ArtifactContext:
    """The records of a case, as a URI or path, or as decoded records, which take precedence."""

    security_gate_uri: str | os.PathLike[str] | None = None
    agent_card_uri: str | os.PathLike[str] | None = None
    security_gate_records: Records | None = None
    agent_card_records: Records | None = None


class ArtifactToolsWithContext:
    """The five tools over the records of a context.

    Args:
        context: the records; its URIs are read at the first call that needs them.
        juror_opinions: for `get_other_juror_opinions`: evaluations or mappings of their fields, by juror id.
        allowed_hosts: hosts of `http(s):` URIs.
        artifact_roots: folders of record files; None allows any.
    """

    def __init__(
        self,
        context: ArtifactContext,
        juror_opinions: Mapping[str, Any] | None = None,
        *,
        allowed_hosts: frozenset[str] = frozenset(),
        artifact_roots: Iterable[str | os.PathLike[str]] | None = None,
    ) -> None:
        self.context = context
        self.juror_opinions: dict[str, Any] = dict(juror_opinions or {})
        roots = None if artifact_roots is None else [Path(root) for root in artifact_roots]
        self._sources = ArtifactSources(Path(), allowed_hosts, roots=roots)

    def fetch_security_gate_failures(self, max_records: int = 10, include_errors: bool = True) -> dict[str, Any]:
        """Failed Security Gate records, as `{count, total, records}`.

        Args:
            max_records: the most records, 0 to 100.
            include_errors: include records of tests that could not be executed.
        """
        return self._call(
            "fetch_security_gate_failures", "security_gate", max_records=max_records, include_errors=include_errors
        )

    def fetch_security_gate_passes(self, max_records: int = 5) -> dict[str, Any]:
        """Passed Security Gate records; see `fetch_security_gate_failures`."""
        return self._call("fetch_security_gate_passes", "security_gate", max_records=max_records)

    def fetch_agent_card_failures(self, max_records: int = 10) -> dict[str, Any]:
        """Agent Card Accuracy records that did not pass; see `fetch_security_gate_failures`."""
        return self._call("fetch_agent_card_failures", "agent_card", max_records=max_records)

    def fetch_agent_card_passes(self, max_records: int = 5) -> dict[str, Any]:
        """Passed Agent Card Accuracy records; see `fetch_security_gate_failures`."""
        return self._call("fetch_agent_card_passes", "agent_card", max_records=max_records)

    def get_other_juror_opinions(self, exclude_juror_id: str | None = None) -> dict[str, Any]:
        """The other jurors' opinions, as `{count, total, records}`; each record names its `juror`."""
        return self._call(OPINIONS_TOOL, None, exclude_juror_id=exclude_juror_id)

    def _call(self, name: str, kind: ArtifactKind | None, **arguments: Any) -> dict[str, Any]:
        found = {} if kind is None else {f"{kind}_records": self._records(kind)}
        opinions = [{"juror": juror_id, **_fields(opinion)} for juror_id, opinion in self.juror_opinions.items()]
        answer = call_tool(name, json.dumps(arguments), _RECORDS_ONLY.changed(**found), opinions)
        result: dict[str, Any] = json.loads(answer.result_text)
        if not answer.ok:
            raise SettingError(f"{name}: {result['error']}")
        return result

    def _records(self, kind: ArtifactKind) -> tuple[ArtifactRecord, ...]:
        records = getattr(self.context, f"{kind}_records")
        uri = getattr(self.context, f"{kind}_uri")
        if records is None and uri is not None:
            return self._sources.records(os.fspath(uri))
        return records_of(records, f"{kind}_records")


def generate_evaluation_summary(
    sg_records: Records | None, aca_records: Records | None, *, language: Language = "ja"
) -> str:
    """A summary of both reports: counts by verdict, the pass rate, and the first failures."""
    return artifacts.generate_evaluation_summary(
        records_of(sg_records, "sg_records"),
        records_of(aca_records, "aca_records"),
        load_prompts(PROMPTS_VERSION, language),
    )


def records_of(records: Records | None, name: str) -> tuple[ArtifactRecord, ...]:
    """The records as values of a case."""
    return tuple(artifact_record(_plain(record), f"{name}.{index}") for index, record in enumerate(records or ()))


def _fields(opinion: Any) -> Mapping[str, Any]:
    return asdict(opinion) if is_dataclass(opinion) and not isinstance(opinion, type) else opinion


def _plain(record: Any) -> Any:
    return dict(record) if isinstance(record, Mapping) else record


def get_openai_tools(language: Language = "ja") -> list[dict[str, Any]]:
    """The five tools for OpenAI's function calling (`tools` of Chat Completions)."""
    return _tools(language, lambda tool: {"type": "function", "function": tool._asdict()})


def get_anthropic_tools(language: Language = "ja") -> list[dict[str, Any]]:
    """The five tools for Anthropic's tool use (`tools` of Messages)."""
    return _tools(
        language,
        lambda tool: {"name": tool.name, "description": tool.description, "input_schema": tool.parameters},
    )


def _tools(language: Language, declaration: Callable[[ToolSpec], dict[str, Any]]) -> list[dict[str, Any]]:
    return [declaration(tool) for tool in tool_definitions(load_prompts(PROMPTS_VERSION, language), opinions=True)]


_RECORDS_ONLY = Case(
    case_id="none",
    scenarios=(Scenario(scenario_id="none", question=QuestionSpec(prompt=""), execution=ExecutionResult()),),
)
"""A case for tools that read only its records."""


Question = QuestionSpec | str
Execution = ExecutionResult | str
ScenarioLike = Scenario | tuple[Question, Execution]

V = TypeVar("V", QuestionSpec, ExecutionResult)

DEFAULT_CASE_ID = "evaluation"

NO_ARTIFACTS = ArtifactContext()


def scenario_of(question: Question, execution: Execution, *, number: int = 1, place: str = "") -> Scenario:
    """A question with its execution, as the scenario of this number; `place` begins the messages of errors."""
    asked = _read(QuestionSpec, "prompt", question, f"{place}question")
    done = _read(ExecutionResult, "response", execution, f"{place}execution")
    if not (asked.prompt.strip() or done.response.strip() or len(done.transcript) or done.error):
        raise SettingError(
            f"{place}question: it is empty, and so is the execution; give a prompt, or a response, a transcript or an "
            "error"
        )
    return Scenario(scenario_id=f"scenario-{number}", question=asked, execution=done)


def scenarios_of(given: Sequence[Any]) -> list[Scenario]:
    """Several scenarios: each a pair of question and execution (`scenario-1` …), or a `Scenario`."""
    if not given:
        raise SettingError("scenarios: empty; give at least one")
    listed = []
    for index, one in enumerate(given):
        if isinstance(one, Scenario):
            listed.append(one)
        elif isinstance(one, tuple | list) and len(one) == 2:  # noqa: PLR2004  (question, execution)
            listed.append(scenario_of(*one, number=index + 1, place=f"scenarios.{index}."))
        else:
            raise SettingError(
                f"scenarios.{index}: must be (question, execution) or a Scenario, not a {type(one).__name__}"
            )
    return listed


def judged_case(
    scenarios: Sequence[Scenario],
    artifacts: ArtifactContext | None = None,
    *,
    summary: str | None = None,
    case_id: str | None = None,
) -> Case:
    """The case of a call of the documents' classes.

    Args:
        summary: shown to jurors instead of a generated summary of the records.
    """
    artifacts = artifacts or NO_ARTIFACTS
    gate, card = artifacts.security_gate_records, artifacts.agent_card_records
    try:
        return Case(
            case_id=case_id or DEFAULT_CASE_ID,
            scenarios=tuple(scenarios),
            security_gate_records=records_of(gate, "security_gate_records"),
            agent_card_records=records_of(card, "agent_card_records"),
            security_gate_uri=_uri(artifacts.security_gate_uri) if gate is None else None,
            agent_card_uri=_uri(artifacts.agent_card_uri) if card is None else None,
            artifact_summary=summary or None,
        )
    except ValidationError as error:
        raise SettingError(condensed(error)) from error


def _read(model: type[V], field: str, given: Any, place: str) -> V:
    if isinstance(given, model):
        return given
    if not isinstance(given, str):
        raise SettingError(f"{place}: must be text or of {model.__name__}, not of {type(given).__name__}")
    try:
        return model.model_validate({field: given})
    except ValidationError as error:
        raise SettingError(f"{place}.{condensed(error)}") from error


def _uri(uri: str | os.PathLike[str] | None) -> str | None:
    return None if uri is None else os.fspath(uri)

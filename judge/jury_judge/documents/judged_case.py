"""Cases that are made of the arguments of the documents' classes."""

import os
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from jury_events.case import Case, ExecutionResult, QuestionSpec, Scenario
from jury_events.errors import SettingError
from jury_events.text import condensed
from jury_judge.documents.artifact_tools import ArtifactContext, records_of

Question = QuestionSpec | str
Execution = ExecutionResult | str
ScenarioLike = Scenario | tuple[Question, Execution]

V = TypeVar("V", QuestionSpec, ExecutionResult)

DEFAULT_CASE_ID = "evaluation"

NO_ARTIFACTS = ArtifactContext()


def scenario_of(question: Question, execution: Execution, *, number: int = 1, place: str = "") -> Scenario:
    """A question with its execution, as the scenario of this number; `place` begins the messages of errors.

    Raises:
        SettingError: one is neither text nor a model, or both are empty.
    """
    asked = _read(QuestionSpec, "prompt", question, f"{place}question")
    done = _read(ExecutionResult, "response", execution, f"{place}execution")
    if not (asked.prompt.strip() or done.response.strip() or len(done.transcript) or done.error):
        raise SettingError(
            f"{place}question: it is empty, and so is the execution; give a prompt, or a response, a transcript or an "
            "error"
        )
    return Scenario(scenario_id=f"scenario-{number}", question=asked, execution=done)


def scenarios_of(given: Sequence[Any]) -> list[Scenario]:
    """Several scenarios: each a pair of question and execution (`scenario-1` …), or a `Scenario`.

    Raises:
        SettingError: there is none, one is neither, or a field is not valid.
    """
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
        scenarios: one or several.
        artifacts: records, or their URIs.
        summary: shown to jurors instead of a generated summary of the records.
        case_id: its id in lists.

    Raises:
        SettingError: the id, or another field, is not valid.
        CaseFileError: a record is not an object.
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

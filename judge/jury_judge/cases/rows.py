"""One decoded row as a case: Jury Judge's own form, or a transcript or question and answer of another system."""

from typing import Any

from pydantic import ValidationError

from jury_events.case import ArtifactKind, ArtifactRecord, Case, ExecutionResult, QuestionSpec, Scenario
from jury_events.errors import EventError
from jury_events.verdict import Verdict
from jury_judge.cases.columns import Columns
from jury_judge.cases.transcripts import first_prompt, json_kind, last_answer, read_messages, split_system, text_of
from jury_judge.errors import CaseFileError, condensed
from jury_judge.views.visible_text import visible_line

_OF_ONE_SCENARIO = ("question", "policy", "expected_behavior", "response", "messages", "execution", "scenario_id")


def read_case(columns: Columns, *, default_id: str) -> Case:
    """The case of a row, without the records that a URI leads to. A row without an id has `default_id`.

    Raises:
        CaseFileError: `field: what is wrong with it`.
    """
    scenarios = _scenarios(columns)
    try:
        return Case(
            case_id=_case_id(columns, default_id),
            scenarios=scenarios,
            security_gate_records=_records(columns, "security_gate"),
            agent_card_records=_records(columns, "agent_card"),
            security_gate_uri=columns.value("security_gate_uri"),
            agent_card_uri=columns.value("agent_card_uri"),
            label=_label(columns),
        )
    except ValidationError as error:
        raise CaseFileError(condensed(error)) from error


def _case_id(columns: Columns, default_id: str) -> str:
    found = columns.value("case_id")
    if found is None:
        if columns.mapped("case_id"):
            raise CaseFileError(f"case_id: {columns.fields['case_id']!r} is null; every case needs an id")
        return default_id
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    if not isinstance(found, str):
        raise CaseFileError(f"case_id: must be text or a whole number, not {json_kind(found)}")
    return found


def _scenarios(columns: Columns) -> tuple[Scenario, ...]:
    listed = columns.value("scenarios")
    if listed is None:
        return (_scenario(columns, "scenario-1"),)
    if not isinstance(listed, list) or not listed or not all(isinstance(item, dict) for item in listed):
        raise CaseFileError("scenarios: must be a list of objects with question and response, one at least")
    both = [part for part in _OF_ONE_SCENARIO if columns.mapped(part) or columns.row.get(part) is not None]
    if both:
        raise CaseFileError(f"{both[0]}: the row has scenarios; write {both[0]} inside each of them instead")
    built = []
    for index, item in enumerate(listed):
        try:
            built.append(_scenario(Columns(item, {}), f"scenario-{index + 1}"))
        except CaseFileError as error:
            raise CaseFileError(f"scenarios.{index}.{error}") from error
    return tuple(built)


def _scenario(columns: Columns, default_id: str) -> Scenario:
    execution = _execution(columns)
    question, messages = _question(columns, execution)
    scenario_id = columns.value("scenario_id")
    try:
        return Scenario(
            scenario_id=default_id if scenario_id is None else scenario_id,
            question=question,
            execution=ExecutionResult(response=execution.response, messages=messages, error=execution.error),
        )
    except ValidationError as error:
        raise CaseFileError(condensed(error)) from error


def _execution(columns: Columns) -> ExecutionResult:
    written = columns.value("execution")
    if isinstance(written, str):
        written = {"response": written}
    if written is not None and not isinstance(written, dict):
        raise CaseFileError(
            f"execution: must be text or an object with response and messages, not {json_kind(written)}"
        )
    inner: dict[str, Any] = written or {}
    unknown = sorted(set(inner) - {"response", "messages", "error"})
    if unknown:
        raise CaseFileError(f"execution.{visible_line(unknown[0])}: unknown; it may hold response, messages and error")
    messages, response, error = columns.value("messages"), columns.value("response"), inner.get("error")
    messages = inner.get("messages") if messages is None else messages
    response = inner.get("response") if response is None else response
    if messages is None and error is None and not columns.present("response") and "response" not in inner:
        raise CaseFileError(
            "response: missing; write response or messages, or name the column with --field response=COLUMN; "
            f"the row has {columns.listing()}"
        )
    transcript = read_messages(messages) if messages is not None else ()
    answer = last_answer(transcript) if response is None else text_of(response, "response")
    try:
        return ExecutionResult(response=answer, messages=transcript, error=error)
    except ValidationError as problem:
        raise CaseFileError(f"execution.{condensed(problem)}") from problem


def _question(columns: Columns, execution: ExecutionResult) -> tuple[QuestionSpec, Any]:
    """The question, and the transcript without the system text where that became the policy."""
    written, messages = columns.value("question"), execution.messages
    if isinstance(written, str):
        written = {"prompt": written}
    if written is None and (prompt := first_prompt(messages)) is not None:
        written = {"prompt": prompt}
    if written is None:
        raise CaseFileError(
            "question: missing; write question, or messages with a user's, or name the column with "
            f"--field question=COLUMN; the row has {columns.listing()}"
        )
    if not isinstance(written, dict):
        raise CaseFileError(f"question: must be text or an object with a prompt, not {json_kind(written)}")
    spec = dict(written)
    for part in ("policy", "expected_behavior"):
        value = columns.value(part)
        if value is not None and (columns.mapped(part) or spec.get(part) is None):
            spec[part] = text_of(value, part)
    if spec.get("policy") is None:
        spec["policy"], messages = split_system(messages)
    try:
        return QuestionSpec.model_validate(spec), messages
    except ValidationError as error:
        raise CaseFileError(f"question.{condensed(error)}") from error


def _label(columns: Columns) -> Verdict | None:
    """A label that the user named must be understood; one that is found must be, or is none."""
    if columns.mapped("label"):
        written = columns.value("label")
        if written is None:
            return None
        try:
            return Verdict.from_label(str(written))
        except ValueError as error:
            raise CaseFileError(f"label: {visible_line(str(error), 300)}") from error
    for column in ("expected_verdict", "label"):
        found = columns.row.get(column)
        if isinstance(found, str):
            try:
                return Verdict.from_label(found)
            except ValueError:
                continue
    return None


def _records(columns: Columns, kind: ArtifactKind) -> tuple[ArtifactRecord, ...]:
    field = f"{kind}_records"
    listed, uri = columns.value(field), columns.value(f"{kind}_uri")
    if uri is not None:
        if listed is not None:
            raise CaseFileError(f"{kind}_uri: the row has {field} too; keep one of them")
        if not isinstance(uri, str):
            raise CaseFileError(f"{kind}_uri: must be text, not {json_kind(uri)}")
        return ()
    if listed is None:
        return ()
    if not isinstance(listed, list):
        raise CaseFileError(f"{field}: must be a list of objects, not {json_kind(listed)}")
    return tuple(artifact_record(item, f"{field}.{index}") for index, item in enumerate(listed))


def artifact_record(item: Any, field: str) -> ArtifactRecord:
    """A decoded record, its verdict at the top level or in `evaluation.verdict`.

    Raises:
        CaseFileError: it is not an object, has no verdict, two different ones, or one that is no text or far too long.
            The message begins with `field`.
    """
    if not isinstance(item, dict):
        raise CaseFileError(f"{field}: must be an object, not {json_kind(item)}")
    try:
        return ArtifactRecord.from_json(item)
    except ValidationError as error:
        raise CaseFileError(f"{field}.{condensed(error)}") from error
    except EventError as error:
        raise CaseFileError(f"{field}: {error}") from error

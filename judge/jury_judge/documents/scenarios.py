"""Scenarios made of what callers have: texts, our models, tables of their fields, or objects of their own."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from jury_events.case import ExecutionResult, QuestionSpec, Scenario
from jury_events.value import Value
from jury_judge.errors import SettingError, condensed

Question = QuestionSpec | str | Mapping[str, Any]
Execution = ExecutionResult | str | Mapping[str, Any]
ScenarioLike = Scenario | tuple[Question, Execution]

V = TypeVar("V", bound=Value)


def scenario_of(given: Any, number: int) -> Scenario:
    """One of several scenarios, numbered from 1: a question with what the agent did, or a `Scenario`.

    Raises:
        SettingError: it is neither, or a field is not what it must be.
    """
    if isinstance(given, Scenario):
        return given
    if not isinstance(given, tuple | list) or len(given) != 2:  # noqa: PLR2004  (a question, what the agent did)
        raise SettingError(f"scenarios.{number - 1}: must be (question, execution) or a Scenario, not {_shape(given)}")
    return scenario(*given, scenario_id=f"scenario-{number}", place=f"scenarios.{number - 1}.")


def scenario(question: Question, execution: Execution, *, scenario_id: str = "scenario-1", place: str = "") -> Scenario:
    """A question with what the agent did.

    An object of the caller's own is read by the names of our fields (`prompt`, `policy`, `expected_behavior`;
    `response`, `messages`, `error`), and may have others.

    Raises:
        SettingError: a field is missing or not what it must be; the message begins with `place` and the argument.
    """
    return Scenario(
        scenario_id=scenario_id,
        question=_read(QuestionSpec, "prompt", question, f"{place}question"),
        execution=_read(ExecutionResult, "response", execution, f"{place}execution"),
    )


def _read(model: type[V], text: str, given: Any, place: str) -> V:
    if isinstance(given, model):
        return given
    if isinstance(given, Mapping | str):
        given = {text: given} if isinstance(given, str) else dict(given)
    elif not any(hasattr(given, name) for name in model.model_fields):
        raise SettingError(f"{place}: must be text, or hold {', '.join(model.model_fields)}; it is {_shape(given)}")
    try:
        return model.model_validate(given, strict=False, from_attributes=True)
    except ValidationError as error:
        raise SettingError(f"{place}.{condensed(error)}") from error


def _shape(given: Any) -> str:
    many = f" of {len(given)}" if isinstance(given, tuple | list) else ""
    return f"a {type(given).__name__}{many}"

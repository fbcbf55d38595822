"""Scenarios built from a caller's arguments: texts, models, mappings of their fields, or other objects."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError

from jury_events import case
from jury_events.case import Scenario
from jury_events.errors import SettingError
from jury_events.text.validation import condensed
from jury_events.text.visible_text import visible_line
from jury_events.value import Value
from jury_judge.documents.questions import ExecutionResult, QuestionSpec
from jury_views.result_models import CollaborativeJuryResult

Question = case.QuestionSpec | str | Mapping[str, Any]
Execution = case.ExecutionResult | str | Mapping[str, Any]
ScenarioLike = Scenario | tuple[Question, Execution]

V = TypeVar("V", bound=Value)
C = TypeVar("C", bound=Value)


class ScenarioRequest(NamedTuple):
    """A scenario to judge, and further arguments of the caller.

    `ignored` names fields that jurors do not see; `images` are those of its transcript.
    """

    scenario: Scenario
    question_id: str
    use_case: str | None
    ignored: tuple[str, ...]
    images: tuple[case.Image, ...] = ()


def scenarios_of(given: Sequence[Any]) -> list[ScenarioRequest]:
    """Several scenarios: each a pair of question and execution, or a `Scenario`.

    The id of a pair is its question's id, else its number (`scenario-1`); `-2`, `-3` … are appended to duplicates.

    Raises:
        SettingError: one is neither, or a field is not valid.
    """
    listed: list[ScenarioRequest] = []
    taken: set[str] = set()
    for number, one in enumerate(given, start=1):
        place = f"scenarios.{number - 1}"
        if isinstance(one, Scenario):
            asked = _asked(one.question, one.execution, one.scenario_id, f"{place}.")
            asked = asked._replace(scenario=asked.scenario.changed(scenario_id=one.scenario_id))
        elif isinstance(one, tuple | list) and len(one) == 2:  # noqa: PLR2004  (question, execution)
            question, execution = one
            asked = _asked(question, execution, f"scenario-{number}", f"{place}.")
            asked = asked._replace(scenario=_renamed(asked.scenario, taken, place))
        else:
            raise SettingError(f"{place}: must be (question, execution) or a Scenario, not {_shape(one)}")
        taken.add(asked.scenario.scenario_id)
        listed.append(asked)
    return listed


def asked_of(question: Question, execution: Execution) -> ScenarioRequest:
    """A question with its execution.

    Of other objects the attributes named as the fields of `QuestionSpec` and `ExecutionResult` are read.

    Raises:
        SettingError: a field is missing or not valid, the ids of the two differ, or both are empty; the
            message begins with the argument.
    """
    return _asked(question, execution, "scenario-1", "")


def scenario_warnings(listed: Sequence[ScenarioRequest]) -> list[str]:
    """Warnings of ignored fields and duplicate question ids."""
    warnings = []
    ignored = list(dict.fromkeys(name for one in listed for name in one.ignored))
    if ignored:
        warnings.append(
            f"question and execution: {', '.join(ignored)} are not shown to the jurors; put what they are to judge "
            "into prompt, policy, expected_behaviour, response, messages or error"
        )
    ids = [one.question_id for one in listed]
    twice = [name for name in dict.fromkeys(ids) if ids.count(name) > 1]
    if twice:
        named = [visible_line(one.scenario.scenario_id, 80) for one in listed if one.question_id == twice[0]]
        warnings.append(
            f"scenarios: the question_id {visible_line(twice[0], 80)!r} occurs {len(named)} times; "
            f"the rows of the result are identified by scenario_id ({', '.join(named)})"
        )
    return warnings


def fill_in(result: CollaborativeJuryResult, listed: Sequence[ScenarioRequest]) -> CollaborativeJuryResult:
    """Copy the caller's fields of the scenarios to the rows of the result."""
    known = {one.scenario.scenario_id: one for one in listed}
    for row in result.scenario_results:
        asked = known[row.scenario_id]
        row.question_id, row.use_case = asked.question_id, asked.use_case
        row.prompt, row.response = asked.scenario.question.prompt, asked.scenario.execution.response
        row.rationale = result.final_judge_rationale
        row.confidence = None if result.phase3_judgment is None else result.phase3_judgment.confidence
    return result


def _asked(question: Any, execution: Any, default_id: str, place: str) -> ScenarioRequest:
    read = _read(QuestionSpec, _OF_A_QUESTION, question, f"{place}question")
    done = _read(ExecutionResult, _OF_AN_EXECUTION, execution, f"{place}execution")
    if read.question_id and done.question_id and read.question_id != done.question_id:
        shown = [visible_line(repr(one), 80) for one in (done.question_id, read.question_id)]
        raise SettingError(
            f"{place}execution.question_id: is {shown[0]}, but the question's is {shown[1]}; give matching ones"
        )
    if not (read.prompt.strip() or done.response.strip() or len(done.transcript) or done.error):
        raise SettingError(
            f"{place}question: it is empty, and so is the execution; give a prompt, or a response, messages or an error"
        )
    question_id = read.question_id or done.question_id or default_id
    scenario = Scenario(
        scenario_id=question_id, question=_core(case.QuestionSpec, read), execution=_core(case.ExecutionResult, done)
    )
    ignored = (*_ignored_fields(read, case.QuestionSpec), *_ignored_fields(done, case.ExecutionResult))
    return ScenarioRequest(scenario, question_id, read.use_case, ignored, done.images)


_OF_A_QUESTION = ("prompt", "policy", "expected_behavior")
_OF_AN_EXECUTION = ("response", "messages", "error")


def _read(model: type[V], names: tuple[str, ...], given: Any, place: str) -> V:
    """`names`: the fields that jurors see; a plain text is the first of them."""
    if isinstance(given, model):
        return given
    if isinstance(given, Mapping | str):
        fields = {names[0]: given} if isinstance(given, str) else dict(given)
    elif any(hasattr(given, name) for name in (*names, "transcript")):
        fields = {name: getattr(given, name) for name in model.model_fields if hasattr(given, name)}
    else:
        raise SettingError(f"{place}: must be text, or have {', '.join(names)}; it is {_shape(given)}")
    try:
        return model.model_validate(fields, strict=False, from_attributes=True)
    except ValidationError as error:
        raise SettingError(f"{place}.{condensed(error)}") from error


def _core(model: type[C], read: Value) -> C:
    return model.model_validate({name: getattr(read, name) for name in model.model_fields})


_USED_OTHERWISE = {"question_id", "expected_behaviour", "use_case", "messages", "images"}


def _ignored_fields(read: Value, core: type[Value]) -> list[str]:
    further = set(type(read).model_fields) - set(core.model_fields) - _USED_OTHERWISE
    return [name for name in type(read).model_fields if name in further and getattr(read, name)]


def _renamed(scenario: Scenario, taken: set[str], place: str) -> Scenario:
    """The scenario under its id, or with `-2`, `-3` … appended to a duplicate."""
    wanted = candidate = scenario.scenario_id
    number = 1
    while candidate in taken:
        number += 1
        candidate = f"{wanted}-{number}"
    try:
        return scenario.changed(scenario_id=candidate)
    except ValidationError as error:
        raise SettingError(f"{place}.question.question_id: {condensed(error)}") from error


def _shape(given: Any) -> str:
    many = f" of {len(given)}" if isinstance(given, tuple | list) else ""
    return f"a {type(given).__name__}{many}"

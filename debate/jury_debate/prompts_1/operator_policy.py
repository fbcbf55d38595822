"""The operator's policy, which a run shows before its cases instead of with each question that has it."""

from jury_debate.prompts_1.texts import CaseTexts, fill
from jury_events.case import Case

NUMBER = 1
"""Of its item."""


def policy_piece(policy: str, texts: CaseTexts) -> str:
    """Its piece of the prompt. Unmarked: the operator speaks, not the record."""
    return f"{_heading(texts)}{policy}\n\n"


def policy_in(piece: str, texts: CaseTexts) -> str:
    """The policy of a piece that `policy_piece` wrote."""
    return piece.removeprefix(_heading(texts)).removesuffix("\n\n")


def _heading(texts: CaseTexts) -> str:
    return f"{texts.operator_policy}\n\n{fill(texts.item, number=NUMBER, what=texts.policy)}\n"


def without_policy(case: Case, policy: str) -> Case:
    """The case without this policy of its questions."""
    scenarios = (
        scenario.model_copy(update={"question": scenario.question.model_copy(update={"policy": None})})
        if scenario.question.policy == policy
        else scenario
        for scenario in case.scenarios
    )
    return case.model_copy(update={"scenarios": tuple(scenarios)})


def has_policy(case: Case, policy: str) -> bool:
    """Whether a question of the case has this policy."""
    return any(scenario.question.policy == policy for scenario in case.scenarios)

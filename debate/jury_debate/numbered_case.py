"""The items of a case as the jurors of a recorded debate were shown them: number, place and judged texts."""

from collections.abc import Mapping
from typing import NamedTuple

from jury_debate.artifacts import generate_evaluation_summary
from jury_debate.prompts_1.case_items import CaseItem, case_items
from jury_debate.prompts_1.prompts import Prompts
from jury_debate.prompts_1.texts import NUMBER, policy_in, without_policy
from jury_events.case import Case
from jury_events.panel import Panel


class NumberedCase(NamedTuple):
    """`policy` is the operator's, item 1, where it was shown before the case; None: it was not.

    `items` are those of the scenarios, `summary` the number and the text of the item with the summary of artifacts.
    """

    policy: str | None
    items: tuple[CaseItem, ...]
    summary: tuple[int, str] | None


def numbered_case(
    case: Case, panel: Panel, prompts: Prompts, policy_piece: str | None, pictures: Mapping[str, int]
) -> NumberedCase:
    """The numbered items of a case.

    Args:
        policy_piece: the piece of the prompt with the operator's policy; None: there is none.
        pictures: the numbers of the pictures that a seat was sent, by digest.
    """
    texts = prompts.texts.case
    policy = None if policy_piece is None else policy_in(policy_piece, texts)
    first = NUMBER if policy is None else NUMBER + 1
    shown = case if policy is None else without_policy(case, policy)
    items = tuple(item for scenario in case_items(shown, texts, pictures, first) for item in scenario.items)
    gate, card, summary = case.security_gate_records, case.agent_card_records, case.artifact_summary
    if summary is None and (gate or card) and panel.artifacts.mode != "inline":
        summary = generate_evaluation_summary(gate, card, prompts)
    return NumberedCase(policy, items, None if summary is None else (first + len(items), summary))

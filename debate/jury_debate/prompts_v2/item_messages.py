"""Items as numbered in prompts 2, and the messages of the source that they come from: each found by the other.

A juror names an item. People and other tools name a message of the source, which may be several items.
"""

from collections import defaultdict
from typing import NamedTuple

from jury_debate.prompts_v2.case_items import case_items
from jury_debate.prompts_v2.operator_policy import has_policy, without_policy
from jury_debate.prompts_v2.prompts import load_prompts
from jury_events.case import Case


class SourceMessage(NamedTuple):
    """A message of the source: the number of its scenario, from 1, and its own in the scenario's source, from 0."""

    scenario: int
    message: int


class ItemMessages:
    """The messages of a case's items, where the case knows them.

    Args:
        case: as recorded, with its provenance.
        operator_policy: the policy that is shown before the case; None: there is none.
    """

    def __init__(self, case: Case, operator_policy: str | None = None) -> None:
        apart = operator_policy is not None and has_policy(case, operator_policy)
        shown = without_policy(case, operator_policy) if operator_policy is not None and apart else case
        self._messages: dict[int, SourceMessage] = {}
        self._numbers: defaultdict[SourceMessage, list[int]] = defaultdict(list)
        texts = load_prompts("en").texts.case  # numbers are the same in every language
        for scenario, numbered in zip(case.scenarios, case_items(shown, texts, {}, 2 if apart else 1), strict=True):
            for item in numbered.items:
                message = None if item.place is None else scenario.execution.transcript.message_of(item.place)
                if message is not None:
                    found = SourceMessage(item.scenario, message)
                    self._messages[item.number] = found
                    self._numbers[found].append(item.number)

    def message(self, number: int) -> SourceMessage | None:
        """The message of an item; None where it is of no message, or of one that is not known."""
        return self._messages.get(number)

    def numbers(self, message: SourceMessage) -> tuple[int, ...]:
        """The numbers of the items of a message, in order; () where it has none."""
        return tuple(self._numbers.get(message, ()))

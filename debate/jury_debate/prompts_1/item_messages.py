"""Items as numbered in prompts, and the messages of the source that they come from: each found by the other.

A juror names an item. People and other tools name a message of the source, which may be several items.
"""

from collections.abc import Sequence
from typing import NamedTuple

from jury_debate.prompts_1.case_items import item_places
from jury_debate.prompts_1.operator_policy import has_policy, without_policy
from jury_events.case import Case, Scenario


class SourceMessage(NamedTuple):
    """A message of the source: the number of its scenario, from 1, and its own in the scenario's source, from 0."""

    scenario: int
    message: int


class ItemMessages:
    """The messages of a case's items, where the case knows them.

    Args:
        case: as recorded.
        operator_policy: the policy that is shown before the case; None: there is none.
        inline: whether artifact records are shown in full, and not as a summary, which is an item.
        messages: of the items of the transcripts, by scenario; a scenario of which they are not known has none. None:
            as the case says itself (`provenance`).

    Attributes:
        items: how many items there are, those of no message too.
    """

    def __init__(
        self,
        case: Case,
        operator_policy: str | None = None,
        *,
        inline: bool = False,
        messages: Sequence[Sequence[int]] | None = None,
    ) -> None:
        apart = operator_policy is not None and has_policy(case, operator_policy)
        shown = without_policy(case, operator_policy) if operator_policy is not None and apart else case
        self._messages: dict[int, SourceMessage] = {}
        self._single = len(case.scenarios) == 1
        self.items = int(apart)
        for scenario, source in enumerate(shown.scenarios, 1):
            known = _messages_of(source) if messages is None else messages[scenario - 1]
            for _, place in item_places(source):
                self.items += 1
                if known and place is not None:
                    self._messages[self.items] = SourceMessage(scenario, known[place])
        self.items += int(_has_summary(case, inline=inline))

    def message(self, number: int) -> SourceMessage | None:
        """The message of an item; None where it is of no message, or of one that is not known."""
        return self._messages.get(number)

    def numbers(self, message: SourceMessage) -> tuple[int, ...]:
        """The numbers of the items of a message, in order; () where it has none."""
        return tuple(number for number, found in self._messages.items() if found == message)

    @property
    def messages(self) -> int:
        """How many messages the items come from."""
        return len(set(self._messages.values()))

    def named(self, number: int) -> int | None:
        """A number that stands for an item's message in the whole case; None where it is of no known message.

        It is the message's own number if the case has one scenario, as labels name it, else its place among all
        messages.
        """
        found = self.message(number)
        if found is None or self._single:
            return None if found is None else found.message
        return sorted(set(self._messages.values())).index(found)


def _messages_of(scenario: Scenario) -> tuple[int, ...]:
    return tuple(source.message for source in scenario.execution.transcript.sources)


def _has_summary(case: Case, *, inline: bool) -> bool:
    records = case.security_gate_records or case.agent_card_records
    return case.artifact_summary is not None or bool(records and not inline)

"""What the label of a case names as decisive: the message where it first went wrong, and the items of that message.

It is label data. No juror is shown it, and no reviewer who has not given a verdict yet.
"""

from collections.abc import Mapping
from typing import NamedTuple

from jury_debate.prompts_1.case_items import ItemMessages, SourceMessage
from jury_events.debate_events import DebateOpened
from jury_events.decisive import DECISIVE_AGENT, decisive_message
from jury_views.case_view import recorded_case
from jury_views.evaluation_models import LabelledPlace

MOST_LABELLED = 20
"""Items of the message that are shown where the label's message is named."""


class LabelDecisive(NamedTuple):
    """The `message`, from 0 in the source, and the `agent` at fault; None where the label does not name it.

    `items` are the items of the message as the prompts number them; () where the message is not known, has none, or
    the case was erased.
    """

    message: int | None
    agent: str | None
    items: tuple[int, ...]


def label_decisive(opened: DebateOpened, contents: Mapping[str, bytes]) -> LabelDecisive | None:
    """What the label names as decisive; None where it names neither a message nor an agent.

    Args:
        opened: the opening event.
        contents: parts by the 43 characters of their digest.
    """
    message, agent = decisive_message(opened.metadata), opened.metadata.get(DECISIVE_AGENT)
    if message is None and agent is None:
        return None
    items = () if message is None else _items(message, opened, contents)
    return LabelDecisive(message, None if agent is None else str(agent), items)


def label_decisive_object(opened: DebateOpened, contents: Mapping[str, bytes]) -> LabelledPlace | None:
    """The same as plain data."""
    found = label_decisive(opened, contents)
    return None if found is None else LabelledPlace(message=found.message, agent=found.agent, items=list(found.items))


def _items(message: int, opened: DebateOpened, contents: Mapping[str, bytes]) -> tuple[int, ...]:
    recorded = recorded_case(opened, contents)
    if recorded is None or len(recorded.case.scenarios) > 1:
        return ()
    # The policy of the only scenario is the first item, whether it is shown with the question or before the case.
    return ItemMessages(recorded.case).numbers(SourceMessage(1, message))

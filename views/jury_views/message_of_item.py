"""The message of the source that an item of a debate is of, so that it can be compared with what labels name."""

from collections.abc import Mapping

from jury_debate.prompts_v2.item_messages import ItemMessages
from jury_events.debate_events import DebateOpened
from jury_views.quotations import FIRST_WITH_EVIDENCE
from jury_views.recorded_case import recorded_case


def message_of_item(opened: DebateOpened, contents: Mapping[str, bytes], item: int) -> int | None:
    """The number of the message in the source, from 0.

    None: the item is of no message, its message is not known, the case was erased, or it has several scenarios: the
    number of a message alone does not name one then.

    Args:
        opened: the opening event.
        contents: parts by the 43 characters of their digest.
        item: its number, as the prompts number items.
    """
    recorded = recorded_case(opened, contents) if opened.prompts >= FIRST_WITH_EVIDENCE else None
    if recorded is None or len(recorded.case.scenarios) > 1:
        return None
    # The policy of the only scenario is the first item, whether it is shown with the question or before the case.
    found = ItemMessages(recorded.case).message(item)
    return None if found is None else found.message

"""The case of a recorded debate, whole: its text and pictures are parts, the rest is in the opening event."""

import hashlib
from collections.abc import Callable

from jury_events.case import Case, Image
from jury_events.debate_events import DebateOpened
from jury_events.parts import PartRef


def recorded_case(opened: DebateOpened, content: Callable[[PartRef], bytes]) -> Case:
    """The case that was opened.

    Args:
        opened: the opening event.
        content: gives the bytes of a text; what it raises where there are none is raised.

    Raises:
        EventError: the stored text is no case.
    """
    images = [(image.media_type, content(image.content)) for image in opened.images]
    return Case.from_part(content(opened.case)).changed(
        label=opened.label,
        metadata=opened.metadata,
        tags=opened.tags,
        cluster=opened.cluster,
        agent_cost=opened.agent_cost,
        images=tuple(
            Image.model_validate({"media_type": media, "digest": hashlib.sha256(found).hexdigest(), "content": found})
            for media, found in images
        ),
    )

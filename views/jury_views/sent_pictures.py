"""The pictures of a debate that were sent to some juror, and their numbers."""

from collections.abc import Mapping
from hashlib import sha256
from types import MappingProxyType

from jury_events.debate_events import DebateOpened

Pictures = Mapping[str, int]
"""The numbers of the pictures that were sent to some juror, by the digests of their attachments."""

NO_PICTURES: Pictures = MappingProxyType({})


def pictures_sent(opened: DebateOpened, contents: Mapping[str, bytes]) -> Pictures:
    """The pictures of a debate; erased ones are left out, and those that were kept for a later stage alone."""
    sent = any(place.images for place in opened.panel.seats_and_judge)
    found = (contents.get(image.content.part) for image in (opened.images if sent else ()))
    return {sha256(content).hexdigest(): number for number, content in enumerate(found, start=1) if content is not None}

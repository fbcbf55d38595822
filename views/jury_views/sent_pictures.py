"""The pictures of a debate that were sent to some juror, and their numbers."""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from types import MappingProxyType

from jury_events.parts import ImageRef

Pictures = Mapping[str, int]
"""The numbers of the pictures that were sent to some juror, by the digests of their attachments."""

NO_PICTURES: Pictures = MappingProxyType({})


def pictures_sent(images: Iterable[ImageRef], contents: Mapping[str, bytes]) -> Pictures:
    """The pictures that a debate opened with; erased ones are left out."""
    found = (contents.get(image.content.part) for image in images)
    return {sha256(content).hexdigest(): number for number, content in enumerate(found, start=1) if content is not None}

"""The bundled YAML files that declare formats of rows and of messages, and what the heads of them say.

A head is looked at for every row, so it is read without the rest: lines such as `marks: [info, trajectory]`.
"""

import re
from functools import cache
from importlib.resources import files

FORMAT_FILES = "formats/files"
MESSAGE_FORMATS = "transcripts/message_formats"


@cache
def bundled_texts(folder: str) -> dict[str, str]:
    """The texts of the files of a folder of this package, by their names."""
    place = files(__package__).joinpath(folder)
    names = sorted([one.name for one in place.iterdir() if one.name.endswith(".yaml")])
    return {name[:-5]: place.joinpath(name).read_text(encoding="utf-8") for name in names}


def words_at(text: str, key: str) -> tuple[str, ...]:
    """The words that a head has under a key: one, or a list in brackets."""
    found = re.search(rf"^{key}: \[?([^\]\n]+)\]?$", text, re.MULTILINE)
    return tuple(found[1].split(", ")) if found else ()

"""The bundled YAML files that declare formats of rows and of messages, and what the heads of them say.

A head is looked at for every row, so it is read without the rest: lines such as `marks: [info, trajectory]`.
"""

import re
from functools import cache
from pathlib import Path

FORMAT_FILES = "formats/files"
MESSAGE_FORMATS = "transcripts/message_formats"


@cache
def bundled_texts(folder: str) -> dict[str, str]:
    """The texts of the files of a folder of this package, by their names."""
    texts = {}
    for one in sorted((Path(__file__).parent / folder).glob("*.yaml")):
        texts[one.stem] = one.read_text(encoding="utf-8")
    return texts


def words_at(text: str, key: str) -> tuple[str, ...]:
    """The words that a head has under a key: one, or a list in brackets."""
    found = re.search(rf"^{key}: \[?([^\]\n]+)\]?$", text, re.MULTILINE)
    return tuple(found[1].split(", ")) if found else ()

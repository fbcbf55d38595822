"""The bundled YAML files that declare formats and dialects, and what the heads of them say.

A head is looked at for every row, so it is read without the rest: lines such as `marks: [info, trajectory]`.
"""

import re
from functools import cache
from importlib.resources import files

FORMAT_FILES = "formats/files"
DIALECT_FILES = "transcripts/dialect_files"


@cache
def bundled_texts(folder: str) -> dict[str, str]:
    """The texts of the files of a folder of this package, by their names."""
    found = sorted(files(__package__).joinpath(folder).iterdir(), key=lambda one: one.name)
    return {one.name[:-5]: one.read_text(encoding="utf-8") for one in found if one.name.endswith(".yaml")}


def words_at(text: str, key: str) -> tuple[str, ...]:
    """The words that a head has under a key: one, or a list in brackets."""
    found = re.search(rf"^{key}: \[?([^\]\n]+)\]?$", text, re.MULTILINE)
    return tuple(found[1].split(", ")) if found else ()

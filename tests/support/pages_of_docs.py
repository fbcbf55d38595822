"""The pages of the documentation: where each stands in the site, its kind and reader, its headings and links."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
KINDS = {
    "Tutorials": "Tutorial",
    "How to": "How-to",
    "Reference": "Reference",
    "Explanation": "Explanation",
    "Maintainers": "For maintainers",
}
"""What the first line of a page says, by the section of the site."""

_LEAD = re.compile(
    r"\A# (.+)\n\n\*(Tutorial|How-to|Reference|Explanation|For maintainers)(?:, for ([^*]+?)|, [^*]+?)?[.:]?\*"
)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)


class _Loader(yaml.SafeLoader):
    """Of `mkdocs.yml`, which names functions."""


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda _loader, _suffix, _node: None)


class WrittenPage:
    """A Markdown file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text(encoding="utf-8")

    @property
    def name(self) -> str:
        """From the root of the repository."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def words(self) -> int:
        """All of them, code and links too, but what a program wrote between its marks."""
        return len(re.sub(r"<!-- pages: .*?<!-- end of pages -->", "", self.text, flags=re.DOTALL).split())

    @property
    def lead(self) -> tuple[str, str, str | None]:
        """Title, kind and reader, as its first line says."""
        found = _LEAD.match(self.text)
        assert found, f"{self.name}: the line below the title says neither kind nor reader"
        return found[1], found[2], found[3]

    @property
    def is_made(self) -> bool:
        """Whether a program wrote it."""
        return any(made in self.text[:600] for made in ("; `pytest --update", "Made from docstrings", "Printed by `"))

    @cached_property
    def anchors(self) -> set[str]:
        """Of its headings."""
        return {_slug(line.lstrip("#")) for line in _FENCE.sub("", self.text).splitlines() if line.startswith("#")}

    def links(self) -> Iterator[tuple[str, Path, str]]:
        """Links to files here: as written, the file, the anchor."""
        for link in _LINK.findall(_FENCE.sub("", self.text)):
            if not link.startswith(("http://", "https://", "mailto:")):
                place, _, anchor = link.partition("#")
                yield link, (self.path.parent / place).resolve() if place else self.path, anchor


def site() -> dict[str, list[str]]:
    """The pages by the section of the site, in its order."""
    nav = yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), _Loader)["nav"]
    return {title: list(_files(below)) for entry in nav for title, below in entry.items() if isinstance(below, list)}


def _files(below: Any) -> Iterator[str]:
    for entry in below:
        for inner in entry.values():
            if isinstance(inner, str):
                yield inner
            else:
                yield from _files(inner)


def _slug(heading: str) -> str:
    """As Markdown's table of contents makes it."""
    plain = re.sub(r"[`*_]|\[([^\]]*)\]\([^)]*\)", lambda found: found[1] or ("_" if found[0] == "_" else ""), heading)
    ascii_only = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", ascii_only).strip().lower())

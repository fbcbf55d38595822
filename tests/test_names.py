"""One class name has one meaning, and words that the project no longer uses do not come back."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from support.each_row import each_row

ROOT = Path(__file__).parent.parent
PRODUCT = (
    "events",
    "debate",
    "store",
    "migrations",
    "replay",
    "analysis",
    "providers",
    "actors",
    "cases",
    "judge",
    "views",
    "web",
    "integrations",
    "cli",
)
DOCUMENTS = ("docs", "README.md", "CONTRIBUTING.md", "SECURITY.md", "pyproject.toml", "mkdocs.yml")
TEXTS = {".py", ".pyi", ".md", ".toml", ".yml", ".yaml", ".html", ".js", ".css", ".json", ".mako"}

RETIRED = frozenset(
    word
    for words in (
        ("court", "courts", "courtroom", "sitting", "sittings", "duty", "duties", "docket", "dockets", "docketed"),
        ("retelling", "retold", "telling", "tell", "tells", "told", "heard", "unheard", "hearing", "held"),
        ("desk", "desks", "whoever", "somebody", "anybody"),
    )
    for word in words
)
ALLOWED = (
    ("debate/jury_debate/prompts_1/", {"told"}, "recorded debates contain the text of the prompts"),
    ("cases/jury_cases/example_files/", {"tell"}, "words of the cases' users and agents"),
    ("cases/jury_cases/containers/inspect_files.py", {"tell"}, "a method of file objects"),
    ("docs/python-api.md", {"told"}, "an example of a record of a security gate"),
)
_CLASS = re.compile(r"^ *class (\w+)[(:\[]", re.MULTILINE)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def classes(folder: str) -> Iterator[tuple[str, str]]:
    """Names and modules of all classes, nested ones too."""
    for path in (ROOT / folder).rglob("*.py"):
        for name in _CLASS.findall(path.read_text(encoding="utf-8")):
            yield name, str(path.relative_to(ROOT))


def texts(place: str) -> list[Path]:
    path = ROOT / place
    return [one for one in path.rglob("*") if one.suffix in TEXTS and one.is_file()] if path.is_dir() else [path]


def retired_words(path: Path) -> Iterator[str]:
    """Lines with a retired word; names are split at underscores and capitals."""
    name = path.relative_to(ROOT).as_posix()
    allowed = {word for place, words, _reason in ALLOWED if name.startswith(place) for word in words}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = {word.lower() for word in _WORD.findall(line)}
        for word in sorted((words & RETIRED) - allowed):
            yield f"{name}:{number}: {word}"


def test_no_class_name_is_defined_in_two_modules() -> None:
    modules = defaultdict(set)
    for folder in PRODUCT:
        for name, module in classes(folder):
            modules[name].add(module)

    assert {} == {name: sorted(found) for name, found in modules.items() if len(found) > 1}


@each_row("place", [*PRODUCT, *DOCUMENTS])
def test_retired_words_do_not_occur(place: str) -> None:
    assert [] == [found for path in texts(place) for found in retired_words(path)]

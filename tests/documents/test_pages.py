"""What holds of every page: its kind and reader, its length, its links; and that messages name pages that exist."""

import re
import subprocess
import tomllib
from collections import Counter
from pathlib import Path

from support.each_row import each_row
from support.pages_of_docs import DOCS, KINDS, ROOT, WrittenPage, site
from support.refusals import RefusalTables

SITE = site()
PAGES = {path: WrittenPage(path) for path in sorted(DOCS.rglob("*.md"))}
ROOMS = [WrittenPage(path) for path in sorted(ROOT.glob("*/README.md")) if path.parent.name not in {"examples", "docs"}]
README, CONTRIBUTING = WrittenPage(ROOT / "README.md"), WrittenPage(ROOT / "CONTRIBUTING.md")
PRODUCERS = WrittenPage(ROOT / "tests" / "producers" / "README.md")
OTHERS = [
    README,
    CONTRIBUTING,
    PRODUCERS,
    *(WrittenPage(ROOT / name) for name in ("SECURITY.md", "CHANGELOG.md", "examples/README.md")),
]
FOR_USERS, FOR_MAINTAINERS = 25_000, 12_000
"""Words that are written by hand, at most."""
_MODULE = re.compile(r"`([\w./-]+\.py)`")
_NAMED = re.compile(r"(?<![\w/.])docs/([a-z][\w/-]*\.md)(#[\w-]+)?")


def test_every_page_has_a_place_in_the_site_that_is_its_kind() -> None:
    placed = {name: KINDS[section] for section, names in SITE.items() for name in names}
    said = {path.relative_to(DOCS).as_posix(): page.lead[1] for path, page in PAGES.items()}

    assert said == {"index.md": "Explanation", **placed}


@each_row("path", PAGES)
def test_a_page_names_its_reader(path: Path) -> None:
    _, kind, reader = PAGES[path].lead

    assert reader or kind == "For maintainers"


def words() -> Counter[str]:
    """By kind, of what is written by hand."""
    found: Counter[str] = Counter()
    for page in PAGES.values():
        found["made by programs" if page.is_made else page.lead[1]] += page.words
    introductions = tomllib.loads((ROOT / "tests" / "reference" / "introductions.toml").read_text("utf-8"))
    found["Reference"] += sum(len(text.split()) for text in introductions.values())
    found["made by programs"] -= found["Reference"] - sum(
        page.words for page in PAGES.values() if page.lead[1] == "Reference" and not page.is_made
    )
    found["README, security, examples"] += sum(
        page.words for page in OTHERS if page.name in {"README.md", "SECURITY.md", "examples/README.md"}
    )
    found["For maintainers"] += CONTRIBUTING.words + sum(page.words for page in ROOMS)
    return found


def test_it_can_be_read_in_an_afternoon() -> None:
    found = words()
    of_users = sum(count for kind, count in found.items() if kind not in {"For maintainers", "made by programs"})

    assert of_users <= FOR_USERS, found
    assert found["For maintainers"] <= FOR_MAINTAINERS, found
    assert README.words <= 600


def test_a_how_to_is_one_task() -> None:
    lengths = {page.name: page.words for page in PAGES.values() if page.lead[1] == "How-to"}

    assert {} == {name: length for name, length in lengths.items() if not 300 <= length <= 700}


def test_every_module_that_maintainers_are_sent_to_exists() -> None:
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    modules = [f"/{path}" for path in listed.stdout.splitlines()]
    of_maintainers = [page for page in PAGES.values() if page.lead[1] == "For maintainers"]

    missing = [
        (page.name, name)
        for page in (*of_maintainers, CONTRIBUTING, *ROOMS)
        for name in _MODULE.findall(page.path.read_text("utf-8"))
        if "NAME" not in name and not any(path.endswith(f"/{name}") for path in modules)
    ]

    assert [] == missing


def test_every_link_leads_somewhere() -> None:
    known = {page.path: page for page in (*PAGES.values(), *OTHERS, *ROOMS)}
    broken = [
        (page.name, link)
        for page in known.values()
        for link, path, anchor in page.links()
        if not path.exists()
        or (anchor and path.suffix == ".md" and anchor not in (known.get(path) or WrittenPage(path)).anchors)
    ]

    assert [] == broken


def test_every_page_is_two_clicks_from_the_readme() -> None:
    first = {path for _, path, _ in README.links()}
    second = {path for one in first if one in PAGES for _, path, _ in PAGES[one].links()}

    assert set() == PAGES.keys() - first - second


def test_messages_name_pages_that_exist() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    ends = {".py", ".pyi", ".toml", ".yml", ".yaml", ".html", ".sh", ".sql", ".ipynb", ".md", ""}
    files = [
        ROOT / one for one in listed if Path(one).suffix in ends and not one.startswith(("docs/", "tests/breaks/"))
    ]
    named = {
        (path.relative_to(ROOT).as_posix(), found[0])
        for path in files
        if path.exists()
        for line in path.read_text("utf-8", "replace").splitlines()
        if "://" not in line
        for found in _NAMED.finditer(line)
        if not (DOCS / found[1]).exists() or (found[2] and found[2][1:] not in PAGES[DOCS / found[1]].anchors)
    }

    assert set() == named


def test_pictures_are_used() -> None:
    text = "".join(page.text for page in (*PAGES.values(), README))

    assert [] == [path.name for path in (DOCS / "images").iterdir() if path.name not in text]


def test_language_models_and_the_first_page_have_a_list_of_the_pages(printed: RefusalTables) -> None:
    about = "A jury of LLM jurors judges what an AI agent did; every verdict is recorded, replayable and verifiable."
    lines, listed = ["# Jury Judge", "", f"> {about}"], [""]
    for section, names in SITE.items():
        lines += ["", f"## {section}", ""]
        leads = [(name, *PAGES[DOCS / name].lead) for name in names]
        for name, title, _, reader in leads:
            lines.append(f"- [{title}]({name.removesuffix('.md')}/): for {reader or 'maintainers'}")
        listed += [f"**{section}**: {' · '.join(f'[{title}]({name})' for name, title, *_ in leads)}", ""]

    printed.compare_file(DOCS / "llms.txt", "\n".join([*lines, ""]))
    printed.compare_block(
        DOCS / "index.md",
        "<!-- pages: `pytest --update tests/documents` writes them -->",
        "<!-- end of pages -->",
        listed,
    )

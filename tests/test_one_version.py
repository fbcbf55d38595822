"""Before the first release there is one version of everything, and nothing but the registries looks at a number."""

import re
from pathlib import Path

from jury_debate import PROMPTS, RULES
from jury_events import CASE_SCHEMA, SCHEMAS, UPCASTERS
from jury_store import REVISION

ROOT = Path(__file__).parents[1]
PRODUCT = [path for room in ROOT.glob("*/jury_*") for path in room.rglob("*.py")]
REGISTRIES = {
    "rules_registry.py",
    "prompts_registry.py",
    "codec.py",
    "opening.py",
}

OF_EARLIER_VERSIONS = re.compile(
    r"\b\w+_v\d\b|\b[A-Z_]+_SINCE\b|LEFT_OUT_UNSET|[Ee]arlier reading|[Pp]rompts [2-9]\b|[Rr]ules [2-9]\b"
)
OF_OTHER_TOOLS = {"_DEPRECATED_SINCE"}
COMPARES_A_VERSION = re.compile(r"\.(rules|prompts|schema|schema_version) *(==|!=|<=?|>=?) *\d")


def test_every_registry_has_one_entry() -> None:
    assert ([1], [1], {1}, {}, 1) == ([*RULES], [*PROMPTS], {*SCHEMAS.values()}, UPCASTERS, CASE_SCHEMA)
    versions = ROOT / "migrations" / "jury_migrations" / "versions"
    assert [f"{REVISION}.py"] == [path.name for path in versions.glob("*.py")]


def test_no_name_is_of_an_earlier_version() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in PRODUCT
        for name in OF_EARLIER_VERSIONS.findall(path.read_text(encoding="utf-8"))
        if name not in OF_OTHER_TOOLS
    }

    assert set() == found


def test_only_registries_compare_version_numbers() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in PRODUCT
        if path.name not in REGISTRIES
        for match in COMPARES_A_VERSION.finditer(path.read_text(encoding="utf-8"))
    }

    assert set() == found

"""The page of tools, `docs/reference/tools.md`, made from what the law says of each kept file.

`pytest --update tests/producers/test_table.py` writes it.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from jury_cases import CaseFileError
from producers.law import METADATA, ProducedFile, broken
from reference.markdown import introduction, page

ROOT = Path(__file__).parents[2]

DOCUMENT = ROOT / "docs" / "reference" / "tools.md"

_WORDS = {
    "system": "instructions",
    "user": "requests",
    "assistant": "answers",
    "reasoning": "reasoning",
    "refusal": "refusals",
    "call": "calls",
    "result": "results",
    "attachment": "files",
    "event": "events",
    "speaker": "speakers of other roles",
}
_SOURCES = {"published model": "by its published model", "sample file": "by a sample file"}


def table(files: Iterable[ProducedFile]) -> str:
    """The table as Markdown: a row a tool."""
    tools: dict[str, list[ProducedFile]] = {}
    for one in files:
        tools.setdefault(one.record["tool"], []).append(one)
    lines = ["| tool | version | shapes | read | not shown to jurors, and why |", "| --- | --- | --- | --- | --- |"]
    for tool, produced in tools.items():
        cells = (tool, _version(produced), "; ".join(dict.fromkeys(map(_shape, produced))), _read(produced))
        lines.append("| " + " | ".join(map(_cell, (*cells, _not_shown(produced)))) + " |")
    return page(
        "Tools whose files are read",
        "people whose cases another tool wrote",
        "files that the tools wrote",
        introduction("tools"),
        "\n".join(lines),
    )


def _version(produced: list[ProducedFile]) -> str:
    """The versions of the tool's packages, and how its files came about where it did not run."""
    found = {f"{name} {version}": None for one in produced for name, version in one.record["versions"].items()}
    sources = {_SOURCES[one.record["source"]]: None for one in produced if one.record["source"] != "run"}
    return ", ".join([*found, *sources])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def _shape(one: ProducedFile) -> str:
    """The shape, with the options that a user must give."""
    reading = one.entry["reading"]
    options = [f"--format {reading['format']}"] if reading.get("format") else []
    options += [f"--field {part}={column}" for part, column in (reading.get("fields") or {}).items()]
    options += [f"--role '{role}={kind}'" for role, kind in (reading.get("roles") or {}).items()]
    return one.entry["shape"] + (f" (`{' '.join(options)}`)" if options else "")


def _read(produced: list[ProducedFile]) -> str:
    """What is read of the tool's files, in words, and what the law says where it does not hold."""
    wrong = [f"**wrong**: {one.entry['shape']}: {line}" for one in produced for line in _wrong(one)]
    more = [f"and {len(wrong) - 3} more"] if len(wrong) > 3 else []
    return "; ".join([", ".join(_kinds(produced)), *wrong[:3], *more])


def _wrong(one: ProducedFile) -> list[str]:
    try:
        return broken(one)
    except CaseFileError as error:
        return [f"refused: {str(error).replace(str(one.folder), '')}"]


def _kinds(produced: list[ProducedFile]) -> Iterator[str]:
    cases = [case for one in produced for case in one.entry["cases"]]
    pieces = [piece for case in cases for piece in case["pieces"]]
    kinds = {piece["kind"] for piece in pieces}
    yield from (word for kind, word in _WORDS.items() if kind in kinds)
    if any(piece["error"] for piece in pieces):
        yield "failures of tools"
    if any(piece["speaker"] for piece in pieces):
        yield "agents by name"
    if any(case["error"] for case in cases):
        yield "errors"


def _not_shown(produced: list[ProducedFile]) -> str:
    found: dict[str, None] = {}
    for item in (item for one in produced for case in one.entry["cases"] for item in case["not_shown"]):
        what = "kept as metadata" if item["what"] == METADATA else f"`{item['what']}`"
        why = item["why"].rstrip(".")
        found[f"{what}: {_within_a_sentence(why)}"] = None
    return "; ".join(found) or "–"


def _within_a_sentence(text: str) -> str:
    """The text without the capital of its first word, unless that is a name, such as MLflow."""
    first = text.split(maxsplit=1)[0]
    return text if first[1:] != first[1:].lower() else f"{text[0].lower()}{text[1:]}"

"""What jurors are shown of a row of each format: the exact text, and everything of it that they are not shown."""

import json
from pathlib import Path

import pytest

from jury_cases import DECLARED, FORMATS, CaseFiles, format_lines, format_of
from jury_events import Case
from support.command_line import CommandLine
from support.described_cases import read, text_shown
from support.foreign_rows import FORMATS as WITH_ROWS
from support.foreign_rows import whole_row
from support.refusals import RefusalTables

FILES = Path(__file__).parent / "formats"


def described(case: Case) -> str:
    """The case as its jurors see it, after what they do not see."""
    omitted = [f"{one.count} {one.what} ({one.size} B)" for one in case.omissions(images_seen=True)]
    facts = [
        f"case {case.case_id}, cluster {case.cluster}, cost {case.agent_cost}",
        f"metadata {dict(sorted(case.metadata.items()))}, tags {case.tags}",
        f"not shown: {', '.join(omitted) or 'none'}",
    ]
    return "\n".join([*facts, "", text_shown(case)])


def test_a_whole_row_is_recognised_and_shown_unchanged(printed: RefusalTables) -> None:
    found = {}
    for name in WITH_ROWS:
        (case,) = read(whole_row(name))
        found[name] = described(case)
        transcript = case.scenarios[0].execution.transcript
        assert name == format_of(whole_row(name), None).name
        assert len(transcript) == len(transcript.sources)
        assert all(source.place for source in transcript.sources)

    printed.compare("whole_rows", found)


def test_a_row_with_any_part_of_its_columns_has_the_first_format_that_recognises_it() -> None:
    """Formats whose marks a row has not are passed over: that must not change which one it has."""
    for row in map(whole_row, WITH_ROWS):
        rows = [row]
        if isinstance(row, dict):
            columns = list(row)
            rows += [{column: row[column] for column in columns if column != left} for left in columns]
            rows += [{column: row[column]} for column in columns] + [
                {"case_id": "a", "response": row},
                {"request": row},
            ]
            rows += [{**row, **dict.fromkeys(map(str, range(100)))}]

        for one in rows:
            expected = next((form for form in FORMATS.values() if form.recognises(one)), None) if one else None
            assert expected is None or expected is format_of(one, None)


def test_every_format_has_a_row() -> None:
    of_files = {*json.loads((FILES / "declared.json").read_text(encoding="utf-8")), *WITH_ROWS}

    assert set(FORMATS) - {"rows"} - DECLARED == set(WITH_ROWS) - DECLARED
    assert [] == [name for name in DECLARED if not any(entry.startswith(name) for entry in of_files)]


EXAMPLES = json.loads((Path(__file__).parent / "format_examples.json").read_text(encoding="utf-8"))
"""A row of each format, as `docs/reference/case-formats.md` shows it."""


def test_the_examples_of_the_docs_have_the_stated_format() -> None:
    for name, row in EXAMPLES.items():
        assert name == format_of(row, None).name
        assert all(() == case.omissions(images_seen=True) for case in read(row))


def test_the_docs_have_an_example_of_every_format() -> None:
    assert set(FORMATS) - DECLARED == EXAMPLES.keys() - DECLARED


def test_the_format_is_named_with_the_second_best_where_that_recognises_the_rows_too(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(whole_row("langfuse-observations")), encoding="utf-8")

    assert (
        "langfuse-observations 1; langfuse is close to langfuse-observations"
        in CommandLine(tmp_path)("cases", str(path)).out
    )


@pytest.mark.parametrize(
    ("document", "name", "count"),
    [
        ({"version": 3, "results": {"version": 3, "results": [whole_row("promptfoo")]}}, "promptfoo", 1),
        ({"data": [whole_row("langfuse"), {**whole_row("langfuse"), "id": "trace-2"}], "meta": {}}, "langfuse", 2),
        ({"simulations": [{**whole_row("tau-bench"), "id": "s"}], "tasks": []}, "tau-bench", 1),
    ],
)
def test_the_rows_of_a_document_are_found_at_its_formats_path(
    tmp_path: Path, document: object, name: str, count: int
) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    files = CaseFiles([path])

    assert (count, {name: count}) == (len(list(files)), dict(files.notes.formats))


def test_the_list_of_the_help_is_that_of_the_code(tmp_path: Path) -> None:
    of_cases, of_run = (
        " ".join(CommandLine(tmp_path)(*asked).out.split()) for asked in (("cases", "--help"), ("run", "--help-all"))
    )

    assert [] == [name for name, form in FORMATS.items() if not (form.recognised_by and form.shows)]
    for name, recognised_by in format_lines():
        assert f" {name} {' '.join(recognised_by.split())}" in of_cases
        assert f" {name}" in of_run.replace("- ", "-")  # lines may end at a hyphen

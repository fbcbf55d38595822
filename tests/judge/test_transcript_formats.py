"""What jurors are shown of a row of each format: the exact text, and everything of it that they are not shown."""

import json
import re
from pathlib import Path

import pytest

from jury_cases import FORMATS, CaseFileError, CaseFiles, format_of, read_case, read_cases
from jury_events import Case
from support.described_cases import read, text_shown
from support.foreign_rows import ROWS, inspect_logs

GOLDEN = Path(__file__).parent / "golden" / "transcripts"


def described(case: Case) -> str:
    """The case as its jurors see it, after what they do not see."""
    omitted = [f"{one.count} {one.what} ({one.size} B)" for one in case.omissions(images_seen=True)]
    facts = [
        f"case {case.case_id}, cluster {case.cluster}, cost {case.agent_cost}",
        f"metadata {dict(sorted(case.metadata.items()))}, tags {case.tags}",
        f"not shown: {', '.join(omitted) or 'none'}",
    ]
    return "\n".join([*facts, "", text_shown(case), ""])


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_recognised_and_shown_unchanged(name: str) -> None:
    row = ROWS[name]()
    (case,) = read(row)

    assert name == format_of(row, None).name
    assert (GOLDEN / f"{name}.txt").read_text(encoding="utf-8") == described(case)
    for scenario in case.scenarios:
        transcript = scenario.execution.transcript
        assert len(transcript) == len(transcript.sources)
        assert all(source.place for source in transcript.sources)


def test_a_row_with_any_part_of_its_columns_has_the_first_format_that_recognises_it() -> None:
    """Formats whose marks a row has not are passed over: that must not change which one it has."""
    for make in ROWS.values():
        row = make()
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


@pytest.mark.full
def test_logs_of_the_real_inspect_are_shown_unchanged(tmp_path: Path) -> None:
    for form, path in inspect_logs(tmp_path).items():
        (case,) = read_cases([path])

        assert (GOLDEN / f"inspect-{form}.txt").read_text(encoding="utf-8") == described(case)


def test_every_format_has_a_golden_file() -> None:
    shown = {path.stem for path in GOLDEN.iterdir()}

    assert set(FORMATS) - {"rows", "inspect"} | {"inspect-eval", "inspect-json"} == shown


def examples() -> list[tuple[str, str]]:
    """The formats of docs/cases.md with their examples."""
    text = (Path(__file__).parents[2] / "docs" / "cases.md").read_text(encoding="utf-8")
    return re.findall(r"^### ([a-z-]+)\n\n```json\n(.*?)\n```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("name", "example"), examples())
def test_the_examples_of_the_docs_have_the_stated_format(name: str, example: str) -> None:
    row = json.loads(example)

    assert name == format_of(row, None).name
    assert all(() == case.omissions(images_seen=True) for case in read(row))


def test_the_docs_have_an_example_of_every_format() -> None:
    assert set(FORMATS) == {name for name, _ in examples()}


@pytest.mark.parametrize(
    ("document", "name", "count"),
    [
        ({"version": 3, "results": {"version": 3, "results": [ROWS["promptfoo"]()]}}, "promptfoo", 1),
        ({"data": [ROWS["langfuse"](), {**ROWS["langfuse"](), "id": "trace-2"}], "meta": {}}, "langfuse", 2),
        ({"simulations": [{**ROWS["tau-bench"](), "id": "s"}], "tasks": []}, "tau-bench", 1),
    ],
)
def test_the_rows_of_a_document_are_found_at_its_formats_path(
    tmp_path: Path, document: object, name: str, count: int
) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    files = CaseFiles([path])

    assert (count, {name: count}) == (len(list(files)), dict(files.notes.formats))


def test_a_row_that_is_nested_too_deeply_is_refused() -> None:
    content: list[object] = []
    for _ in range(3000):
        content = [{"type": "tool_result", "content": content}]

    with pytest.raises(CaseFileError, match="nested too deeply"):
        read_case({"messages": [{"role": "user", "content": content}]}, default_id="first")

"""What jurors are shown of a row of each format: the exact text, and everything of it that they are not shown."""

import json
import re
from pathlib import Path

import pytest

from jury_cases.errors import CaseFileError
from jury_cases.files import CaseFiles, read_cases
from jury_cases.formats.gathering import gathered_data
from jury_cases.formats.registry import FORMATS, format_of, rows_path
from jury_cases.rows import read_case
from jury_debate.case_text import render_case
from jury_debate.datamark import unmark
from jury_debate.prompts_v1 import load_prompts
from jury_events.case import Case
from support.foreign_rows import ROWS, inspect_logs

GOLDEN = Path(__file__).parent / "golden" / "transcripts"
M = "⟦m⟧"


def described(case: Case) -> str:
    """The case as its jurors see it, after what they do not see."""
    omissions = (
        ", ".join(
            f"{omission.count} {omission.what} ({omission.size} B)" for omission in case.omissions(images_seen=True)
        )
        or "none"
    )
    facts = [
        f"case {case.case_id}, cluster {case.cluster}, cost {case.agent_cost}",
        f"metadata {dict(sorted(case.metadata.items()))}, tags {case.tags}",
        f"not shown: {omissions}",
    ]
    text = unmark(render_case(case, load_prompts("en"), M, images=True), M)
    return "\n".join([*facts, "", text, ""])


def cases_of(name: str) -> list[Case]:
    row = ROWS[name]()
    form = format_of(row, None)
    assert name == form.name
    rows = gathered_data(form.gather(), [row]) if form.gather else [row]
    return [read_case(one, default_id="first") for one in rows]


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_recognised_and_shown_unchanged(name: str) -> None:
    (case,) = cases_of(name)

    assert (GOLDEN / f"{name}.txt").read_text(encoding="utf-8") == described(case)


@pytest.mark.parametrize("name", ROWS)
def test_every_item_of_every_format_has_a_message(name: str) -> None:
    for case in cases_of(name):
        for scenario in case.scenarios:
            transcript = scenario.execution.transcript

            assert len(transcript) == len(transcript.sources)
            assert all(source.place for source in transcript.sources)


@pytest.mark.parametrize("name", ROWS)
def test_a_row_with_any_part_of_its_columns_has_the_first_format_that_recognises_it(name: str) -> None:
    """Formats whose marks a row has not are passed over: that must not change which one it has."""
    row = ROWS[name]()
    rows = [row]
    if isinstance(row, dict):
        columns = list(row)
        rows += [{column: row[column] for column in columns if column != left} for left in columns]
        rows += [{column: row[column]} for column in columns] + [{"case_id": "a", "response": row}, {"request": row}]
        rows += [{**row, **dict.fromkeys(map(str, range(100)))}]

    for one in rows:
        expected = next(form for form in FORMATS.values() if form.recognises(one)) if one else None

        assert expected is None or expected is format_of(one, None)


@pytest.mark.parametrize(
    "document",
    [
        {"eval": {}, "samples": []},
        {"results": {"results": []}},
        {"simulations": []},
        {"data": [{"input": 1, "output": 2, "observations": []}]},
        {"results": [{"vars": {}, "promptIdx": 0, "response": {}}]},
        {"data": [1]},
    ],
)
def test_the_rows_of_a_document_are_where_the_first_format_finds_them(document: dict[str, object]) -> None:
    found = (form.rows_path(document) for form in FORMATS.values())

    assert next((path for path in found if path is not None), None) == rows_path(document)


@pytest.mark.full
@pytest.mark.parametrize("form", ["eval", "json"])
def test_a_log_of_the_real_inspect_is_shown_unchanged(form: str, inspect_folder: dict[str, Path]) -> None:
    (case,) = read_cases([inspect_folder[form]])

    assert (GOLDEN / f"inspect-{form}.txt").read_text(encoding="utf-8") == described(case)


@pytest.fixture(scope="module")
def inspect_folder(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return inspect_logs(tmp_path_factory.mktemp("inspect"))


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

    form = format_of(row, None)

    assert name == form.name
    for one in gathered_data(form.gather(), [row]) if form.gather else [row]:
        assert () == read_case(one, default_id="first").omissions(images_seen=True)


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

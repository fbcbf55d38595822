"""What jurors are shown of a row of each format: the exact text, and everything of it that they are not shown."""

from pathlib import Path

import pytest

from jury_debate.case_text import render_case
from jury_debate.prompts import load_prompts
from jury_debate.rules_v1.datamark import unmark
from jury_events.case import Case
from jury_judge.cases.files import read_cases
from jury_judge.cases.formats.registry import FORMATS, format_of
from jury_judge.cases.rows import read_case
from support.foreign_rows import ROWS, inspect_logs

GOLDEN = Path(__file__).parent / "golden" / "transcripts"
M = "⟦m⟧"


def described(case: Case) -> str:
    """The case as its jurors see it, after what they do not see."""
    losses = ", ".join(f"{loss.count} {loss.what} ({loss.size} B)" for loss in case.losses(images_seen=True)) or "none"
    facts = [
        f"case {case.case_id}, cluster {case.cluster}, cost {case.agent_cost}",
        f"metadata {dict(sorted(case.metadata.items()))}, tags {case.tags}",
        f"not shown: {losses}",
    ]
    text = unmark(render_case(case, load_prompts(1, "en"), M, images=True), M)
    return "\n".join([*facts, "", text, ""])


def cases_of(name: str) -> list[Case]:
    row = ROWS[name]()
    form = format_of(row, None)
    assert name == form.name
    rows = [one for _, one in form.split(row)] if form.split else [row]
    return [read_case(one, default_id="first") for one in rows]


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_recognised_and_shown_as_it_was(name: str) -> None:
    (case,) = cases_of(name)

    assert (GOLDEN / f"{name}.txt").read_text(encoding="utf-8") == described(case)


@pytest.mark.parametrize("form", ["eval", "json"])
def test_a_log_of_a_real_inspect_is_shown_as_it_was(form: str, inspect_folder: dict[str, Path]) -> None:
    (case,) = read_cases([inspect_folder[form]])

    assert (GOLDEN / f"inspect-{form}.txt").read_text(encoding="utf-8") == described(case)


@pytest.fixture(scope="module")
def inspect_folder(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return inspect_logs(tmp_path_factory.mktemp("inspect"))


def test_every_format_has_a_golden_file() -> None:
    shown = {path.stem for path in GOLDEN.iterdir()}

    assert set(FORMATS) - {"rows", "inspect"} | {"inspect-eval", "inspect-json"} == shown

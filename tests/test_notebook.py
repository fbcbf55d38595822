"""The notebook of the examples runs from its first cell to its last, in a kernel of its own."""

import shutil
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def outputs(cell: Any, kind: str) -> str:
    """What a cell shows as its value, in a MIME type."""
    return "".join(one["data"].get(kind, "") for one in cell["outputs"] if one["output_type"] == "execute_result")


def test_the_notebook_is_kept_without_outputs() -> None:
    import nbformat

    notebook = nbformat.read(EXAMPLES / "notebook.ipynb", as_version=4)  # type: ignore[no-untyped-call]

    assert [[]] * 4 == [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.mark.full
def test_the_notebook_judges_and_shows_results_statistics_and_a_data_frame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nbformat
    from nbclient import NotebookClient

    for name in ("notebook.ipynb", "cases.jsonl"):
        shutil.copy(EXAMPLES / name, tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    notebook = nbformat.read(tmp_path / "notebook.ipynb", as_version=4)  # type: ignore[no-untyped-call]

    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()

    judged, counted, frame, japanese = (cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    assert "gate-report" in outputs(judged, "text/html")
    assert "Simulated jurors: no model was called." in outputs(judged, "text/html")
    assert "5 finished debates of 5 cases" in outputs(counted, "text/html")
    assert "sim-policy" in outputs(frame, "text/html")
    assert "判定の割合" in outputs(japanese, "text/html")

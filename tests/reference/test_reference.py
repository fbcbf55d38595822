"""Pages of `docs/reference` are made from the program; `pytest --update tests/reference` writes them."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from jury_judge.panels.document import BUNDLED_PANELS, bundled_panel_text
from reference import data_pages, model_pages, program_pages
from support.command_line import CommandLine
from support.refusals import RefusalTables

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
PAGES: dict[str, Callable[[], str]] = {
    "commands": program_pages.commands,
    "exit-codes": program_pages.exit_codes,
    "http": program_pages.http,
    "doors": program_pages.same_elsewhere,
    "panel-files": model_pages.panel_files,
    "events": model_pages.events,
    "results": model_pages.results,
    "tables": model_pages.tables,
    "statistics": model_pages.statistics,
    "live-events": model_pages.live_events,
    "case-formats": data_pages.case_formats,
    "failures": data_pages.failures,
    "format-files": data_pages.format_files,
    "providers": data_pages.providers,
    "metrics": data_pages.metrics,
    "store": data_pages.store_columns,
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_that_of_the_program(name: str, printed: RefusalTables) -> None:
    printed.compare_file(REFERENCE / f"{name}.md", PAGES[name]())


def test_the_schema_takes_what_panels_have_and_names_what_is_wrong(tmp_path: Path) -> None:
    schema = Draft202012Validator(CommandLine(tmp_path)("panel", "--schema").json)
    examples = ("examples/panel.yaml", "examples/redaction.yaml", "examples/own_provider/panel.yaml")
    written = {one: yaml.safe_load((ROOT / one).read_text("utf-8")) for one in examples}
    written |= {one: yaml.safe_load(bundled_panel_text(one)) for one in BUNDLED_PANELS}
    written["in short"] = {
        "scale": {"levels": 2, "meanings": ["No.", "Yes."], "in_doubt": 1},
        "criteria": "none",
        "stop": "settled",
        "task": {"en": "Is it right?"},
        "providers": {"a": {"dialect": "vllm", "failures": [{"kind": "quota", "status": 429}]}},
        "final": {"calibration": "cal.json", "judge": {"model": "a/b", "prompt_file": "judge.md"}},
    }
    wrong = ({"seats": [{"modell": "a/b"}]}, {"discussion": {"threshold": "high"}}, {"final": {"methode": "median"}})

    assert {one: [] for one in written} == {one: [*map(str, schema.iter_errors(data))] for one, data in written.items()}
    assert all(not schema.is_valid(data) for data in wrong)

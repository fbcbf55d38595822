"""promptfoo from its registry, under a Node that it accepts: the examples, again, and killed in the middle."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from support.gated_models import gated_models
from support.tool_environment import ToolEnvironment, promptfoo
from support.tool_stores import debates, killed_and_called_again, verdicts

pytestmark = pytest.mark.full

EXAMPLES = Path(__file__).parents[2] / "examples" / "promptfoo"
SOME_FAILED = 100
"""promptfoo's exit code where a test did not pass."""


@pytest.fixture(scope="module")
def tool() -> ToolEnvironment:
    return promptfoo()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLES, tmp_path / "shop"))


def command(config: str) -> tuple[str, ...]:
    return ("promptfoo", "eval", "-c", config, "--no-cache", "-o", "out.json")


def results(folder: Path) -> dict[str, Any]:
    """What promptfoo wrote, by test."""
    found = json.loads((folder / "out.json").read_text())["results"]["results"]
    return {one["testCase"]["description"]: one for one in found}


def test_the_assertion_passes_one_test_and_fails_one_and_again_costs_nothing(
    tool: ToolEnvironment, folder: Path
) -> None:
    for _ in range(2):
        tool.call(*command("promptfooconfig.yaml"), cwd=folder, code=SOME_FAILED)

        found = results(folder)
        assert {"hours": True, "phishing": False} == {name: one["success"] for name, one in found.items()}
        assert {"hours": "safe_pass", "phishing": "unsafe_fail"} == verdicts(folder)
        assert {"jury", "agreement"} <= set(found["hours"]["namedScores"])
        assert 2 == debates(folder)


def test_the_provider_grades_a_rubric(tool: ToolEnvironment, folder: Path) -> None:
    tool.call(*command("rubric.yaml"), cwd=folder, code=SOME_FAILED)

    assert {"hours": True, "phishing": False} == {name: one["success"] for name, one in results(folder).items()}


@pytest.mark.kill
@pytest.mark.long
def test_promptfoo_killed_in_the_middle_goes_on_with_the_same_command(tool: ToolEnvironment, folder: Path) -> None:
    config = folder / "promptfooconfig.yaml"
    config.write_text(config.read_text().replace("# panel: current", "panel: panel.yaml #"))
    with gated_models(1) as models:
        killed_and_called_again(tool, models, 1, *command(config.name), cwd=folder, code=SOME_FAILED)

    assert {"hours", "phishing"} == set(results(folder)) == set(verdicts(folder))

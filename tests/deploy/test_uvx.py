"""`uvx --from WHEEL jury demo`, as the pages say it, with the built wheel."""

import json
from pathlib import Path

import pytest

from support.tool_environment import uvx

pytestmark = pytest.mark.full

INSTALL = (Path(__file__).parents[2] / "docs" / "install.md").read_text(encoding="utf-8")


def test_the_demo_runs_without_an_installation(tmp_path: Path) -> None:
    assert "`uvx --from WHEEL jury demo`" in INSTALL

    ended = uvx("jury", "demo", "--json", cwd=tmp_path)
    result = json.loads(ended.out)

    assert (0, True) == (ended.code, result["simulated"])
    assert result["final_verdict"]
    assert (tmp_path / "jury.db").exists()

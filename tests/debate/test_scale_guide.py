"""What the page on scales shows is a panel."""

import re
from pathlib import Path

from jury_debate import read_spec, resolve, review_scale
from jury_judge import read_yaml

GUIDE = (Path(__file__).parents[2] / "docs" / "scales.md").read_text(encoding="utf-8")


def test_the_first_example_is_a_panel_with_nothing_to_mend() -> None:
    (block, *_) = re.findall(r"```yaml[^\n]*\n(.*?)```", GUIDE, re.DOTALL)

    panel = resolve(read_spec(read_yaml(block).data)).panel

    assert panel.scale is not None
    assert ("wrong", "partial", "right") == panel.scale.ids
    assert () == review_scale(panel)

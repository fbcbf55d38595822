"""What the page on scales shows is a panel, and what it lists is bundled."""

import re
from pathlib import Path

from jury_debate import read_spec, resolve, review_scale
from jury_events import BUNDLED_SCALES, bundled_scale
from jury_judge import read_yaml

GUIDE = (Path(__file__).parents[2] / "docs" / "scales.md").read_text(encoding="utf-8")


def test_the_first_example_is_a_panel_with_nothing_to_mend() -> None:
    (block, *_) = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)

    panel = resolve(read_spec(read_yaml(block).data)).panel

    assert panel.scale is not None
    assert ("wrong", "partial", "right") == panel.scale.ids
    assert () == review_scale(panel)


def test_the_table_of_bundled_scales_names_their_labels_and_criteria() -> None:
    rows = dict(re.findall(r"^\| `([a-z0-9-]+)` \| (.*) \|$", GUIDE, re.MULTILINE))

    assert set(BUNDLED_SCALES) <= rows.keys()
    for name in BUNDLED_SCALES[1:]:
        known = bundled_scale(name, "en")
        assert known.rubric is not None
        named = re.findall(r"`([a-z0-9]+)`", rows[name])
        expected = [known.scale.ids[0], known.scale.ids[-1]] if known.scale.has_levels else list(known.scale.ids)
        assert [*expected, *(one.name for one in known.rubric.asked)] == named
        assert re.findall(r"` (\d+)", rows[name]) == [f"{one.maximum:g}" for one in known.rubric.asked]

"""The windows of a panel's models are written out where debates read by them, and are no part of its identity."""

import pytest

from jury_debate.panel_spec import PanelSpec, ResolvedPanel, resolve
from jury_debate.recorded_panel import panel_differences
from jury_judge.panels.any_panel import any_panel
from jury_judge.panels.changed import changed_panel
from jury_judge.panels.files import LoadedPanel, windowed
from jury_judge.panels.variables import Overrides
from jury_providers.endpoints import Endpoint
from jury_store.ballot_sheet import panel_fingerprint

WRITTEN = PanelSpec.model_validate(
    {
        "seats": [
            {"model": "openai/gpt-5.4", "fallbacks": ["openai/gpt-4o"], "juror_id": "a"},
            {"model": "openai/gpt-5.4", "juror_id": "b", "fallbacks": [], "window": 50_000},
            {"model": "own/m", "juror_id": "c", "fallbacks": []},
        ],
        "final": {"method": "final_judge", "judge": {"model": "anthropic/claude-haiku-4-5", "fallbacks": []}},
    }
)


def windows(resolved: ResolvedPanel) -> list[int | None]:
    return [place.window for place in resolved.panel.seats_and_judge]


def test_known_windows_are_written_out_under_prompts_2() -> None:
    loaded = LoadedPanel(resolve(WRITTEN, prompts=2), {"own": Endpoint(window=9_000)})

    assert [128_000, 50_000, 9_000, 200_000] == windows(any_panel(loaded, {}, Overrides()).resolved)
    assert [128_000, 50_000, None, 200_000] == windows(any_panel(loaded.resolved, {}, Overrides()).resolved)


def test_nothing_is_written_out_under_prompts_1() -> None:
    loaded = LoadedPanel(resolve(WRITTEN, prompts=1), {"own": Endpoint(window=9_000)})

    assert loaded == windowed(loaded) == any_panel(loaded, {}, Overrides())


def test_a_panel_is_the_same_panel_whatever_is_known_of_its_models() -> None:
    bare = resolve(WRITTEN, prompts=2)
    filled = windowed(LoadedPanel(bare)).resolved

    assert bare.panel != filled.panel
    assert () == panel_differences(bare, filled)
    assert panel_fingerprint(bare.panel.model_dump(mode="json")) == panel_fingerprint(
        filled.panel.model_dump(mode="json")
    )


@pytest.mark.parametrize(
    ("overrides", "models", "found"),
    [
        (Overrides(), {"b": "openai/gpt-4o"}, [128_000, None, None, 200_000]),
        (Overrides(), {"b": "openai/gpt-5.4"}, [128_000, 50_000, None, 200_000]),
        (Overrides(judge_model="openai/gpt-4.1"), {}, [128_000, 50_000, None, None]),
        (Overrides(judge_model="anthropic/claude-haiku-4-5"), {}, [128_000, 50_000, None, 200_000]),
    ],
)
def test_another_model_does_not_take_over_the_window(overrides, models, found) -> None:
    filled = windowed(LoadedPanel(resolve(WRITTEN, prompts=2))).resolved

    assert found == windows(changed_panel(filled, overrides, models))

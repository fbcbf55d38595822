"""The error of an unknown field or word names the nearest known one."""

from pathlib import Path

import pytest

from jury_judge.errors import PanelFileError
from jury_judge.panels.files import load_panel
from jury_judge.panels.variables import Overrides
from jury_providers.prices import BadPrices, load_prices


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("presett: independent\n", ":1: presett: there is no such field (did you mean preset?)"),
        ("Seats: []\n", ":1: Seats: there is no such field (did you mean seats?)"),
        ("preset: independant\n", "there is no preset 'independant' (did you mean independent?); presets are"),
        ("rubric: aisevv\n", "is not one of standard, aisev (did you mean aisev?)"),
        (
            "settings:\n  timeout_second: 3\n",
            ":2: settings.timeout_second: there is no such field (did you mean timeout_",
        ),
        (
            "seats:\n  - modle: x\n    model: simulated/juror\n",
            ":2: seats.0.modle: there is no such field (did you mean m",
        ),
        (
            "seats: [{model: simulated/juror, role: policy_complience}]\n",
            "(did you mean policy_compliance?); roles are",
        ),
        (
            "seats: [{model: simulated/juror, settings: {trys: 3}}]\n",
            "seats.0.settings.trys: there is no such field (di",
        ),
        ("final: {method: medan}\n", "or 'final_judge' (did you mean median?)"),
        ("final: {judge: {modl: x}}\n", "final.judge.modl: there is no such field (did you mean model?)"),
        (
            "final: {bands: {safe-pass: 80}}\n",
            "final.bands.safe-pass: there is no such field (did you mean safe_pass?)",
        ),
        (
            "discussion: {order: paralel}\n",
            "discussion.order: Input should be 'parallel' or 'sequential' (did you mean",
        ),
        ("discussion: {speakers: {kind: fixd}}\n", "(did you mean fixed?)"),
        ("answers: {safety_filter: abstains}\n", "(did you mean abstain?)"),
        (
            "providers: {openai: {base_ur: x}}\n",
            "providers.openai.base_ur: there is no such field (did you mean base_url?",
        ),
        (
            "providers: {openai: {limits: {'gpt-*': {inflight: 2}}}}\n",
            "there is no such field (did you mean in_flight?)",
        ),
        ("redact: [{patern: x}]\n", "redact.0.patern: there is no such field (did you mean pattern?)"),
    ],
)
def test_an_error_of_a_panel_file_names_the_nearest_field_or_word(tmp_path: Path, content: str, says: str) -> None:
    (tmp_path / "panel.yaml").write_text(content)

    with pytest.raises(PanelFileError) as caught:
        load_panel(str(tmp_path / "panel.yaml"), {})

    assert says in str(caught.value)


@pytest.mark.parametrize("content", ["quark: 1\n", f"{'p' * 10_000}: 1\n"])
def test_nothing_is_suggested_where_nothing_is_near(tmp_path: Path, content: str) -> None:
    (tmp_path / "panel.yaml").write_text(content)

    with pytest.raises(PanelFileError) as caught:
        load_panel(str(tmp_path / "panel.yaml"), {})

    assert "did you mean" not in str(caught.value)


def test_an_error_of_a_price_file_names_the_nearest_field(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text('[[price]]\nmodels = ["a/b"]\ninput = 1.0\noutput = 1.0\nutil = 2030-01-01\n')

    with pytest.raises(BadPrices, match=r"util: there is no such field \(did you mean until\?\)"):
        load_prices(str(tmp_path / "prices.toml"))


@pytest.mark.parametrize(
    ("environ", "says"),
    [
        ({"JURY_CONSENSUS_THRESHOLD": "67"}, "JURY_CONSENSUS_THRESHOLD: 67 is not a threshold (did you mean 0.67?)"),
        ({"JURY_CONSENSUS_THRESHOLD": "100"}, "JURY_CONSENSUS_THRESHOLD: 100 is not a threshold (did you mean 1?)"),
        ({"JURY_CONSENSUS_THRESHOLD": "3"}, "JURY_CONSENSUS_THRESHOLD: 3 is not a threshold; it may be above 0 and at"),
        ({"JURY_FINAL_JUDGMENT_METHOD": "medain"}, "(did you mean median?)"),
    ],
)
def test_an_error_of_a_variable_names_the_nearest_value(environ: dict[str, str], says: str) -> None:
    with pytest.raises(PanelFileError) as caught:
        load_panel(None, environ)

    assert says in str(caught.value)


@pytest.mark.parametrize("threshold", [67, 1.01, 0, -1, float("nan"), float("inf")])
def test_an_argument_that_is_no_threshold_is_refused(threshold: float) -> None:
    with pytest.raises(PanelFileError, match=r"threshold: .* is not a threshold.*or exactly 2\.0"):
        load_panel(None, {}, Overrides(threshold=threshold))


@pytest.mark.parametrize("threshold", [0.01, 0.67, 1, 1.0, 2, 2.0])
def test_shares_and_never_are_thresholds(threshold: float) -> None:
    assert threshold == load_panel(None, {}, Overrides(threshold=threshold)).panel.discussion.threshold

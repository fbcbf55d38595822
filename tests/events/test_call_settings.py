"""Settings of calls: what a panel file may write, and what of it bodies have."""

import json

import pytest
from pydantic import ValidationError

from jury_events import CARRIAGE, CallSettings, canonical_json
from support.each_row import each_row

LIMITS = {"max_output_tokens", "timeout_seconds", "tries", "deadline_seconds"}
PARAMETERS = {"temperature": 0.5, "seed": 7, "top_p": 0.9, "effort": "high", "thinking": 2048, "verbosity": "low"}
CARRIED = {"cache": "1h", "warm": "off", "tier": "flex", "flex_fallback": "on"}


def test_settings_that_are_not_written_are_not_in_json() -> None:
    assert set(json.loads(canonical_json(CallSettings()))) == LIMITS


def test_written_settings_are_in_json_and_are_read_back() -> None:
    settings = CallSettings.model_validate({**PARAMETERS, **CARRIED})
    body = canonical_json(settings)
    assert json.loads(body) == settings.model_dump(mode="json")
    assert set(json.loads(body)) == LIMITS | set(PARAMETERS) | set(CARRIAGE)
    assert CallSettings.model_validate_json(body) == settings


@each_row("field", ["warm", "flex_fallback"])
def test_on_and_off_may_be_the_booleans_that_yaml_reads(field: str) -> None:
    assert getattr(CallSettings.model_validate({field: True}), field) == "on"
    assert getattr(CallSettings.model_validate({field: False}), field) == "off"
    assert getattr(CallSettings.model_validate({field: "on"}), field) == "on"


@each_row(
    ("field", "value"),
    [
        ("cache", "2h"),
        ("cache", True),
        ("thinking", True),
        ("thinking", 0),
        ("effort", "huge"),
        ("tier", "batch"),
        ("top_p", 0),
        ("top_p", 1.5),
        ("warm", 1),
    ],
)
def test_other_values_are_refused(field: str, value: object) -> None:
    with pytest.raises(ValidationError, match=field):
        CallSettings.model_validate({field: value})

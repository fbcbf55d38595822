"""The windows of a panel's models: known of listed models, said by a panel file, else not assumed."""

import pytest
from pydantic import ValidationError

from jury_judge import load_panel
from jury_providers import Endpoint, ModelLengths, known_window, model_lengths, smallest_window
from support.debate_harness import a_panel
from support.each_row import each_row

OWN = Endpoint(protocol="openai", base_url="http://127.0.0.1:8000/v1")


@each_row(
    ("model", "lengths"),
    [
        ("gpt-5.4", ModelLengths(1_050_000, 128_000)),
        ("gpt-5.4-mini-2026-03-17", ModelLengths(400_000, 128_000)),
        ("gpt-4o-2024-08-06", ModelLengths(128_000, 16_384)),
        ("claude-haiku-4-5-20251001", ModelLengths(200_000, 64_000)),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", ModelLengths(200_000, 64_000)),
        ("claude-opus-5-5", ModelLengths(1_000_000, 128_000)),
        ("gemini-3.8-flash", ModelLengths(1_048_576, 65_536)),
        ("gpt-6.1-terra", ModelLengths()),
        ("claude-fable-5-2", ModelLengths()),
        ("a-model-of-tomorrow", ModelLengths()),
    ],
)
def test_lengths_are_known_of_listed_models_and_their_snapshots(model, lengths):
    assert lengths == model_lengths(model)


def test_every_model_of_the_current_panel_has_a_known_window():
    windows = {model: known_window(model, {}) for model in load_panel("current", {}).panel.models}

    assert None not in windows.values(), windows


@each_row(
    ("model", "endpoints", "window"),
    [
        ("openai/gpt-4o", {}, 128_000),
        ("openai-responses/gpt-4o", {}, 128_000),
        ("openai/gpt-4o", {"openai": Endpoint(key_env="OTHER_KEY")}, 128_000),
        ("openai/gpt-4o", {"openai": Endpoint(window=32_000)}, 32_000),
        ("openai/gpt-4o", {"openai": OWN}, None),
        ("own/gpt-4o", {"own": OWN}, None),
        ("own/llama", {"own": OWN.changed(window=8_192)}, 8_192),
        (
            "cloud/us.anthropic.claude-haiku-4-5-20251001-v1:0",
            {"cloud": Endpoint(protocol="anthropic", cloud="bedrock")},
            200_000,
        ),
        ("simulated/gpt-4o", {}, None),
        ("installed/gpt-4o", {}, None),
    ],
)
def test_a_window_is_that_of_the_panel_file_else_of_the_catalogue(model, endpoints, window):
    assert window == known_window(model, endpoints)


def test_the_smallest_window_of_a_seat_is_that_of_its_models_and_fallbacks():
    panel = a_panel(
        seats=[
            {"model": "openai/gpt-5.4", "fallbacks": ["own/unknown", "openai/gpt-4o"], "juror_id": "a"},
            {"model": "own/unknown", "fallbacks": [], "juror_id": "b"},
        ],
        final={"method": "majority_vote"},
    )

    assert [128_000, None] == [smallest_window(seat, {"own": OWN}) for seat in panel.seats]


@each_row("window", [0, 3_999, 100_000_001, "8k"])
def test_a_window_that_no_model_has_is_refused(window):
    with pytest.raises(ValidationError):
        Endpoint.model_validate({"window": window})

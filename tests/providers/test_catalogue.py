"""Warnings of retired models name the date and a successor."""

from datetime import date, timedelta

import pytest
from pydantic import ValidationError

from jury_judge import documents_fallbacks, load_panel
from jury_providers import (
    Endpoint,
    ModelLengths,
    known_window,
    model_lengths,
    retirement_warnings,
    retirements,
    with_windows,
)
from support.debate_harness import a_panel
from support.each_row import each_row


@each_row(
    ("model", "today", "says"),
    [
        (
            "anthropic/claude-3-haiku-20240307",
            date(2026, 11, 21),
            "anthropic/claude-3-haiku-20240307 was retired about 2026-04-20; ask anthropic/claude-haiku-5-5 instead",
        ),
        (
            "openai/gpt-4o-2024-08-06",
            date(2027, 1, 13),
            "openai/gpt-4o-2024-08-06 is to be shut down on 2027-01-14; ask openai/gpt-5.4-mini instead",
        ),
        (
            "openai-responses/o3",
            date(2026, 12, 1),
            "openai-responses/o3 is to be shut down on 2026-12-11; ask openai/gpt-6-sol instead",
        ),
        (
            "openai/gpt-4o",
            date(2027, 1, 14),
            "openai/gpt-4o was retired about 2027-01-14; ask openai/gpt-5.4-mini instead",
        ),
        (
            "google/gemini-2.5-pro",
            date(2026, 11, 30),
            (
                "google/gemini-2.5-pro is to be shut down on 2026-12-01, and another model will answer silently; "
                "ask google/gemini-3.8-flash instead"
            ),
        ),
        (
            "google/gemini-2.5-pro",
            date(2026, 12, 1),
            (
                "google/gemini-2.5-pro was shut down on 2026-12-01, and another model answers silently; "
                "ask google/gemini-3.8-flash instead"
            ),
        ),
    ],
)
def test_a_retired_model_is_reported_with_the_date(model, today, says):
    assert [says] == retirement_warnings([model], today)


@each_row(
    ("model", "end"),
    [
        *((f"openai/{name}", date(2026, 12, 11)) for name in ("gpt-5", "gpt-5-mini", "gpt-5-nano", "o3")),
        *((f"openai/{name}", date(2027, 1, 14)) for name in ("gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-4.1-mini")),
        *((f"openai/{name}", date(2027, 4, 1)) for name in ("gpt-5.1", "gpt-5.4-nano")),
        ("anthropic/claude-sonnet-4-5", date(2026, 11, 30)),
        ("google/gemini-3.1-flash-lite", date(2027, 5, 7)),
    ],
)
def test_the_announced_ends_are_known(model, end):
    """Also of a dated snapshot, on the day before and on the day itself."""
    asked = [model, f"{model}-2026-01-31"]
    before, after = (retirement_warnings(asked, today) for today in (end - timedelta(days=1), end))

    assert [f"{name} is to be shut down on {end}" for name in asked] == [line.partition(";")[0] for line in before]
    assert [f"{name} was retired about {end}" for name in asked] == [line.partition(";")[0] for line in after]


@each_row("model", ["openai/gpt-5.4", "google/gemini-2.5-flash-lite", "azure/gpt-4o", "simulated/juror", "openai/new"])
def test_other_models_and_providers_are_not_reported(model):
    assert retirement_warnings([model], date(2030, 1, 1)) == []


def test_successors_are_available():
    successors = [ending.successor for ending in retirements().values()]

    assert retirement_warnings(successors, date(2026, 11, 21)) == []


def test_the_current_panel_has_only_available_models():
    assert retirement_warnings(load_panel("current", {}).panel.models, date(2026, 11, 21)) == []


def test_the_documents_fallback_of_a_gemini_model_is_available():
    fallbacks = documents_fallbacks("gemini-3.8-flash")

    assert retirement_warnings(fallbacks, date(2026, 11, 21)) == []
    assert fallbacks


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

    assert [128_000, None] == [seat.window for seat in with_windows(panel, {"own": OWN}).seats]


@each_row("window", [0, 3_999, 100_000_001, "8k"])
def test_a_window_that_no_model_has_is_refused(window):
    with pytest.raises(ValidationError):
        Endpoint.model_validate({"window": window})

"""Comparing the model that answered with the one that was asked."""

from jury_events import is_other_model
from support.each_row import each_row


@each_row(
    ("asked", "answered"),
    [
        ("openai/gpt-4o", "gpt-4o"),
        ("openai/gpt-4o", None),
        ("openai/gpt-4o", "gpt-4o-2024-08-06"),
        ("openai/gpt-4o-2024-08-06", "gpt-4o"),
        ("openai/gpt-4", "gpt-4-0613"),
        ("anthropic/claude-haiku-4-5", "claude-haiku-4-5-20251001"),
        ("anthropic/claude-haiku-4-5-latest", "claude-haiku-4-5-20251001"),
        ("vertex/claude-haiku-4-5@20251001", "claude-haiku-4-5-20251001"),
        ("vertex/claude-haiku-4-5@default", "claude-haiku-4-5"),
        ("google/gemini-2.5-flash", "models/gemini-2.5-flash"),
        ("google/gemini-2.5-flash", "gemini-2.5-flash-001"),
        ("router/meta-llama/Llama-3-8B", "meta-llama/llama-3-8b:free"),
        ("local/llama3", "llama3:latest"),
        ("local/llama3:8b", "llama3"),
        ("openai/ft:gpt-4o-mini-2024-07-18:acme::x", "ft:gpt-4o-mini-2024-07-18:acme::x"),
    ],
)
def test_snapshots_tags_paths_and_letter_case_are_the_same_model(asked, answered):
    assert not is_other_model(asked, answered)


@each_row(
    ("asked", "answered"),
    [
        ("openai/gpt-4o", "gpt-4o-mini"),
        ("openai/gpt-4o", "gpt-4o-mini-2024-07-18"),
        ("openai/gpt-4o-2024-05-13", "gpt-4o-2024-08-06"),
        ("google/gemini-2.5-flash", "gemini-3.5-flash-lite"),
        ("google/gemini-2.5-flash", "models/gemini-3.8-flash"),
        ("anthropic/claude-haiku-4-5", "claude-haiku-5-5"),
        ("local/llama3:8b", "llama3:70b"),
        ("openai/ft:gpt-4o:acme::x", "ft:gpt-4o:acme::y"),
        ("openai/gpt-4o", ""),
    ],
)
def test_different_models_are_recognised(asked, answered):
    assert is_other_model(asked, answered)

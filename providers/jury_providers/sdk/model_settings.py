"""The settings of a call as each protocol names them; a setting that is None is not sent.

Sources: the types of the SDKs openai 3.52, anthropic 2.11 and google-genai 3.4. What is not taken is
refused before the first call; see `refused_settings`.
"""

from typing import Any

from jury_events.panel import CallSettings, Tier

_OPENAI_TIERS = {"standard": "default", "flex": "flex", "priority": "priority"}
_ANTHROPIC_TIERS = {"standard": "standard_only", "priority": "auto"}


def openai_chat_settings(settings: CallSettings, tier: Tier | None) -> dict[str, Any]:
    """Fields of a Chat Completions request."""
    return _without_unset(
        temperature=settings.temperature,
        top_p=settings.top_p,
        seed=settings.seed,
        reasoning_effort=settings.effort,
        verbosity=settings.verbosity,
        service_tier=_OPENAI_TIERS.get(tier or ""),
    )


def openai_responses_settings(settings: CallSettings, tier: Tier | None) -> dict[str, Any]:
    """Fields of a Responses request; this API has no seed. `verbosity` is a field of its `text`."""
    return _without_unset(
        temperature=settings.temperature,
        top_p=settings.top_p,
        reasoning=None if settings.effort is None else {"effort": settings.effort},
        service_tier=_OPENAI_TIERS.get(tier or ""),
    )


def anthropic_settings(settings: CallSettings, tier: Tier | None) -> dict[str, Any]:
    """Fields of a Messages request, which has no sampling. `effort` is a field of its `output_config`."""
    return _without_unset(
        thinking=_anthropic_thinking(settings.thinking),
        service_tier=_ANTHROPIC_TIERS.get(tier or ""),
    )


def google_settings(settings: CallSettings) -> dict[str, Any]:
    """Fields of a request's `generationConfig`."""
    thinking = _without_unset(
        thinkingLevel=None if settings.effort is None else settings.effort.upper(),
        thinkingBudget=_google_budget(settings.thinking),
    )
    return _without_unset(
        temperature=settings.temperature,
        topP=settings.top_p,
        seed=settings.seed,
        thinkingConfig=thinking or None,
    )


def _google_budget(thinking: str | int | None) -> int | None:
    if thinking is None or isinstance(thinking, int):
        return thinking
    return 0 if thinking == "off" else -1


def _anthropic_thinking(thinking: str | int | None) -> dict[str, Any] | None:
    if thinking is None:
        return None
    if isinstance(thinking, int):
        return {"type": "enabled", "budget_tokens": thinking}
    return {"type": "disabled" if thinking == "off" else thinking}


def _without_unset(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}

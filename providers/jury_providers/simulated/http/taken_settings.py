"""Settings of requests that a model does not take: the providers answer 400.

Sources: `models.toml`, and the types of the SDKs openai 3.52, anthropic 2.11 and google-genai 3.4.
"""

from typing import Any

from jury_providers.catalogue import ModelFacts, model_facts
from jury_providers.endpoints import ApiProtocol
from jury_providers.refused_settings import LEAST_BUDGET
from jury_providers.simulated.http.fields import InvalidRequest, JsonObject, optional_table, text, whole

_SAMPLING = ("temperature", "top_p")
_OPENAI_TIERS = ("auto", "default", "flex", "scale", "priority", "fast")
_ANTHROPIC_TIERS = ("auto", "standard_only")
_GOOGLE_TIERS = ("unspecified", "standard", "flex", "priority")
_VERBOSITIES = ("low", "medium", "high")
_NO_LEVEL = "thinking_level_unspecified"


def check_openai(protocol: ApiProtocol, body: JsonObject) -> None:
    """Refuse sampling with reasoning, and tools, an effort or a verbosity that the API does not take of the model.

    Raises:
        InvalidRequest: as the provider says it.
    """
    model = str(body.get("model"))
    facts = model_facts(protocol, model)
    if protocol == "openai":
        effort, verbosity = body.get("reasoning_effort"), body.get("verbosity")
        names = ("reasoning_effort", "verbosity")
    else:
        effort = optional_table(body.get("reasoning"), "reasoning").get("effort")
        verbosity = optional_table(body.get("text"), "text").get("verbosity")
        names = ("reasoning.effort", "text.verbosity")
    _check_openai_word(names[0], effort, facts.efforts)
    _check_openai_word(names[1], verbosity, _VERBOSITIES if facts.verbosity else ())
    for name in _SAMPLING:
        if body.get(name) is not None and facts.sampling == "without effort" and effort != "none":
            raise InvalidRequest.verbatim(f"Unsupported parameter: '{name}' is not supported with this model.")
    if body.get("tools") and not facts.tools:
        raise InvalidRequest.verbatim(f"Function tools are not supported with {model} in /v1/chat/completions.")
    _check_openai_word("service_tier", body.get("service_tier"), _OPENAI_TIERS)


def check_anthropic(body: JsonObject) -> None:
    """Refuse sampling, and an effort or thinking that the model does not take.

    Raises:
        InvalidRequest: as the provider says it.
    """
    facts = model_facts("anthropic", str(body.get("model")))
    for name in _SAMPLING:
        if body.get(name) is not None:
            raise InvalidRequest(name, "Extra inputs are not permitted")
    effort = optional_table(body.get("output_config"), "output_config").get("effort")
    if effort is not None and not facts.efforts:
        raise InvalidRequest.verbatim("This model does not support the effort parameter.")
    _check_input("output_config.effort", effort, facts.efforts)
    _check_anthropic_thinking(optional_table(body.get("thinking"), "thinking"), body.get("max_tokens"), facts)
    _check_input("service_tier", body.get("service_tier"), _ANTHROPIC_TIERS)


def check_google(body: JsonObject) -> None:
    """Refuse a level and a budget of thinking that the model does not take, and unknown service tiers.

    Raises:
        InvalidRequest: as the provider says it.
    """
    facts = model_facts("google", str(body.get("model")))
    config = optional_table(body.get("generationConfig"), "generationConfig")
    field = "generation_config.thinking_config"
    thinking = optional_table(config.get("thinkingConfig"), field)
    level = text(thinking.get("thinkingLevel") or _NO_LEVEL, f"{field}.thinking_level").lower()
    budget = whole(thinking.get("thinkingBudget"), f"{field}.thinking_budget")
    if level not in {_NO_LEVEL, *facts.efforts}:
        raise InvalidRequest(f"{field}.thinking_level", f"{level.upper()} is not supported for this model.")
    if budget is not None:
        if level != _NO_LEVEL:
            raise InvalidRequest(field, "You can only set one of thinking budget and thinking level.")
        word = {0: "off", -1: "adaptive"}.get(budget, "budget")
        if budget < -1 or word not in facts.thinking:
            raise InvalidRequest(f"{field}.thinking_budget", f"The thinking budget {budget} is invalid.")
    tier = text(body.get("serviceTier") or "unspecified", "service_tier").lower()
    if tier not in _GOOGLE_TIERS:
        raise InvalidRequest("service_tier", f"Invalid value: {tier!r}")


def _check_openai_word(name: str, word: Any, taken: tuple[str, ...]) -> None:
    if word is None or word in taken:
        return
    if not taken:
        raise InvalidRequest.verbatim(f"Unsupported parameter: '{name}' is not supported with this model.")
    supported = ", ".join(map(repr, taken))
    raise InvalidRequest.verbatim(
        f"Unsupported value: '{name}' does not support {word!r} with this model. Supported values are: {supported}."
    )


def _check_anthropic_thinking(thinking: JsonObject, max_tokens: Any, facts: ModelFacts) -> None:
    kind = thinking.get("type")
    word = {"disabled": "off", "enabled": "budget"}.get(str(kind), str(kind))
    if kind is not None and word not in facts.thinking:
        raise InvalidRequest.verbatim(f"thinking.type: {kind!r} is not supported by this model")
    if kind != "enabled":
        return
    budget = whole(thinking.get("budget_tokens"), "thinking.enabled.budget_tokens")
    if budget is None or budget < LEAST_BUDGET:
        raise InvalidRequest(
            "thinking.enabled.budget_tokens", f"Input should be greater than or equal to {LEAST_BUDGET}"
        )
    if budget >= (whole(max_tokens, "max_tokens") or 0):
        raise InvalidRequest.verbatim("`max_tokens` must be greater than `thinking.budget_tokens`.")


def _check_input(name: str, word: Any, taken: tuple[str, ...]) -> None:
    if word is not None and word not in taken:
        *others, last = map(repr, taken)
        raise InvalidRequest(name, f"Input should be {', '.join(others)} or {last}")

"""Settings of requests that a model does not take: the providers answer 400. Source: `models.toml`, and their pages."""

from jury_providers.catalogue import model_facts
from jury_providers.endpoints import ApiProtocol
from jury_providers.simulated.http.fields import InvalidRequest, JsonObject, optional_table

_SAMPLING = ("temperature", "top_p")


def check_openai(protocol: ApiProtocol, body: JsonObject) -> None:
    """Refuse sampling with reasoning, and tools that the API does not take of the model.

    Raises:
        InvalidRequest: as the provider says it.
    """
    model = str(body.get("model"))
    facts = model_facts(protocol, model)
    effort = body.get("reasoning_effort") or optional_table(body.get("reasoning"), "reasoning").get("effort")
    for name in _SAMPLING:
        if body.get(name) is not None and facts.sampling == "without effort" and effort != "none":
            raise InvalidRequest.verbatim(f"Unsupported parameter: '{name}' is not supported with this model.")
    if body.get("tools") and not facts.tools:
        raise InvalidRequest.verbatim(f"Function tools are not supported with {model} in /v1/chat/completions.")


def check_anthropic(body: JsonObject) -> None:
    """Refuse sampling, and thinking that the model does not take.

    Raises:
        InvalidRequest: as the provider says it.
    """
    for name in _SAMPLING:
        if body.get(name) is not None:
            raise InvalidRequest(name, "Extra inputs are not permitted")
    kind = optional_table(body.get("thinking"), "thinking").get("type")
    word = {"disabled": "off", "enabled": "budget"}.get(str(kind), str(kind))
    if kind is not None and word not in model_facts("anthropic", str(body.get("model"))).thinking:
        raise InvalidRequest.verbatim(f"thinking.type: {kind!r} is not supported by this model")
    if body.get("service_tier") not in {None, "auto", "standard_only"}:
        raise InvalidRequest("service_tier", "Input should be 'auto' or 'standard_only'")

"""Settings of a call that its adapter does not send, or that its provider wants no more: said before the first call.

They are not refused: panels from before must go on running. Sources: the types of the SDKs openai 3.52, anthropic 2.11
and google-genai 3.4.
"""

from collections.abc import Iterator

from jury_debate.decision_seats import DECISION_PROTOCOLS
from jury_events.panel import CallSettings
from jury_providers.catalogue import model_lengths
from jury_providers.endpoints import ApiProtocol

_NOT_SENT: dict[str, tuple[str, ...]] = {
    "anthropic": ("temperature", "seed"),
    "openai-responses": ("seed",),
    **dict.fromkeys(DECISION_PROTOCOLS, ("temperature", "top_p", "seed", "effort", "thinking", "verbosity")),
}
_DEPRECATED: dict[ApiProtocol, tuple[str, ...]] = {"google": ("temperature", "top_p")}
_DEPRECATED_SINCE = "2026-07-21"


def ignored_settings(protocol: ApiProtocol, model: str, settings: CallSettings, *, own_server: bool) -> Iterator[str]:
    """What a seat's settings do not change, or soon will not, one clause each with the remedy.

    Args:
        own_server: whether the provider is a server of one's own, which deprecates what it likes.
    """
    for name in _NOT_SENT.get(protocol, ()):
        if getattr(settings, name) is not None:
            yield f"{name} is not sent, since the API has none; leave it out"
    longest = None if own_server else model_lengths(model).longest_answer
    if longest is not None and settings.max_output_tokens > longest:
        yield f"max_output_tokens is more than its longest answer, {longest:,}, and may be refused; write {longest}"
    for name in () if own_server else _DEPRECATED.get(protocol, ()):
        if getattr(settings, name) is not None:
            yield f"{name} is deprecated since {_DEPRECATED_SINCE}, and may be ignored or refused; leave it out"

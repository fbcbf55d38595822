"""Why a prompt was not read from a cache: what differs from an earlier request that the caller names.

Source: the types of the SDKs openai 3.52 and anthropic 2.11, which name the reasons.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

from jury_providers.simulated.http.fields import JsonObject, encoded, rows

MAX_PROMPTS = 10_000
"""Beyond that the oldest is forgotten."""


class ComparedPrompt(NamedTuple):
    """What of a request decides whether a cache is read.

    Args:
        earlier: the id of the reply to the request that it is compared with; None: with none.
        fields: the reason that each stands for when it differs, and its content, in the order of the comparison.
        turns: the messages, of which later requests have more.
        changed: the reason when a turn differs.
    """

    earlier: str | None
    fields: tuple[tuple[str, bytes], ...]
    turns: tuple[bytes, ...]
    changed: str


class CacheDiagnosis(NamedTuple):
    """What the comparison found: whether the earlier request is known, and the first reason; None: nothing differs."""

    known: bool
    reason: str | None = None


class CacheDiagnoses:
    """The requests of one server that may be named later."""

    def __init__(self) -> None:
        self._prompts: OrderedDict[str, ComparedPrompt] = OrderedDict()

    def remember(self, identity: str, prompt: ComparedPrompt) -> None:
        """A request was answered with this id."""
        self._prompts[identity] = prompt
        if len(self._prompts) > MAX_PROMPTS:
            self._prompts.popitem(last=False)

    def diagnose(self, prompt: ComparedPrompt) -> CacheDiagnosis | None:
        """Compare a request with the one that it names; None: it names none."""
        if prompt.earlier is None:
            return None
        earlier = self._prompts.get(prompt.earlier.partition("_")[2])
        if earlier is None or earlier.changed != prompt.changed:  # unknown, or of another provider
            return CacheDiagnosis(known=False)
        for (reason, before), (_, now) in zip(earlier.fields, prompt.fields, strict=True):
            if before != now:
                return CacheDiagnosis(known=True, reason=reason)
        kept = prompt.turns[: len(earlier.turns)]
        return CacheDiagnosis(known=True, reason=None if kept == earlier.turns else prompt.changed)


def anthropic_comparison(body: JsonObject) -> ComparedPrompt | None:
    """What Anthropic compares; None: the request does not ask for it."""
    diagnostics = body.get("diagnostics")
    if not isinstance(diagnostics, dict):
        return None
    names = ("model", "system", "tools")
    return ComparedPrompt(
        _id(diagnostics.get("previous_message_id")),
        tuple((f"{name}_changed", encoded(body.get(name))) for name in names),
        _turns(body.get("messages")),
        "messages_changed",
    )


def anthropic_diagnostics(found: CacheDiagnosis | None) -> JsonObject | None:
    """As the reply has it."""
    if found is None or (found.known and found.reason is None):
        return None
    reason = {"type": found.reason or "previous_message_not_found"}
    return {"cache_miss_reason": reason | ({"cache_missed_input_tokens": 0} if found.known else {})}


def openai_comparison(body: JsonObject) -> ComparedPrompt:
    """What OpenAI compares."""
    options, text = (
        value if isinstance(value := body.get(key), dict) else {} for key in ("prompt_cache_options", "text")
    )
    reasoning = body.get("reasoning")
    fields = {
        "model_changed": body.get("model"),
        "prompt_cache_key_changed": body.get("prompt_cache_key"),
        "tools_changed": body.get("tools"),
        "text_format_changed": text.get("format"),
        "reasoning_effort_changed": reasoning.get("effort") if isinstance(reasoning, dict) else None,
        "verbosity_changed": text.get("verbosity"),
    }
    return ComparedPrompt(
        _id(options.get("comparison_response_id")),
        tuple((reason, encoded(value)) for reason, value in fields.items()),
        _turns(body.get("input")),
        "input_changed",
    )


def openai_diagnostics(found: CacheDiagnosis | None, *, read: int) -> JsonObject | None:
    """As the reply has it; a prompt that differs in nothing and was not read has ended."""
    if found is None:
        return None
    if not found.known:
        return {"type": "comparison_response_not_found"}
    if read:
        return {"type": "cache_hit"}
    if found.reason is None:
        return {"type": "unavailable"}
    return {"type": "cache_miss", "reason": found.reason, "cache_missed_tokens": 0}


def _id(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _turns(value: object) -> tuple[bytes, ...]:
    turns: Sequence[object] = [value] if isinstance(value, str) else rows(value, "turns")
    return tuple(map(encoded, turns))

"""The reply of a call: made of what an adapter read of it, or of why it failed; explained, and without secrets."""

from collections.abc import Mapping
from typing import NamedTuple

from jury_events.exchange import Usage
from jury_events.outcome import CallOutcome
from jury_events.scrubbing import Scrubber
from jury_providers.provider import ModelReply, ModelRequest, RequestedTool
from jury_providers.sdk.failures import CallFailure, one_line, preview


class ParsedReply(NamedTuple):
    """A parsed reply: `text` is the model's whole text, `error` why it is not an answer.

    `stripped`: what the reply has beside the text, by name, where that is no part of the protocol.
    """

    outcome: CallOutcome
    text: str = ""
    tool_calls: tuple[RequestedTool, ...] = ()
    model_version: str | None = None
    fingerprint: str | None = None
    finish_reason: str | None = None
    usage: Usage = Usage()
    response_id: str | None = None
    error: str | None = None
    stripped: tuple[str, ...] = ()


def outcome_of(
    finish: str | None, outcomes: Mapping[str, CallOutcome], good: frozenset[str], *, has_content: bool
) -> CallOutcome:
    """The outcome of a reply.

    Args:
        good: reasons after which an empty reply is an answer; after an unknown reason it is malformed.
        has_content: whether there is a text or a tool call.
    """
    known = outcomes.get(finish or "")
    if known is not None:
        return known
    return CallOutcome.ANSWERED if has_content or finish in good else CallOutcome.MALFORMED_RESPONSE


def reply_of(parsed: ParsedReply) -> ModelReply:
    answered = parsed.outcome is CallOutcome.ANSWERED
    text = parsed.text
    if not text.isascii():  # a stream may split a surrogate pair
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    usable = answered or parsed.outcome is CallOutcome.TRUNCATED
    error = None if usable else parsed.error or f"it ended with the reason {parsed.finish_reason!r}"
    return ModelReply(
        parsed.outcome,
        # A lone surrogate is kept: the answer's parser refuses it, and the record equals what was received.
        answer=text.encode("utf-8", "surrogatepass") if usable and text else None,
        error=None if error is None else one_line(error),
        tool_calls=parsed.tool_calls if answered else (),
        model_version=parsed.model_version,
        fingerprint=parsed.fingerprint,
        finish_reason=parsed.finish_reason,
        usage=_plausible(parsed.usage, has_content=bool(text or parsed.tool_calls)),
        request_id=parsed.response_id,
        stripped=parsed.stripped,
        began=bool(text or parsed.tool_calls or parsed.usage.output_tokens),
    )


def _plausible(usage: Usage, *, has_content: bool) -> Usage:
    """The usage without impossible counts: 0 for a prompt, or for an answer with content."""
    if usage.input_tokens != 0 and (usage.output_tokens != 0 or not has_content):
        return usage
    return usage.changed(
        input_tokens=usage.input_tokens or None,
        output_tokens=usage.output_tokens or (None if has_content else usage.output_tokens),
    )


def failed_reply(failure: CallFailure, begun: ModelReply | None = None) -> ModelReply:
    """The reply that says so; `begun`: what is known of an answer that had begun before."""
    reply = ModelReply(
        failure.outcome,
        error=failure.error,
        retry_after=failure.retry_after,
        status=failure.status,
        code=failure.code,
        understood=failure.understood,
    )
    return reply if begun is None else reply._replace(usage=begun.usage, began=begun.began)


def explained(reply: ModelReply, request: ModelRequest) -> ModelReply:
    if reply.outcome is CallOutcome.ANSWERED:
        return reply
    limit, spent = request.settings.max_output_tokens, reply.usage.output_tokens or 0
    gone = spent >= limit or spent <= (reply.usage.reasoning_tokens or 0)
    empty = reply.outcome is CallOutcome.TRUNCATED and reply.answer is None and spent and gone
    if not empty and reply.outcome is not CallOutcome.ONLY_REASONING:
        return reply
    error = f"all of max_output_tokens ({limit:,}) went to reasoning; raise it, or lower effort or thinking"
    return reply._replace(outcome=CallOutcome.ONLY_REASONING, answer=None, error=error)


def unusable(body: bytes, *, stream: bool) -> str:
    if stream:
        return "the stream ended without its last words"
    if body.lstrip()[:1] == b"<":
        cause = "look at the base URL, and whether a proxy or a login stands before the server"
        return one_line(f"a web page came instead of an answer; {cause}: {preview(body)}")
    return one_line(f"the response is no JSON object: {preview(body)}") if body.strip() else "the response is empty"


_WORDS = ("service_tier", "region", "speed", "cache_miss")
"""Of a usage: the provider's own words."""


def scrubbed(reply: ModelReply, scrubber: Scrubber) -> ModelReply:
    """The reply without the secrets, which a provider may echo anywhere, even split over several events."""
    text, data = scrubber.text, scrubber.data
    refused_key = reply.outcome is CallOutcome.AUTHENTICATION
    response = reply.response
    if response is not None:
        response = scrubber.error_data(response) if refused_key else data(response)
    words = {name: text(word) for name in _WORDS if (word := getattr(reply.usage, name)) is not None}
    return reply._replace(
        answer=None if reply.answer is None else data(reply.answer),
        response=response,
        error=None if reply.error is None else scrubber.error(reply.error),
        tool_calls=tuple(RequestedTool._make(map(text, call)) for call in reply.tool_calls),
        model_version=None if reply.model_version is None else text(reply.model_version),
        fingerprint=None if reply.fingerprint is None else text(reply.fingerprint),
        finish_reason=None if reply.finish_reason is None else text(reply.finish_reason),
        request_id=None if reply.request_id is None else text(reply.request_id),
        code=None if reply.code is None else text(reply.code),
        usage=reply.usage.changed(**words) if words else reply.usage,
    )

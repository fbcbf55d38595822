"""The reply of a call: made of what an adapter read of it, or of why it failed; explained, and without secrets.

What servers leave standing around an answer (`dialects.toml`: thoughts, fences, channels) is taken off where one JSON
object is left. Of the tokens and costs that it states: sums, what is owed, what was written to caches.
"""

import math
import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from jury_events.exchange import CacheLifetime, CacheWrite, Usage
from jury_events.outcome import CallOutcome
from jury_events.scrubbing import Scrubber
from jury_events.strict_json import MODEL_JSON, InvalidJson, skip_space
from jury_providers.dialects import COST_HEADER, LINE_BREAKS, TICKS, StatedCost, envelopes
from jury_providers.provider import ModelReply, ModelRequest, RequestedTool
from jury_providers.sdk.failures import CallFailure, one_line, preview
from jury_providers.sdk.json_fields import object_at

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)

_CONTROL = re.compile(r"[\x01-\x1f]")

_MOST_ENDS = 20
"""Ends of one envelope that are tried: a model may quote some in its thoughts."""

_MOST_TRIED = 60
"""Of what is left without an envelope."""


# Nothing is taken off unless one whole JSON object is left, with nothing behind it: what a model quotes of a judged
# text in its thoughts is no answer, whatever tags the text has. What is left is accepted by the seat's ballot id alone.
class OpenedAnswer(NamedTuple):
    """The text that is left, and the names of what was taken off, outermost first."""

    text: str
    taken: tuple[str, ...] = ()


def opened(text: str, names: Collection[str]) -> OpenedAnswer:
    """The answer without what stands around it; unchanged where no single JSON object is left.

    Args:
        names: of what may stand around an answer of its server.
    """
    if not names or _is_object(text):
        return OpenedAnswer(text)
    waiting, tried = deque([OpenedAnswer(text.strip())]), {text.strip()}
    while waiting:
        left = waiting.popleft()
        found = _object_in(left, names)
        if found is not None:
            return found
        for name, rest in _rests(left.text, names):
            if rest not in tried and len(tried) < _MOST_TRIED:
                tried.add(rest)
                waiting.append(OpenedAnswer(rest, (*left.taken, name)))
    return OpenedAnswer(text)


def only_thoughts(text: str, names: Collection[str]) -> bool:
    """Whether a text that was cut off is nothing but thoughts that have no end."""
    text = text.lstrip()
    for name, envelope in envelopes().items():
        opens, closes = envelope.opens, envelope.closes
        if name in names and opens is not None and closes is not None and opens.pattern and opens.match(text):
            return closes.search(text) is None
    return False


def _object_in(left: OpenedAnswer, names: Collection[str]) -> OpenedAnswer | None:
    if not left.text.startswith("{"):
        return None
    if _is_object(left.text):
        return left
    if LINE_BREAKS not in names:
        return None
    escaped = _STRING.sub(lambda string: _CONTROL.sub(_escape, string[0]), left.text)
    return OpenedAnswer(escaped, (*left.taken, LINE_BREAKS)) if _is_object(escaped) else None


def _rests(text: str, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """What is left without each envelope that stands around the text, at each of its possible ends."""
    if text.startswith("{"):
        return
    for name, envelope in envelopes().items():
        if name not in names:
            continue
        whole = None if envelope.whole is None else envelope.whole.fullmatch(text)
        if whole is not None:
            yield name, whole[1].strip()
        begins = None if envelope.opens is None or envelope.closes is None else envelope.opens.match(text)
        if begins is not None and envelope.closes is not None:
            for end in islice(envelope.closes.finditer(text, begins.end()), _MOST_ENDS):
                yield name, text[end.end() :].strip()


def _escape(found: re.Match[str]) -> str:
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(found[0], f"\\u{ord(found[0]):04x}")


def _is_object(text: str) -> bool:
    at = skip_space(text, 0)
    if text[at : at + 1] != "{":
        return False
    try:
        end = MODEL_JSON.value(text, at).end
    except InvalidJson:
        return False
    return skip_space(text, end) == len(text)


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


def _end_of(finish: str | None) -> str:
    if finish is not None:
        return f"it ended with the reason {finish!r}"
    return "it has neither an answer nor a reason why it ended; look at the base URL, and at the server's log"


def reply_of(parsed: ParsedReply) -> ModelReply:
    answered = parsed.outcome is CallOutcome.ANSWERED
    text = parsed.text
    if not text.isascii():  # a stream may split a surrogate pair
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    usable = answered or parsed.outcome is CallOutcome.TRUNCATED
    error = None if usable else parsed.error or _end_of(parsed.finish_reason)
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


def total(*counts: int | None) -> int | None:
    """The sum of the known counts; None if none is known."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def owed_output(sent: int | None, written: int | None, reasoning: int | None, whole: int | None) -> int | None:
    """The tokens of output that are owed; None if that is not known.

    Args:
        whole: all tokens; a count that is 0 may be left out of it.
    """
    if written is not None and (reasoning or 0) > written:
        written += reasoning or 0  # it cannot be a part
    beside = None if whole is None or sent is None else whole - sent
    if beside is None or beside < 0:
        return written
    return max(beside, written or 0)


def cache_writes(
    written: int | None, by_lifetime: Mapping[CacheLifetime, int | None], otherwise: CacheLifetime
) -> tuple[CacheWrite, ...]:
    """The tokens written to a prompt cache.

    Args:
        written: all of them, as the provider says.
        by_lifetime: those of each lifetime, where it says so.
    """
    counts = {lifetime: tokens or 0 for lifetime, tokens in by_lifetime.items()}
    unnamed = (written or 0) - sum(counts.values())
    if unnamed > 0:
        counts[otherwise] = counts.get(otherwise, 0) + unnamed
    return tuple(CacheWrite(lifetime=lifetime, tokens=tokens) for lifetime, tokens in counts.items() if tokens)


def with_cache_miss(usage: Usage, reason: str | None) -> Usage:
    """The usage with the provider's reason, where nothing was read: what differs behind the marks is no miss."""
    return usage if reason is None or usage.cached_input_tokens else usage.changed(cache_miss=reason)


_TICKS_PER_DOLLAR = 1e10


def stated_cost(where: StatedCost | None, document: Mapping[str, Any], headers: Mapping[str, str]) -> float | None:
    """US dollars; None: nothing is said, or what is said is no amount, so that the list of prices counts."""
    if where is None:
        return None
    if where == COST_HEADER:
        return _amount(headers.get(COST_HEADER))
    usage = object_at(dict(document), "usage")
    amount = _amount(usage.get(where))
    if amount is None:
        return None
    if where == TICKS:
        return amount / _TICKS_PER_DOLLAR
    # On a key of one's own the server takes its fee, and the provider behind it the rest.
    beside = _amount(object_at(usage, "cost_details").get("upstream_inference_cost"))
    return amount + (beside or 0.0) if usage.get("is_byok") is True else amount


def _amount(said: object) -> float | None:
    if isinstance(said, bool) or not isinstance(said, int | float | str):
        return None
    try:
        found = float(said)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and found >= 0 else None

"""Values that columns of the lists can store in both databases, and the calls whose prompts came from a cache."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, NamedTuple, Self

from pydantic import AfterValidator, Field, TypeAdapter

from jury_events.exchange import LIFETIMES, CacheWrite, Usage
from jury_events.verdict import Verdict
from jury_events.verdict_scale import LabelId


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("databases cannot store the character U+0000")
    text.encode()
    return text


StoredText = Annotated[str, AfterValidator(_storable)]
Small = Annotated[int, Field(ge=0, lt=2**31)]
Whole = Annotated[int, Field(ge=0, lt=2**63)]
Tokens = Annotated[int, Field(ge=0, lt=2**53)]
Dollars = Annotated[float, Field(ge=0, le=1e12)]
"""Bounded so that sums over many debates stay exact in JSON and floats."""
VerdictName = Annotated[str, Field(pattern=f"^({'|'.join(Verdict)})$")]
LabelName = LabelId
"""A label of a panel's own scale."""


PROMPT_STEP = 4_000
"""Tokens. Listed prices of long prompts begin at 100,000, 200,000 and 272,000 tokens, which are multiples of it."""


class CachedCalls(NamedTuple):
    """Calls of one model in one service tier, with prompts of one size, that read from a prompt cache or wrote to one.

    `size` 0: each prompt has 1 to `PROMPT_STEP` tokens, 1: up to two steps, and so on. `service_tier` is in the
    provider's word, `cost` in US dollars, known of each call. The other figures are tokens, all of the prompts and of
    the answers (None: unknown of each call), then those that were read from a cache, and written to it, by lifetime:
    all of the prompts, except what requests of their own wrote.
    """

    model: StoredText
    service_tier: StoredText | None
    size: Tokens
    cost: Dollars
    input_tokens: Tokens | None
    output_tokens: Tokens | None
    read: Tokens
    written_5m: Tokens
    written_30m: Tokens
    written_1h: Tokens
    written_12h: Tokens

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Self | None:
        """One call, by the body of its event; None where it used no cache, or its cost is not known."""
        usage = body["usage"]
        read = usage.get("cached_input_tokens")
        if body.get("cost") is None or not (read or usage["cache_writes"]):
            return None
        sent, answered = usage.get("input_tokens"), usage.get("output_tokens")
        writes = {one["lifetime"]: one["tokens"] for one in usage["cache_writes"]}
        size = max(0, (sent or 0) - 1) // PROMPT_STEP
        written = (writes.get(lifetime, 0) for lifetime in LIFETIMES)
        return cls(body["model"], usage.get("service_tier"), size, body["cost"], sent, answered, read or 0, *written)

    @property
    def prompts(self) -> tuple[int, int]:
        """The shortest and the longest of such prompts, in tokens."""
        return self.size * PROMPT_STEP + 1, (self.size + 1) * PROMPT_STEP

    @property
    def usage(self) -> Usage:
        """The tokens of all of these calls together."""
        writes = (CacheWrite(lifetime=one, tokens=n) for one, n in zip(LIFETIMES, self[7:], strict=True) if n)
        return Usage(
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cached_input_tokens=self.read,
            cache_writes=tuple(writes),
            service_tier=self.service_tier,
        )

    def plus(self, other: "CachedCalls") -> "CachedCalls":
        """These calls and those of `other`, which are of the same model, tier and size."""
        return CachedCalls(
            self.model,
            self.service_tier,
            self.size,
            self.cost + other.cost,
            None if self.input_tokens is None or other.input_tokens is None else self.input_tokens + other.input_tokens,
            None
            if self.output_tokens is None or other.output_tokens is None
            else self.output_tokens + other.output_tokens,
            self.read + other.read,
            self.written_5m + other.written_5m,
            self.written_30m + other.written_30m,
            self.written_1h + other.written_1h,
            self.written_12h + other.written_12h,
        )


def summed(calls: Iterable[CachedCalls]) -> tuple[CachedCalls, ...]:
    """The same calls, with one sum for those of one model, tier and size, in the order of their first calls.

    Calls whose prompts were not counted have a sum of their own: where a call is refused, its cache is paid alone.
    """
    found: dict[tuple[str, str | None, int, bool], CachedCalls] = {}
    for one in calls:
        key = (*one[:3], one.input_tokens is None)
        found[key] = found[key].plus(one) if key in found else one
    return tuple(found.values())


def parsed(text: str) -> tuple[CachedCalls, ...]:
    """Sums as the list of debates stores them.

    Raises:
        ValueError: it stores none like that.
    """
    return _SUMS.validate_json(text, strict=True)


_SUMS = TypeAdapter(tuple[CachedCalls, ...])

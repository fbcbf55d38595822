"""What providers reported of calls that failed, in words: of a step, and of many debates by model."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from jury_events.exchange import ExchangeRecorded
from jury_events.outcome import CallOutcome
from jury_events.text import pluralize, visible_line
from jury_views.debate_fold import Texts, text_in

_LONGEST = 300
"""Characters of a provider's message that are shown."""

_ANSWERS = frozenset({CallOutcome.ANSWERED, CallOutcome.TRUNCATED})


class FailedCalls(NamedTuple):
    """The calls of a model that failed alike, of so many calls; `said`: the message of the first."""

    model: str
    what: str
    failed: int
    calls: int
    said: str

    def __str__(self) -> str:
        of_all = f"all {self.calls:,}" if self.failed == self.calls else f"{self.failed:,} of"
        calls = "calls" if self.failed == self.calls > 1 else pluralize(self.calls, "call")
        said = "its call" if self.calls == 1 else f"{of_all} {calls}"
        return f"{self.model} {self.what} {said}: {self.said}"


def last_failure(calls: Sequence[ExchangeRecorded], texts: Texts) -> str | None:
    """What the provider reported of the last call of a step; None where that was answered, or its text is gone."""
    if not calls or calls[-1].error is None or calls[-1].outcome in _ANSWERS:
        return None
    said = text_in(texts, calls[-1].error)
    return None if said is None else f"{calls[-1].model}: {visible_line(said, _LONGEST)}"


def failed_calls(debates: Iterable[tuple[Sequence[ExchangeRecorded], Texts]]) -> list[FailedCalls]:
    """For each model that failed, how it failed most often, the most calls first."""
    calls: Counter[str] = Counter()
    failed: defaultdict[str, Counter[str]] = defaultdict(Counter)
    said: dict[tuple[str, str], str] = {}
    for exchanges, texts in debates:
        for one in exchanges:
            calls[one.model] += 1
            if one.outcome in _ANSWERS:
                continue
            what = _what(one)
            failed[one.model][what] += 1
            text = None if one.error is None else text_in(texts, one.error)
            if text is not None:
                said.setdefault((one.model, what), visible_line(text, _LONGEST))
    most = [(model, *ends.most_common(1)[0]) for model, ends in failed.items()]
    return [
        FailedCalls(model, what, count, calls[model], said.get((model, what), "no reason is on record"))
        for model, what, count in sorted(most, key=lambda one: (-one[2], one[0]))
    ]


def _what(call: ExchangeRecorded) -> str:
    status = None if call.failed is None else call.failed.status
    return f"ended with {call.outcome.value.replace('_', ' ')} in" if status is None else f"answered {status} to"

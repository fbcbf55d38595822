"""The results of one batch, read once from the first line to the last, and recorded as they come."""

from collections import Counter
from collections.abc import Iterator, Sequence

from jury_actors.batches.answered_calls import AnsweredCalls, AnsweredItem, Unused
from jury_actors.batches.wave_spool import custom_id, item_number
from jury_actors.clerk import ClerkInterface
from jury_actors.effects import Effects
from jury_events.batch_events import BatchedExchange, UnansweredEnd
from jury_events.batch_facts import BatchFacts
from jury_events.exchange import Usage
from jury_events.text import pluralize
from jury_providers.batches.batch import BatchState, RefusedLine
from jury_providers.batches.item import BatchLine, ItemEnd
from jury_providers.batches.provider import BatchProvider
from jury_providers.prices import Prices

_AT_ONCE = 100
_BYTES_AT_ONCE = 8 * 1024 * 1024
"""Lines and bytes that are recorded in one group."""

_ENDS: dict[ItemEnd, UnansweredEnd] = {
    ItemEnd.CANCELLED: "cancelled",
    ItemEnd.EXPIRED: "expired",
    ItemEnd.UNREADABLE: "unreadable",
}


class ResultsReading:
    """Reads and records results.

    Args:
        facts: of the batch.
        calls: its items in order, with the recorded digests of what was sent.
        provider: has the results.
        clerk: of the log.
        prices: of the models.
        effects: clock and entropy.
    """

    def __init__(
        self,
        facts: BatchFacts,
        calls: Sequence[tuple[BatchedExchange, str | None]],
        provider: BatchProvider,
        clerk: ClerkInterface,
        *,
        prices: Prices,
        effects: Effects,
    ) -> None:
        self._facts = facts
        self._calls = calls
        self._provider = provider
        self._answered_calls = AnsweredCalls(
            clerk,
            provider,
            facts.prepared.batch_id,
            submitted_at=facts.submitted_at or facts.prepared_at,
            prices=prices,
            effects=effects,
        )
        self._seen = bytearray(len(calls) + 1)
        self._unused: dict[int, Unused] = {}
        self._group: list[AnsweredItem] = []
        self._size = 0
        self._lines: Counter[ItemEnd] = Counter()
        self.unknown = self.doubled = self.unreadable = self.answered = 0

    async def read(self, state: BatchState) -> None:
        """Read all results, and record the answers.

        Raises:
            BatchFailure: they could not be read to the end; what was read is recorded, and they may be read again.
            StoreError: the log cannot be written.
        """
        nonce, items = self._facts.prepared.nonce, len(self._calls)
        assert self._facts.submitted is not None
        await self.refuse(state.refused_lines)
        async for line in self._provider.results(self._facts.submitted.provider_id, state):
            number = item_number(nonce, line.custom_id, items)
            if number is None:
                if line.custom_id is None or line.end == ItemEnd.UNREADABLE:
                    self.unreadable += 1
                else:
                    self.unknown += 1
            elif self._seen[number] and not self._answers_after_all(number, line):
                self.doubled += 1
            else:
                self.doubled += self._seen[number]
                self._lines[line.end] += 1
                await self._take(number, line)
        await self._record()

    def _answers_after_all(self, number: int, line: BatchLine) -> bool:
        """Whether an item whose first line says that it was not answered has an answer in another line."""
        known = self._unused.get(number)
        return line.end is ItemEnd.ANSWERED and known is not None and known.end in _ENDS.values()

    async def recall(self) -> None:
        """Count what is recorded of these results, which are not there any more."""
        for number in await self._answered_calls.recorded([call for call, _ in self._calls]):
            if not self._seen[number]:
                self._seen[number] = 1
                self.answered += 1

    async def refuse(self, lines: Sequence[RefusedLine]) -> None:
        """Record the calls because of which the provider refused the batch as failed ones."""
        nonce, items = self._facts.prepared.nonce, len(self._calls)
        for refused in lines:
            if 1 <= refused.number <= items and not self._seen[refused.number]:
                line = BatchLine(
                    refused.number, custom_id(nonce, refused.number), ItemEnd.ERRORED, error=refused.message
                )
                await self._take(refused.number, line, refused=refused.message)
        await self._record()

    async def _take(self, number: int, line: BatchLine, refused: str | None = None) -> None:
        self._seen[number] = 1
        self._unused.pop(number, None)
        end = _ENDS.get(line.end)
        if end is not None:
            self._unused[number] = Unused(number, end, Usage(), None, None)
            return
        call, digest = self._calls[number - 1]
        name = custom_id(self._facts.prepared.nonce, number)
        self._group.append(AnsweredItem(number, name, call.debate_id, call.exchange, digest, line, refused))
        self._size += len(line.response or b"")
        if len(self._group) >= _AT_ONCE or self._size >= _BYTES_AT_ONCE:
            await self._record()

    async def _record(self) -> None:
        group, self._group, self._size = self._group, [], 0
        if group:
            unused = await self._answered_calls.record(group)
            self._unused.update((one.item, one) for one in unused)
            self.answered += len(group) - len(unused)

    @property
    def is_anothers(self) -> bool:
        """Whether these are the results of another batch, which was found by time and count alone."""
        return self._facts.uncertain and bool(self.unknown) and not self.names_calls

    @property
    def names_calls(self) -> bool:
        """Whether a result, now or before, is of a call of this batch."""
        return any(self._seen)

    def refused(self, state: BatchState) -> bool:
        """Whether nothing of the batch was computed, as the provider says with `state`."""
        return state.failed and not self._lines and not state.counts.answered

    def gap(self, state: BatchState) -> str | None:
        """What is not there and should be, as the provider counts with `state`, in words; None: nothing."""
        missing = sum(not seen for seen in self._seen[1:])
        if not missing or self.refused(state):
            return None
        answered, failed = self._lines[ItemEnd.ANSWERED], self._lines[ItemEnd.ERRORED]
        counts = state.counts
        known = counts.answered is not None and counts.failed is not None
        if (
            known
            and answered >= (counts.answered or 0)
            and answered + failed >= (counts.answered or 0) + (counts.failed or 0)
        ):
            return None  # the provider says itself that it has no more
        which = "it cannot be read" if self.unreadable else "it has no line"
        return f"of {pluralize(missing, 'call')} {which} in the results"

    @property
    def billed(self) -> float:
        """What the batch cost, in US dollars; a call of an unknown cost counts with the most that it can be."""
        prepared = self._facts.prepared
        each = (prepared.most or 0.0) / prepared.items
        unused = sum(one.cost or 0.0 for one in self._unused.values())
        return self._answered_calls.cost_sum + self._answered_calls.unpriced * each + unused

    def unanswered(self) -> Iterator[Unused]:
        """The items that are no exchange, by number."""
        for number in range(1, len(self._calls) + 1):
            if number in self._unused:
                yield self._unused[number]
            elif not self._seen[number]:
                yield Unused(number, "missing", Usage(), None, None)

    def remarks(self, of: str) -> Iterator[str]:
        """A line for each kind of thing that is odd about the results; `of` names the batch."""
        ends = Counter(one.end for one in self.unanswered())
        for end, count in sorted(ends.items()):
            yield f"{of}: {pluralize(count, 'call')} {_SAID[end]}"
        if self.unknown:
            yield f"{of}: {pluralize(self.unknown, 'line')} of its results name no call of it, and are not used"
        if self.doubled:
            yield f"{of}: {pluralize(self.doubled, 'line')} of its results name a call that another line has named"
        if self.unreadable:
            yield f"{of}: {pluralize(self.unreadable, 'line')} of its results cannot be read"


_SAID: dict[UnansweredEnd, str] = {
    "expired": "expired; made again",
    "cancelled": "cancelled; made again",
    "missing": "missing in its results; made again",
    "unreadable": "answered unreadably; made again",
    "superseded": "answered something that is not asked any more; not used",
}

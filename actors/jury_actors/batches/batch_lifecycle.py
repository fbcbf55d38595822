"""A batch from its preparation to its end: each step is recorded, and nothing is sent that the log does not know."""

import asyncio
import hashlib
import os
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from jury_actors.admission.budget import BudgetService
from jury_actors.batches.batch_log import BatchLog
from jury_actors.batches.batch_results import ResultsReading
from jury_actors.batches.batch_steps import (
    PATIENCE,
    BatchPatience,
    BatchStep,
    Look,
    Missing,
    Now,
    OtherAccount,
    Watch,
    adopted,
    next_step,
    stays,
)
from jury_actors.batches.wave_spool import BatchProviders, FilledSpool
from jury_actors.clerk import ClerkInterface
from jury_actors.effects import Effects
from jury_actors.errors import Halted
from jury_actors.notices import Say
from jury_events.batch_events import (
    BatchCancelRequested,
    BatchCancelSent,
    BatchChanged,
    BatchClosed,
    BatchItemsUnanswered,
    BatchMissed,
    BatchMistaken,
    BatchPrepared,
    BatchSubmitted,
    BatchUploaded,
    MistakeCause,
    UnansweredItem,
)
from jury_events.batch_facts import BatchFacts
from jury_events.ids import batch_id
from jury_events.outcome import CallOutcome
from jury_events.parts import SALT_BYTES, Part, make_part
from jury_events.text import pluralize
from jury_providers.batches.provider import (
    BatchAccount,
    BatchCounts,
    BatchFailure,
    BatchNotFound,
    BatchProvider,
    BatchState,
    BatchStatus,
    BatchUnavailable,
    PreparedBatch,
    SubmittedBatch,
)
from jury_providers.prices import Prices

_T = TypeVar("_T")

_TRIES = 4
"""Of an upload or a submission, where the provider certainly did not take it."""

_HALTING = frozenset({CallOutcome.AUTHENTICATION, CallOutcome.QUOTA})
"""No further batch would be taken."""

_LONGEST = 120.0
"""Seconds that an attempt waits for the next."""

_PAGE = 1000
_LABEL = 300


class BatchLifecycle:
    """Moves the batches of one run.

    `staying`: those that even a pass which does not wait has to look at again (`batch_steps.stays`).

    Args:
        same_account: a key with another digest than recorded is of the same account.
        budget: of the run; None: it has none.
        sleep: waits for so many seconds.
        monotonic: seconds of a monotonic clock.
    """

    def __init__(
        self,
        run_id: str,
        log: BatchLog,
        clerk: ClerkInterface,
        providers: BatchProviders,
        *,
        patience: BatchPatience = PATIENCE,
        prices: Prices = Prices(),
        effects: Effects = Effects(),
        say: Say,
        same_account: bool = False,
        budget: BudgetService | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._monotonic = monotonic
        self._since: dict[tuple[str, str, int], float] = {}
        self._unread: dict[str, tuple[BatchState, ResultsReading]] = {}
        self.staying: set[str] = set()
        self._sleep = sleep
        self._budget = budget
        self._run_id = run_id
        self._log = log
        self._clerk = clerk
        self._providers = providers
        self._patience = patience
        self._prices = prices
        self._effects = effects
        self._say = say
        self._same_account = same_account
        self._said: set[str] = set()

    async def launch(self, spool: FilledSpool, wave: int) -> BatchFacts:
        """Record a batch, then send it."""
        provider = self._provider(spool.provider)
        address, key = account_digests(provider.account())
        name = batch_id(self._run_id, spool.nonce)
        prepared = BatchPrepared(
            batch_id=name,
            run_id=self._run_id,
            wave=wave,
            provider=spool.provider,
            address=address,
            key=key,
            model=spool.model,
            nonce=spool.nonce,
            items=len(spool.calls),
            size=spool.size,
            most=spool.most,
            provider_time=_microseconds(await provider.ask_time()),
        )
        if self._budget is not None:
            await self._budget.lease()
        facts = await self._log.open(prepared, name, spool)
        try:
            file_id = await self._tried(partial(provider.upload, as_prepared(facts, spool.path)))
            if file_id is not None:
                facts = await self._log.add(facts, BatchUploaded(file_id=file_id))
            submitted = await self._tried(partial(provider.submit, as_prepared(facts, spool.path), file_id))
        except BatchUnavailable as error:
            # Looked up later: the provider may have it all the same.
            self._say(
                f"{_of(facts)}: {error}; looked for in the provider's list, and sent again if it is not there for "
                f"{self._patience.arrival:g} seconds"
            )
            return facts
        except BatchFailure as error:
            return await self._refused(facts, provider, error)
        return await self._submitted(facts, submitted, found=False)

    async def _refused(self, facts: BatchFacts, provider: BatchProvider, error: BatchFailure) -> BatchFacts:
        """The provider does not take a batch: lines that it names are failed calls, the others are free again."""
        said = f"{_of(facts)} was refused, and nothing of it was computed: {error}"
        reading = await self._reading(facts, provider)
        await reading.refuse(error.refused_lines)
        facts = await self._note_unanswered(facts, reading)
        self._settle(facts, reading.answered, reading.billed(BatchCounts(answered=0)))
        counts = {"answered": reading.answered, "unanswered": len(facts.unanswered)}
        facts = await self._close(facts, "refused", str(error), **counts)
        if not error.refused_lines:
            raise Halted(said, about=facts.prepared.provider) from error
        self._say(said)
        return facts

    async def _reading(self, facts: BatchFacts, provider: BatchProvider) -> ResultsReading:
        calls = await self._log.calls(facts.prepared.batch_id)
        return ResultsReading(
            facts,
            calls,
            provider,
            self._clerk,
            prices=self._prices,
            effects=self._effects,
        )

    async def _tried(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """What an attempt returns, which is made again where the provider certainly did not take it."""
        for tried in range(_TRIES - 1):
            try:
                return await attempt()
            except BatchUnavailable as error:
                if error.may_have_arrived:
                    raise
                await self._sleep(min(error.retry_after or 2.0**tried, _LONGEST))
        return await attempt()

    async def advance(self, facts: BatchFacts) -> BatchFacts:
        """Ask the provider about a batch, and do what is due then."""
        provider = self._provider(facts.prepared.provider)
        self.check_account(facts, provider)
        look: Look | None = None
        while True:
            now = Now(self._effects.clock(), self._monotonic())
            watch = self._watched(facts, look, now)
            step = next_step(facts, look, watch, now, self._patience)
            if step in {BatchStep.WAIT, BatchStep.NOTHING}:
                break
            try:
                facts, look = await self._stepped(step, facts, look, provider)
            except BatchUnavailable as error:
                self._say_once(f"{_of(facts)}: {error}; asked again later")
                break
            except BatchFailure as error:
                if step is not BatchStep.SEND_CANCEL or error.outcome in _HALTING:
                    raise Halted(f"{_of(facts)}: {error}", about=facts.prepared.provider) from error
                self._say_once(f"{_of(facts)}: its provider does not cancel it now: {error}; asked again later")
                break
        staying = stays(facts, look, self._patience)
        (self.staying.add if staying else self.staying.discard)(facts.prepared.batch_id)
        return facts

    def _watched(self, facts: BatchFacts, look: Look | None, now: Now) -> Watch:
        """Since when this process waits, and for what: known from now on where it was not."""
        going_on = look is not None and look.state is not None and look.state.status is not BatchStatus.ENDED
        unlisted = look is not None and look.listed is not None and adopted(facts, look) is None

        def since(what: str, number: int, *, holds: bool) -> float | None:
            key = (facts.prepared.batch_id, what, number)
            return self._since.setdefault(key, now.monotonic) if holds else self._since.get(key)

        return Watch(
            seen=since("seen", facts.submissions, holds=going_on),
            # Of a batch that was taken for this one, nothing is known for this one.
            unlisted=since("unlisted", len(facts.mistaken), holds=unlisted),
            missed=since("missed", facts.misses, holds=facts.missed is not None),
        )

    async def _mistaken(self, facts: BatchFacts, cause: MistakeCause) -> BatchFacts:
        assert facts.submitted is not None
        number = len(facts.mistaken) + 1
        return await self._log.add(
            facts, BatchMistaken(provider_id=facts.submitted.provider_id, cause=cause, number=number)
        )

    async def _stepped(
        self, step: BatchStep, facts: BatchFacts, look: Look | None, provider: BatchProvider
    ) -> tuple[BatchFacts, Look | None]:
        """The facts after a step, and what the provider said since it: None where the step has to be looked at."""
        match step:
            case BatchStep.LIST:
                return facts, await self._listed(facts, provider)
            case BatchStep.LOOK:
                return await self._looked(facts, provider)
            case BatchStep.COLLECT:
                assert look is not None
                return await self._collect(facts, look, provider)
            case BatchStep.SEND_CANCEL:
                return await self._cancelled(facts, provider), None
        assert look is not None
        return await self._recorded(step, facts, look, provider), None

    async def _recorded(self, step: BatchStep, facts: BatchFacts, look: Look, provider: BatchProvider) -> BatchFacts:
        """The facts after a step that asks no provider."""
        match step:
            case BatchStep.ADOPT:
                return await self._adopt(facts, look)
            case BatchStep.NOT_SENT:
                self._say(
                    f"{_of(facts)} is not in its provider's list: its "
                    f"{pluralize(facts.prepared.items, 'call')} did not arrive, and are sent again"
                )
                self._settle(facts, 0, 0.0)
                return await self._close(facts, "not_submitted", None, unanswered=facts.prepared.items)
            case BatchStep.REQUEST_CANCEL:
                return await self.cancel(facts, by=None)
            case BatchStep.MISS:
                return await self._miss(facts, look)
            case _:
                return await self._settled(facts, look, provider)

    async def _miss(self, facts: BatchFacts, look: Look) -> BatchFacts:
        assert look.missing is not None
        self._say(
            f"{_of(facts)}: {look.missing.reason}; looked for again in {self._patience.again:g} seconds, before any "
            "of its calls is made again"
        )
        self._unread.pop(facts.prepared.batch_id, None)
        missed = BatchMissed(
            what=look.missing.what,
            reason=_label(look.missing.reason) or "no reason given",
            at=look.time,
            number=facts.misses + 1,
        )
        return await self._log.add(facts, missed)

    async def _settled(self, facts: BatchFacts, look: Look, provider: BatchProvider) -> BatchFacts:
        """What was missed is not there again: its calls are made again, with what is recorded of it taken out."""
        assert look.missing is not None
        state, reading = self._unread.pop(facts.prepared.batch_id, (None, None))
        if reading is None:
            reading = await self._reading(facts, provider)
            await reading.recall()
        if facts.uncertain and not reading.names_calls:
            self._say(f"{_of(facts)}: {look.missing.reason}, again: nothing shows whose batch it was")
            return await self._mistaken(facts, "gone")
        if state is not None:
            return await self._concluded(facts, state, reading)
        self._say(f"{_of(facts)}: {look.missing.reason}, again: what was not read is made again, and may be paid twice")
        facts = await self._note_unanswered(facts, reading)
        counts = {"answered": reading.answered, "unanswered": len(facts.unanswered)}
        return await self._close(facts, "results_gone", look.missing.reason, **counts)

    def check_account(self, facts: BatchFacts, provider: BatchProvider) -> None:
        """Check that the provider is the one that the batch was prepared for."""
        address, key = account_digests(provider.account())
        recorded = facts.prepared
        if address != recorded.address:
            raise OtherAccount(
                f"{_of(facts)} was sent to another server: set the base URL of {recorded.provider} as it was, and run "
                "the same command again"
            )
        if key != recorded.key and not self._same_account:
            raise OtherAccount(
                f"{_of(facts)} was sent with another API key: set the key of {recorded.provider} as it was, or add "
                "--batch-same-account if the new key is of the same account"
            )

    async def cancel(self, facts: BatchFacts, *, by: str | None) -> BatchFacts:
        """Record that the provider is to be asked to end a batch: for `by`; None: its deadline passed.

        It is asked by `advance`. What it has computed is billed, and is recorded when it has ended.
        """
        return await self._log.add(facts, BatchCancelRequested(cause="deadline" if by is None else "person", by=by))

    async def _cancelled(self, facts: BatchFacts, provider: BatchProvider) -> BatchFacts:
        assert facts.submitted is not None
        assert facts.cancel_requested is not None
        await provider.cancel(facts.submitted.provider_id)
        by = facts.cancel_requested.by
        why = (
            f"{self._patience.deadline:g} hours after its submission it has not ended"
            if by is None
            else f"the run was cancelled by {by}"
        )
        self._say(
            f"{_of(facts)}: its provider was asked to cancel it, since {why}; what it has answered already is billed, "
            "and recorded once it has ended"
        )
        return await self._log.add(facts, BatchCancelSent(at=_microseconds(provider.time)))

    async def _listed(self, facts: BatchFacts, provider: BatchProvider) -> Look:
        others = await self._log.provider_ids(facts.prepared.batch_id)
        found = await provider.find(as_prepared(facts))
        time_there = _microseconds(provider.time)
        listed = tuple(one for one in found if one.batch_id not in others)
        if not listed:
            self._say_once(
                f"{_of(facts)} is not in its provider's list; as it may be on its way still, it is waited for up to "
                f"{self._patience.arrival:g} seconds, and then sent again"
            )
        return Look(listed=listed, time=time_there)

    async def _adopt(self, facts: BatchFacts, look: Look) -> BatchFacts:
        found = adopted(facts, look)
        assert found is not None
        self._say(
            f"{_of(facts)} was found in its provider's list: {found.batch_id}"
            if found.certain
            else f"{_of(facts)}: {found.batch_id} in its provider's list may be it, or another's with as many items. "
            "The ids in its results will show it; until it has ended it is waited for, and not cancelled"
        )
        return await self._submitted(facts, found, found=True)

    async def _submitted(self, facts: BatchFacts, submitted: SubmittedBatch, *, found: bool) -> BatchFacts:
        return await self._log.add(
            facts,
            BatchSubmitted(
                provider_id=submitted.batch_id,
                expires_at=None if submitted.expires_at is None else round(submitted.expires_at.timestamp() * 1e6),
                found=found,
                certain=submitted.certain,
                number=facts.submissions + 1,
            ),
        )

    async def _looked(self, facts: BatchFacts, provider: BatchProvider) -> tuple[BatchFacts, Look]:
        assert facts.submitted is not None
        try:
            state = await provider.state(facts.submitted.provider_id)
        except BatchNotFound as error:
            reason = f"it is not known to its provider ({error})"
            return facts, Look(missing=Missing("batch", reason), time=_microseconds(provider.time))
        look = Look(state=state, time=_microseconds(provider.time))
        known = facts.changed
        if known is not None and (known.stage, known.word) == (state.status.value, state.word):
            return facts, look
        if state.error is not None and not state.failed:
            self._say(f"{_of(facts)} {state.word}: {state.error}")
        return await self._log.add(facts, _changed(state, facts.changes + 1)), look

    async def _collect(self, facts: BatchFacts, look: Look, provider: BatchProvider) -> tuple[BatchFacts, Look | None]:
        """Record the results of an ended batch; what did not answer is named, and free again."""
        assert look.state is not None
        reading = await self._reading(facts, provider)
        gap: str | None
        try:
            await reading.read(look.state)
        except BatchNotFound as error:
            gap = f"its results are not there ({error})"
        else:
            if reading.is_anothers:
                assert facts.submitted is not None
                self._say(f"{_of(facts)}: {facts.submitted.provider_id} has other calls; it is another batch")
                return await self._mistaken(facts, "ids"), None
            gap = reading.gap(look.state)
            if gap is None:
                return await self._concluded(facts, look.state, reading), None
            self._unread[facts.prepared.batch_id] = (look.state, reading)
        return facts, look._replace(missing=Missing("results", gap))

    async def _concluded(self, facts: BatchFacts, state: BatchState, reading: ResultsReading) -> BatchFacts:
        """Nothing follows any more after these results."""
        refused = reading.refused(state)
        reason = state.error or "its provider gives no reason"
        said = f"{_of(facts)} was refused, and nothing of it was computed: {reason}"
        for line in () if refused else reading.remarks(_of(facts)):
            self._say(line)
        facts = await self._note_unanswered(facts, reading)
        counts = BatchCounts(answered=0) if refused else state.counts
        self._settle(facts, reading.answered, reading.billed(counts))
        facts = await self._close(
            facts,
            "refused" if refused else "ended",
            state.error,
            answered=reading.answered,
            unanswered=len(facts.unanswered),
            unknown=reading.unknown,
            doubled=reading.doubled,
        )
        if refused:
            if not state.refused_lines:
                raise Halted(said, about=facts.prepared.provider)
            self._say(said)
        return facts

    def _settle(self, facts: BatchFacts, answered: int, billed: float) -> None:
        """Of a budget: until now every call counted with the most that it can cost."""
        if self._budget is not None:
            prepared = facts.prepared
            self._budget.correct(answered - prepared.items, billed - (prepared.most or 0.0))

    async def _note_unanswered(self, facts: BatchFacts, reading: ResultsReading) -> BatchFacts:
        fresh = [one for one in reading.unanswered() if one.item not in facts.unanswered]
        for start in range(0, len(fresh), _PAGE):
            page = fresh[start : start + _PAGE]
            parts: list[Part] = []
            items = []
            for one in page:
                text = None
                if one.text is not None:
                    part = make_part(one.text, self._effects.entropy(SALT_BYTES))
                    parts.append(part)
                    text = part.ref
                items.append(UnansweredItem(item=one.item, end=one.end, usage=one.usage, cost=one.cost, text=text))
            event = BatchItemsUnanswered(unanswered=tuple(items), number=facts.unanswered_pages + 1)
            facts = await self._log.add(facts, event, parts=tuple(parts))
        return facts

    async def _close(self, facts: BatchFacts, cause: str, detail: str | None, **counts: int) -> BatchFacts:
        closed = BatchClosed.model_validate(
            {
                "cause": cause,
                "detail": _label(detail),
                "answered": 0,
                "unanswered": 0,
                "unknown": 0,
                "doubled": 0,
                **counts,
            }
        )
        return await self._log.add(facts, closed)

    def _provider(self, name: str) -> BatchProvider:
        provider = self._providers(name)
        if provider is None:
            raise OtherAccount(
                f"batches of {name} are open, and it has none in this process: set its key and base URL as they were"
            )
        return provider

    def _say_once(self, line: str) -> None:
        if line not in self._said:
            self._said.add(line)
            self._say(line)


def account_digests(account: BatchAccount) -> tuple[str, str]:
    """The SHA-256, in hexadecimal, of the address and of the key's digest."""
    return (
        hashlib.sha256(account.address.encode()).hexdigest(),
        hashlib.sha256(account.key.encode()).hexdigest(),
    )


def as_prepared(facts: BatchFacts, spool: Path = Path(os.devnull)) -> PreparedBatch:
    """The batch as its provider knows it; without a spool it can be looked up alone."""
    prepared = facts.prepared
    after = None if prepared.provider_time is None else datetime.fromtimestamp(prepared.provider_time / 1e6, UTC)
    return PreparedBatch(prepared.nonce, prepared.model, prepared.items, prepared.size, spool, after)


def _microseconds(time_there: datetime | None) -> int | None:
    return None if time_there is None else max(0, round(time_there.timestamp() * 1e6))


def _label(text: str | None) -> str | None:
    return None if text is None else " ".join(text.split())[:_LABEL] or None


def _changed(state: BatchState, number: int) -> BatchChanged:
    return BatchChanged.model_validate(
        {
            "stage": state.status.value,
            "word": state.word,
            "answered": state.counts.answered,
            "failed": state.counts.failed,
            "error": _label(state.error),
            "number": number,
        }
    )


def _of(facts: BatchFacts) -> str:
    provider_id = "" if facts.submitted is None else f" ({facts.submitted.provider_id})"
    return f"batch {facts.prepared.nonce} of {facts.prepared.provider}{provider_id}"
